/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The textfile reporter, in libcrest-reporters: writes the Prometheus page to a file that
 * node_exporter's textfile collector reads, for a machine where one more port or gateway is not
 * wanted.
 *
 *     crest_error error;
 *     crest_textfile_options options = {.path = "/var/lib/node_exporter/rnode.prom"};
 *     crest_reporter *textfile = crest_textfile_new(&options, &error);
 *     crest_reporter_attach(NULL, textfile, NULL, &error);
 *
 * From crest_start: textfile=PATH, textfile.interval, textfile.windows (off), textfile.sync (off),
 * textfile.remove-on-stop (off), textfile.label.KEY=VALUE for labels on every line.
 *
 * What to know before using it:
 * - The file is replaced whole, by a rename: a reader finds the previous page or the new one, never
 *   a part. When it cannot be written (a full disk, a limit, no rights) the previous page stays, no
 *   temporary file does, and the report fails and says why. Because values are cumulative, the next
 *   successful report is complete.
 * - The file stays when the process ends, and node_exporter goes on showing it. Watch `time() -
 *   node_textfile_mtime_seconds{file="…"}`, or remove it on stop. The last page before a stop has
 *   no windows, which would go stale.
 * - Several processes of one machine need a file and a label each (textfile.label.node=a):
 *   node_exporter puts all files into one page, and of two equal series it drops one. No series is
 *   given instance or job; those are node_exporter's, as Prometheus names it.
 * - node_exporter has metrics of its own, and of a family that it has too it takes only its own.
 *   What is always there (go_…, process_…, promhttp_…, node_textfile_…, node_scrape_…,
 *   node_exporter_…) is left out of the page, and a comment there says so. Of its collectors'
 *   families (node_load1, …) the textfile must have none; textfile.exclude keeps them out.
 * - In a directory that other users may write to: the temporary file is new and has an unguessable
 *   name, and a link at the path is replaced, not followed. A user who may write there can still
 *   replace the page afterwards; a private directory is better.
 *
 * Source: node_exporter's README, "Textfile Collector"; tried with 1.5.0.
 */
#ifndef CREST_TEXTFILE_H
#define CREST_TEXTFILE_H

#include <crest/reporter.h>

#define CREST_TEXTFILE_LABELS_MAX 16u

typedef struct crest_textfile_options {
    /* ends in .prom, as node_exporter wants it, in a directory that exists; required. A relative
       path is taken from the working directory of the call */
    const char *path CREST_DEFAULT_(NULL);
    /* put on every line, before its own. A key must not be a metric's, nor le, quantile, outcome,
       job or instance; any UTF-8 for a value */
    const crest_page_label *labels CREST_DEFAULT_(NULL);
    unsigned label_count CREST_DEFAULT_(0);
    /* non-zero: X_rate1m and its relatives too. Those of range samplers, which Prometheus cannot
       compute, are always there */
    int windows CREST_DEFAULT_(0);
    /* non-zero: waits until the page is on the disk, so that after a loss of power the file is the
       old or the new page. Without that, it may then be empty on some file systems */
    int sync CREST_DEFAULT_(0);
    /* non-zero: on stop the file is removed, after the last page */
    int remove_on_stop CREST_DEFAULT_(0);
} crest_textfile_options;

CREST_BEGIN_C

/*
 * Makes a reporter; options are copied. Nothing is written before the first report, but temporary
 * files older than ten minutes that a killed process left for this path are removed. NULL with
 * *error filled (error may be NULL): CREST_INVALID_ARGUMENT for the path, which must end in .prom,
 * CREST_IO when its directory is not there or this process may not write to it,
 * CREST_INVALID_LABEL, CREST_LIMIT, CREST_NO_MEMORY. Owned by the caller, freed with
 * crest_reporter_free. Thread-safe; allocates; looks into the directory.
 *
 * Its report: CREST_IO with what could not be done and why, CREST_TIMED_OUT after
 * report->deadline_ns (a write that hangs in the kernel, as on a network's disk, cannot be given
 * up), CREST_INVALID_LABEL (a metric has a label of that key itself), CREST_NO_MEMORY. The file has
 * mode 0644 whatever the umask. Raises no signal. Its stop: CREST_IO when the file is to be removed
 * and cannot be.
 */
CREST_API crest_reporter *crest_textfile_new(const crest_textfile_options *options,
                                             crest_error *error);

CREST_END_C

#ifdef CREST_DISABLE
#include <crest/off/textfile_off.h>
#endif

#endif
