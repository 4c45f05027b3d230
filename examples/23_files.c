/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reporting without a server: a page in a file for node_exporter, put in place whole, and JSON
 * lines in another. Mostly from options: textfile=PATH,json=PATH; here made by hand.
 */
#include <crest/crest.h>
#include <crest/json_lines.h>
#include <crest/textfile.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

CREST_REGISTRY(mine);
#define CREST_REGISTRY_HERE &mine
CREST_COUNTER(accepted, "casper.deploys-accepted", "Deploys taken into the pool.");

/* Prints a file, of each line what begins with `from`. */
static void show(const char *path, const char *from)
{
    char line[4096];
    FILE *file = fopen(path, "r");
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        const char *shown = strstr(line, from);
        fputs(shown != NULL ? shown : "", stdout);
    }
    if (file != NULL)
        fclose(file);
    unlink(path);
}

static int report(crest_reporter *reporter, crest_error *error)
{
    int failed = reporter == NULL || crest_report_once(&mine, reporter, 2000, error) != CREST_OK;
    if (failed)
        fprintf(stderr, "%s\n", error->message);
    crest_reporter_free(reporter);
    return failed;
}

int main(void)
{
    char folder[] = "/tmp/crest-files-XXXXXX", page[64], lines[64];
    if (mkdtemp(folder) == NULL)
        return 1;
    snprintf(page, sizeof page, "%s/node.prom", folder);
    snprintf(lines, sizeof lines, "%s/metrics.jsonl", folder);
    crest_counter_add(&accepted, 12);

    /* two nodes on one machine need a label each: node_exporter joins all files into one page */
    crest_error error;
    const crest_page_label node = {"node", "a"};
    crest_textfile_options for_exporter = {.path = page, .labels = &node, .label_count = 1};
    int failed = report(crest_textfile_new(&for_exporter, &error), &error);
    show(page, "casper_deploys_accepted_total{");

    crest_json_lines_options for_logs = {.path = lines};
    failed |= report(crest_json_lines_new(&for_logs, &error), &error);
    show(lines, "\"metric\"");
    rmdir(folder);
    return failed;
}
