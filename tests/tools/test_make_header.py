#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Generated headers: they compile in every language they are for, whatever is in the manifest, and
say what it says. That the declarations do what they say is test_exported_names.py's."""

import toolslib
from toolslib import BUILD, CC, CXX, ROOT, Failure, command, contains, equal

from crest_catalogue import load
from crest_catalogue.make_header import c_pieces, header

TOOL = [toolslib.TOOLS / "crest", "catalogue"]
EVERYTHING = ROOT / "tests/tools/everything.metrics.yaml"
STRICT = ["-Wall", "-Wextra", "-Wshadow", "-Werror", "-fsyntax-only", f"-I{ROOT}/include"]
LANGUAGES = [[*CC, "-std=c11", "-x", "c"], [*CC, "-std=gnu11", "-x", "c"],
             [*CXX, "-std=c++17", "-x", "c++"]]
USE = ("#include \"metrics.h\"\n{define}#include \"metrics.h\"\n#include \"metrics.h\"\n"
       "int main(void) {{ return 0; }}\n")
HEAD = "# SPDX-License-Identifier: Apache-2.0\nmanifest: 1\nteam: t\nprefixes: [a]\nmetrics:\n"


def write(place, text):
    path = place / "t.metrics.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def compiles(place, manifest, define):
    """Included again and again, declared only or defined too."""
    command([*TOOL, "header", manifest, "-o", place / "metrics.h"])
    for text in ("", f"#define {define}\n"):
        (place / "use.c").write_text(USE.format(define=text), encoding="utf-8")
        for language in LANGUAGES:
            command([*language, *STRICT, place / "use.c"])
    for number, line in enumerate((place / "metrics.h").read_text().splitlines(), 1):
        if len(line) > 100:
            raise Failure(f"metrics.h:{number} is {len(line)} columns wide")


def everything_compiles(place):
    compiles(place, EVERYTHING, "EVERYTHING_METRICS_DEFINE")


def no_text_breaks_out(place):
    nasty = ['"', "\\", "*/ int x; /*", "/*", "??/", "??=??'", "%s%n", "a\\n", "é☃", "\\x41f",
             "'", "`code`", "x" * 300, "\\" * 200, "?" * 150, "a " * 200, "//", "#define x", "\\u"]
    text = HEAD
    for i, words in enumerate(nasty):
        quoted = words.replace("'", "''")
        text += (f"  - {{name: a.n{i}, instrument: counter, variable: v{i}, meaning: '{quoted}',\n"
                 f"     labels: [{{k: {{values: ['{quoted}']}}}}]}}\n")
        text += (f"  - {{name: a.s{i}, instrument: stages, variable: s{i}, meaning: x,\n"
                 f"     stages: ['{quoted}', '{quoted}.']}}\n")
    compiles(place, write(place, text), "T_METRICS_DEFINE")


def literals_say_what_the_text_says(place):
    for text in ("", "a", "a  b ", '"\\"', "?" * 9, "x" * 50 + " " + "y" * 7, "\\" * 40):
        for width in (8, 20, 1000):
            pieces = c_pieces(text, width)
            joined = "".join(piece[1:-1] for piece in pieces)
            for escaped, plain in (("\\?", "?"), ("\\\\", "\x00"), ('\\"', '"'), ("\x00", "\\")):
                joined = joined.replace(escaped, plain)
            equal(joined, text, f"literals {pieces}")
            if max(map(len, pieces)) > max(width, 4):
                raise Failure(f"wider than {width}: {pieces}")


def only_what_is_to_be_declared_is(place):
    text = HEAD + """\
  - {name: a.yes, instrument: counter, variable: yes_, meaning: x}
  - {name: a.unnamed, instrument: counter, meaning: x}
  - {name: a.planned, instrument: counter, variable: planned, meaning: x, status: planned}
  - {name: a.lost, instrument: counter, variable: lost, meaning: x, status: lost}
  - {name: a.host, instrument: counter, variable: host, meaning: x, recorded-by: host}
"""
    made = header(load([write(place, text)])[0][0], "t.h")
    contains(made, "CREST_COUNTER_DECLARE(yes_);")
    equal(made.count("_DECLARE("), 1, "declarations")
    equal(made.splitlines()[0], "/* SPDX-License-Identifier: Apache-2.0 */", "licence")


LISTED = HEAD + """\
  - name: a.both
    instrument: counter
    variable: both
    meaning: x
    labels: [{kind: {values: [in, "out/2", count]}}, {way: {values: [up, down]}}]
  - {name: a.took, instrument: timer, variable: took, meaning: x,
     labels: [{default: {values: [a, b]}}]}
  - {name: a.half, instrument: counter, variable: half, meaning: x,
     labels: [{kind: {values: [a, b]}}, {peer: {bound: 4, meaning: y}}]}
"""
LISTED_PROGRAM = """\
#define T_METRICS_DEFINE
#include "metrics.h"
#include <stdio.h>
static int print(void *context, const void *bytes, size_t length)
{
    (void)context;
    return fwrite(bytes, 1, length, stdout) != length;
}
int main(void)
{
    crest_counter_inc(both_of(BOTH_KIND_OUT_2, BOTH_WAY_DOWN));
    crest_counter_add(both_of(BOTH_KIND_COUNT_2, BOTH_WAY_UP), 3);
    crest_counter_add(both_of((both_kind)BOTH_KIND_COUNT, BOTH_WAY_UP), 100);
    crest_timer_record(took_of(TOOK_DEFAULT_B), 1000, CREST_OUTCOME_OK);
    if (both_of(BOTH_KIND_IN, BOTH_WAY_UP) != both_with("in", "up"))
        return 1;
    crest_snapshot *snapshot = crest_snapshot_take(NULL);
    crest_snapshot_write(snapshot, CREST_FORMAT_PROMETHEUS_TEXT, NULL, print, NULL, NULL);
    crest_snapshot_free(snapshot);
    return half_with("a", "b") == NULL;
}
"""


def listed_values_have_constants(place):
    """All series are there from the start, found by constants, each its own."""
    command([*TOOL, "header", write(place, LISTED), "-o", place / "metrics.h"])
    equal("half_of" in (place / "metrics.h").read_text(), False, "of a label that is not listed")
    (place / "use.c").write_text(LISTED_PROGRAM, encoding="utf-8")
    for language in LANGUAGES:
        command([*language, *STRICT, "-DCREST_DISABLE", f"-I{BUILD.parent}/include",
                 place / "use.c"])
        command([*language, *STRICT[:-2], f"-I{ROOT}/include", "-pthread", "-o", place / "use",
                 place / "use.c", "-x", "none", BUILD / "lib/libcrest.a", "-lck", "-lm"])
        page = command([place / "use"])
        found = [line for line in page.splitlines() if line.startswith("a_both")]
        equal(found, ['a_both_total{kind="",way="up"} 100',
                      'a_both_total{kind="count",way="down"} 0',
                      'a_both_total{kind="count",way="up"} 3',
                      'a_both_total{kind="in",way="down"} 0',
                      'a_both_total{kind="in",way="up"} 0',
                      'a_both_total{kind="out/2",way="down"} 1',
                      'a_both_total{kind="out/2",way="up"} 0'], "series")
        contains(page, 'a_took_seconds_count{default="b",outcome="ok"} 1')


def check_tells_what_would_change(place):
    manifest = write(place, HEAD + "  - {name: a.x, instrument: gauge, variable: x, meaning: x}\n")
    output = place / "t.h"
    contains(command([*TOOL, "header", manifest, "-o", output, "--check"], 1), "is not up to date")
    if output.exists():
        raise Failure("--check wrote")
    command([*TOOL, "header", manifest, "-o", output])
    before = output.stat()
    equal(command([*TOOL, "header", manifest, "-o", output, "--check"]), "", "output")
    command([*TOOL, "header", manifest, "-o", output])
    equal(output.stat().st_mtime_ns, before.st_mtime_ns, "time of a file that did not change")
    output.write_text(output.read_text().replace("GAUGE", "COUNTER"))
    said = command([*TOOL, "header", manifest, "-o", output, "--check"], 1)
    contains(said, "-CREST_COUNTER_DECLARE(x);\n+CREST_GAUGE_DECLARE(x);\n")
    contains(said, f"{output}:1:1: is not up to date")


def wrong_calls_are_told(place):
    contains(command([*TOOL, "header", place / "none.yaml"], 2), "there is no such file")
    contains(command([*TOOL, "head"], 2), "invalid choice")
    contains(command([*TOOL], 2), "COMMAND")
    manifest = write(place, HEAD + "  - {name: a.x, instrument: gague, meaning: x}\n")
    said = command([*TOOL, "header", manifest], 1)
    contains(said, f"{manifest}:6:29: found the text 'gague'; expected ")
    good = write(place, HEAD + "  - {name: a.x, instrument: gauge, meaning: x}\n")
    contains(command([*TOOL, "header", good, "-o", place / "no/x.h"], 2), "cannot be written: No")
    contains(command([*TOOL, "list", good]), "a.x  gauge")
    contains(command([*TOOL, "list", "--json", good]), '"name": "a_x"')


toolslib.main([everything_compiles, no_text_breaks_out, literals_say_what_the_text_says,
               only_what_is_to_be_declared_is, listed_values_have_constants,
               check_tells_what_would_change, wrong_calls_are_told])
