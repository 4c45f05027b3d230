# SPDX-License-Identifier: Apache-2.0
"""Programs made from manifests, for tests: they declare every metric with the generated header and
record into each.

    program = programs.build(manifest, folder)     # a pathlib.Path
    program pages FOLDER    records, moves the clock, and writes FOLDER/page.txt and FOLDER/page.om
    program serve           records ten times a second until its input ends, with reporters as
                            CREST_OPTS says

Every metric is declared, whoever records it in earnest, so that the library's own opinion of a
whole manifest can be had.
"""

import copy

import toolslib
from toolslib import BUILD, CC, ROOT

from crest_catalogue.make_header import header, texts

LIBRARIES = [BUILD / "lib/libcrest-reporters.a", BUILD / "lib/libcrest.a", "-lcurl",
             "-lmicrohttpd", "-lz", "-lck", "-lpthread"]
STRICT = ["-std=gnu11", "-O1", "-Wall", "-Wextra", "-Wshadow", "-Werror", "-Wno-unused-function"]

RECORD = {
    "counter": "crest_counter_add({handle}, 1 + round % 3);",
    "gauge": "crest_gauge_set({handle}, 0.5 + round % 7);",
    "range-sampler": "crest_range_sampler_set({handle}, 3 + round % 5);",
    "histogram": "crest_histogram_record_n({handle}, 1 + round * 37 % 90, 2);",
    "timer": "crest_timer_record({handle}, 1000 + round * 100003 % 90000000, outcome);",
    "keyed-timer": "crest_timer_begin({handle}, op);\n"
                   "    if (round % 4 != 1)\n"
                   "        crest_timer_end({handle}, op, outcome);",
    "stages": "crest_stages_begin({handle}, op);\n"
              "    for (unsigned i = 0; i < {stages}; i++)\n"
              "        crest_stages_mark({handle}, op, i);\n"
              "    if (round % 4 != 1)\n"
              "        crest_stages_end({handle}, op, outcome);",
    "mutex": "crest_mutex_lock({handle});\n    crest_mutex_unlock({handle});",
}

MAIN = r"""
static void record(unsigned round)
{
    static const crest_outcome outcomes[] = {CREST_OUTCOME_OK, CREST_OUTCOME_OK,
                                             CREST_OUTCOME_ERROR, CREST_OUTCOME_TIMEOUT};
    crest_outcome outcome = outcomes[round % 4];
    crest_op op = crest_op_u64(round + 1);
    (void)outcome;
    (void)op;
@RECORDS@}

static int put(void *stream, const void *bytes, size_t length)
{
    return fwrite(bytes, 1, length, (FILE *)stream) != length;
}

static int page(const char *folder, const char *name, crest_format format)
{
    crest_page_options options = {.windows = CREST_PAGE_WINDOWS_ALL, .created = 1};
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *stream = fopen(path, "w");
    crest_snapshot *snapshot = crest_snapshot_take(NULL);
    crest_status status = crest_snapshot_write(snapshot, format, &options, put, stream, NULL);
    crest_snapshot_free(snapshot);
    return fclose(stream) != 0 || status != CREST_OK;
}

static void on_log(crest_log_level level, const char *message, void *context)
{
    (void)level, (void)context;
    fprintf(stderr, "%s\n", message);
}

int main(int argc, char **argv)
{
    crest_error error;
    crest_log_to(on_log, NULL);
    if (argc > 2) {
        crest_testing_clock_set(UINT64_C(1000000000000));
        crest_testing_tick(NULL);
        for (unsigned round = 0; round < 16; round++)
            record(round);
        crest_testing_clock_advance(UINT64_C(1000000) * @STUCK_MS@);
        crest_testing_tick(NULL);
        return page(argv[2], "page.txt", CREST_FORMAT_PROMETHEUS_TEXT) ||
               page(argv[2], "page.om", CREST_FORMAT_OPENMETRICS);
    }
    if (crest_start("service=catalogue", &error) != CREST_OK)
        return fprintf(stderr, "%s\n", error.message), 1;
    for (unsigned round = 0;; round++) {
        struct pollfd input = {.fd = 0, .events = POLLIN};
        record(round);
        if (poll(&input, 1, 100) != 0)
            return crest_stop(1000, &error) != CREST_OK;
    }
}
"""


def declared(manifest):
    """A copy of a manifest in which every metric is live, recorded here, and has a variable."""
    whole = copy.deepcopy(manifest)
    # what the library makes of another metric it makes here too
    whole.metrics = [metric for metric in whole.metrics
                     if metric.status != "retired" and not is_made(metric, manifest)]
    for number, metric in enumerate(whole.metrics):
        metric.status, metric.recorded_by = "active", "code"
        metric.variable = metric.variable or f"metric_{number}"
    return whole


def is_made(metric, manifest):
    from crest_catalogue.manifest_tree import is_derived_of
    return any(is_derived_of(metric, other) for other in manifest.metrics)


def handle(metric):
    if not metric.labels:
        return f"&{metric.variable}"
    values = ["".join(texts([label.values[0] if label.values else "some"]))[1:-1]
              for label in metric.labels]
    return f"{metric.variable}_with({', '.join(values)})"


def source(manifest):
    """The C source, whose header is metrics.h."""
    records = ""
    for metric in manifest.metrics:
        text = RECORD[metric.instrument].replace("{handle}", handle(metric))
        records += f"    {text.replace('{stages}', str(len(metric.stages)))}\n"
    # so long that everything left open is stuck, and nothing has timed out
    deadlines = [metric.deadline_ms for metric in manifest.metrics if metric.deadline_ms]
    stuck_ms = max([d // 2 for d in deadlines] + [0]) + 1 if deadlines else 61000
    define = manifest.team.replace("-", "_").upper() + "_METRICS_DEFINE"
    return (f"#define {define}\n#include \"metrics.h\"\n#include <crest/testing.h>\n"
            "#include <poll.h>\n#include <stdio.h>\n"
            + MAIN.replace("@RECORDS@", records).replace("@STUCK_MS@", str(stuck_ms)))


def build(manifest, folder):
    """Compiles the program; returns its path and the manifest as it was declared."""
    whole = declared(manifest)
    (folder / "metrics.h").write_text(header(whole, "metrics.h"), encoding="utf-8")
    (folder / "program.c").write_text(source(whole), encoding="utf-8")
    program = folder / "program"
    toolslib.command([*CC, *STRICT, f"-I{ROOT}/include", folder / "program.c", "-o", program,
                      "-Wl,--undefined=crest_reporters_linked", *LIBRARIES])
    return program, whole
