/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Some of all series as lines of JSON. See live_series.h.
 */
#include "live/live_series.h"
#include "common/json_text.h"
#include "json/json_line.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#define LIVE_OWN "crest."

/* What collectors read is shown behind what the node says itself. */
static const char *const live_last[] = {"host.", "process.", "cgroup.", "malloc.",
                                        "jvm.",  "peer.",    "probe.",  LIVE_OWN};

/* ---- which ---- */

/* Whether `text` has the `length` bytes of `word` in it, letters of ASCII of either case. */
static int live_has(const char *text, const char *word, size_t length)
{
    for (; *text != '\0'; text++)
        if (strncasecmp(text, word, length) == 0)
            return 1;
    return 0;
}

static int live_series_has(const crest_series_view *view, const char *word, size_t length)
{
    int has = live_has(view->name, word, length);
    for (unsigned i = 0; i < view->label_count && !has; i++)
        has = live_has(view->label_keys[i], word, length) ||
              live_has(view->label_values[i], word, length);
    return has;
}

/* Whether it says what a keyed timer has in flight. */
static int live_series_flies(const crest_series_view *view)
{
    static const char *const ends[] = {".in-flight", ".oldest", ".stuck"};
    size_t length = strlen(view->name);
    int flies = 0;
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        flies |=
            length > strlen(ends[i]) && strcmp(view->name + length - strlen(ends[i]), ends[i]) == 0;
    return flies;
}

static int live_series_chosen(const crest_series_view *view, const crest_live_choice *choice)
{
    if (choice->name[0] != '\0')
        return strcmp(view->name, choice->name) == 0;
    if (choice->flight && !live_series_flies(view))
        return 0;
    if (!choice->own && strncmp(view->name, LIVE_OWN, sizeof LIVE_OWN - 1) == 0)
        return 0;
    for (const char *word = choice->search + strspn(choice->search, " "); *word != '\0';) {
        size_t length = strcspn(word, " ");
        if (!live_series_has(view, word, length))
            return 0;
        word += length;
        word += strspn(word, " ");
    }
    return 1;
}

/* ---- the first line ---- */

static void live_reporter(crest_json_output *output, const crest_reporter_info *info)
{
    crest_json_put_text(output, output->before);
    crest_json_put_text(output, "{");
    output->before = "";
    crest_json_text(output, "name", info->name);
    crest_json_u64(output, "reports", info->state.reports);
    crest_json_u64(output, "failures", info->state.failures);
    crest_json_u64(output, "consecutive_failures", info->state.consecutive_failures);
    crest_json_u64(output, "last_success_ns", info->state.last_success_wall_ns);
    crest_json_u64(output, "running_ns", info->state.running_ns);
    crest_json_text(output, "last_error", info->state.last_error.message);
    crest_json_put_text(output, "}");
    output->before = ",";
}

static void live_reporters(crest_json_output *output)
{
    size_t room = crest_reporter_list(NULL, 0);
    crest_reporter_info *infos = room > 0 ? calloc(room, sizeof *infos) : NULL;
    size_t count = infos != NULL ? crest_reporter_list(infos, room) : 0;
    crest_json_key(output, "reporters");
    crest_json_put_text(output, "[");
    output->before = "";
    for (size_t i = 0; i < count && i < room; i++)
        live_reporter(output, &infos[i]);
    crest_json_put_text(output, "]");
    output->before = ",";
    free(infos);
}

static int live_head(const crest_snapshot *snapshot, const crest_live_choice *choice,
                     const crest_live_node *node, size_t matching, crest_write_fn *write,
                     void *context)
{
    crest_json_output output = {write, context, 0, ""};
    crest_json_put_text(&output, "{");
    crest_json_u64(&output, "live", CREST_LIVE_SCHEMA);
    crest_json_u64(&output, "time_ns", crest_snapshot_wall_ns(snapshot));
    crest_json_u64(&output, "pid", (uint64_t)getpid());
    crest_json_text(&output, "service", node->service);
    crest_json_text(&output, "version", node->version);
    crest_json_text(&output, "instance", node->instance);
    crest_json_u64(&output, "series", crest_snapshot_size(snapshot));
    crest_json_u64(&output, "matching", matching);
    crest_json_u64(&output, "from", choice->from);
    live_reporters(&output);
    crest_json_put_text(&output, "}\n");
    return output.stopped;
}

/* ---- the series ---- */

/* 1: among the first; 2: among the last. */
static unsigned char live_turn(const char *name)
{
    for (size_t i = 0; i < sizeof live_last / sizeof *live_last; i++)
        if (strncmp(name, live_last[i], strlen(live_last[i])) == 0)
            return 2;
    return 1;
}

/* Gives those that are chosen their turn, the others 0; returns how many. */
static size_t live_mark(const crest_snapshot *snapshot, const crest_live_choice *choice,
                        unsigned char *chosen)
{
    size_t matching = 0, size = crest_snapshot_size(snapshot);
    for (size_t i = 0; i < size; i++) {
        crest_series_view view;
        int is = crest_snapshot_series(snapshot, i, &view) == CREST_OK &&
                 live_series_chosen(&view, choice);
        chosen[i] = is ? live_turn(view.name) : 0;
        matching += is != 0;
    }
    return matching;
}

static int live_line(const crest_snapshot *snapshot, size_t index, const crest_json_report *report,
                     crest_write_fn *write, void *context)
{
    crest_series_view view;
    crest_json_series series = {.view = &view};
    if (crest_snapshot_series(snapshot, index, &view) != CREST_OK)
        return 0;
    for (unsigned w = 0; w < CREST_JSON_LINE_WINDOWS; w++)
        (void)crest_snapshot_window(snapshot, index, crest_json_line_windows[w].seconds,
                                    &series.windows[w]);
    return crest_json_line_write(report, &series, write, context);
}

crest_status crest_live_series_write(crest_registry *registry, const crest_live_choice *choice,
                                     const crest_live_node *node, crest_write_fn *write,
                                     void *context, crest_error *error)
{
    static const crest_resource nothing = {.service = "", .version = "", .instance = ""};
    crest_snapshot *snapshot = crest_snapshot_take_windows(registry, CREST_PAGE_WINDOWS_ALL);
    size_t size = snapshot != NULL ? crest_snapshot_size(snapshot) : 0;
    unsigned char *chosen = malloc(size + 1);
    if (snapshot == NULL || chosen == NULL) {
        crest_snapshot_free(snapshot);
        free(chosen);
        return crest_error_set(error, CREST_NO_MEMORY, "There is no memory for a snapshot");
    }
    const crest_json_report report = {.wall_ns = crest_snapshot_wall_ns(snapshot),
                                      .resource = &nothing,
                                      .delta_s = -1,
                                      .buckets = choice->buckets};
    size_t matching = live_mark(snapshot, choice, chosen), seen = 0;
    int stopped = live_head(snapshot, choice, node, matching, write, context);
    for (unsigned turn = 1; turn <= 2; turn++)
        for (size_t i = 0; i < size && seen < (size_t)choice->from + choice->most && !stopped; i++)
            if (chosen[i] == turn && seen++ >= choice->from)
                stopped = live_line(snapshot, i, &report, write, context);
    crest_snapshot_free(snapshot);
    free(chosen);
    return stopped ? crest_error_set(error, CREST_IO, "The series could not be written") : CREST_OK;
}
