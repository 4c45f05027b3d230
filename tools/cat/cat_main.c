/* SPDX-License-Identifier: Apache-2.0 */
/*
 * crest cat: what a node's state file has, of a node that lives or is dead. Manual: crest-cat(1).
 */
#define _GNU_SOURCE
#include <crest/state.h>

#include "cat/cat_json.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define CAT_SUFFIX ".crest"

typedef enum cat_form { CAT_TEXT, CAT_OPENMETRICS, CAT_JSON, CAT_IN_FLIGHT } cat_form;

static const char cat_usage[] =
    "usage: crest cat [OPTION]... FILE|DIRECTORY|PID\n"
    "\n"
    "Prints what a node's state file has: of a node that runs, or of one that was killed.\n"
    "\n"
    "  --openmetrics  as OpenMetrics instead of Prometheus' text\n"
    "  --json         as JSON: who it is, operations in flight, finished spans, series\n"
    "  --in-flight    what it was doing, and since when\n"
    "  --previous     the run before this one: FILE.previous\n"
    "  --follow       again each second, until interrupted\n"
    "  --help         this text\n";

__attribute__((noreturn, format(printf, 1, 2))) static void cat_die(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fputs("crest cat: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    exit(1);
}

/* ---- which file ---- */

static void cat_append(char path[PATH_MAX], const char *text)
{
    size_t used = strlen(path), length = strlen(text);
    if (length >= PATH_MAX - used)
        cat_die("%s%s is longer than a path may be", path, text);
    memcpy(path + used, text, length + 1);
}

/* The only file of a living or last run in a directory. */
static void cat_in_directory(char path[PATH_MAX])
{
    char found[PATH_MAX] = "";
    DIR *folder = opendir(path);
    if (folder == NULL)
        return;
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        size_t length = strlen(entry->d_name), suffix = strlen(CAT_SUFFIX);
        if (length <= suffix || strcmp(entry->d_name + length - suffix, CAT_SUFFIX) != 0)
            continue;
        if (found[0] != '\0')
            cat_die("%s has several nodes' files, as %s and %s: name one", path, found,
                    entry->d_name);
        snprintf(found, sizeof found, "%s", entry->d_name);
    }
    closedir(folder);
    if (found[0] == '\0')
        cat_die("%s has no file NAME%s", path, CAT_SUFFIX);
    cat_append(path, "/");
    cat_append(path, found);
}

/* The state file that a process has mapped. */
static void cat_of_process(const char *pid, char path[PATH_MAX])
{
    char maps[64], line[PATH_MAX + 200];
    snprintf(maps, sizeof maps, "/proc/%.20s/maps", pid);
    FILE *file = fopen(maps, "re");
    if (file == NULL && errno == EACCES)
        cat_die("process %s may not be looked at by this user: name its file, if you may read it",
                pid);
    if (file == NULL)
        cat_die("there is no process %s to look at: %s. Name its file, which outlives it", pid,
                strerror(errno));
    path[0] = '\0';
    while (path[0] == '\0' && fgets(line, sizeof line, file) != NULL) {
        char *name = strchr(line, '/'), *end = strchr(line, '\n');
        if (name == NULL || end == NULL)
            continue;
        *end = '\0';
        size_t length = strlen(name);
        if (length > strlen(CAT_SUFFIX) &&
            strcmp(name + length - strlen(CAT_SUFFIX), CAT_SUFFIX) == 0)
            snprintf(path, PATH_MAX, "%s", name);
    }
    fclose(file);
    if (path[0] == '\0')
        cat_die("process %s has no state file: it was not started with state=DIR", pid);
}

static void cat_find(const char *named, int previous, char path[PATH_MAX])
{
    size_t digits = strspn(named, "0123456789");
    if (digits > 0 && named[digits] == '\0' && access(named, F_OK) != 0)
        cat_of_process(named, path);
    else
        cat_append(strcpy(path, ""), named);
    cat_in_directory(path);
    if (previous)
        cat_append(path, ".previous");
}

/* ---- printing ---- */

static int cat_write(void *context, const void *bytes, size_t length)
{
    return fwrite(bytes, 1, length, context) == length ? 0 : errno != 0 ? errno : EIO;
}

/* A time since 1970, in UTC. */
static const char *cat_time(uint64_t wall_ns, char text[40])
{
    time_t seconds = (time_t)(wall_ns / 1000000000u);
    struct tm parts;
    if (gmtime_r(&seconds, &parts) == NULL || strftime(text, 40, "%Y-%m-%dT%H:%M:%SZ", &parts) == 0)
        strcpy(text, "?");
    return text;
}

/* Text of the file as a terminal may get it. */
static void cat_plain(FILE *to, const char *text)
{
    for (; *text != '\0'; text++)
        fputc(isprint((unsigned char)*text) || (unsigned char)*text >= 0xa0 ? *text : '?', to);
}

static void cat_ops(const crest_remains *remains, size_t count, FILE *to)
{
    crest_remains_op op;
    for (size_t i = 0; i < count && crest_remains_in_flight(remains, i, &op) == CREST_OK; i++) {
        char id[CREST_OP_TEXT_BYTES], begun[40];
        crest_op_format(&op.op, id, sizeof id);
        fprintf(to, "%12.3f s  since %s  ", (double)op.age_ns / 1e9,
                cat_time(op.begun_wall_ns, begun));
        cat_plain(to, op.timer[0] != '\0' ? op.timer : "?");
        fputc(' ', to);
        cat_plain(to, id);
        fputc('\n', to);
    }
}

/* Who it is and how it ended, in a line. */
static void cat_head(const crest_remains_about *about, FILE *to)
{
    char begun[40], beat[40];
    fputs("# ", to);
    cat_plain(to, about->service[0] != '\0' ? about->service : about->program);
    fprintf(to, ", pid %llu, from %s: ", (unsigned long long)about->pid,
            cat_time(about->opened_wall_ns, begun));
    if (about->farewell_wall_ns != 0)
        fprintf(to, "stopped %s", cat_time(about->farewell_wall_ns, beat));
    else
        fprintf(to, "%s, last heartbeat %s", about->alive ? "runs" : "was killed",
                cat_time(about->beat_wall_ns, beat));
    fprintf(to, "; %zu series, %zu operation%s in flight%s\n", about->series, about->in_flight,
            about->in_flight == 1 ? "" : "s",
            about->adopted ? "; a later run goes on from its totals" : "");
    if (about->refused_bytes != 0)
        fprintf(to, "# %llu bytes of cells had no room in the file, and are not in it\n",
                (unsigned long long)about->refused_bytes);
    if (about->damaged != 0)
        fprintf(to, "# %llu parts of the file could not be read: it was cut or damaged\n",
                (unsigned long long)about->damaged);
}

static void cat_print(const char *path, cat_form form)
{
    crest_error error;
    crest_remains *remains;
    crest_remains_about about;
    if (crest_remains_read(path, &remains, &error) != CREST_OK)
        cat_die("%s", error.message);
    crest_remains_tell(remains, &about);
    crest_status status = CREST_OK;
    errno = 0;
    if (form == CAT_IN_FLIGHT) {
        cat_head(&about, stdout);
        cat_ops(remains, about.in_flight, stdout);
    } else if (form == CAT_JSON) {
        cat_json(remains, &about, stdout);
    } else {
        cat_head(&about, stderr);
        status = crest_remains_write(remains,
                                     form == CAT_OPENMETRICS ? CREST_FORMAT_OPENMETRICS
                                                             : CREST_FORMAT_PROMETHEUS_TEXT,
                                     cat_write, stdout, &error);
    }
    crest_remains_free(remains);
    if (fflush(stdout) != 0 || ferror(stdout))
        cat_die("the output cannot be written: %s", strerror(errno));
    if (status != CREST_OK)
        cat_die("%s", error.message);
}

int main(int argc, char **argv)
{
    static const struct option options[] = {{"openmetrics", no_argument, NULL, 'o'},
                                            {"json", no_argument, NULL, 'j'},
                                            {"in-flight", no_argument, NULL, 'i'},
                                            {"previous", no_argument, NULL, 'p'},
                                            {"follow", no_argument, NULL, 'f'},
                                            {"help", no_argument, NULL, 'h'},
                                            {NULL, 0, NULL, 0}};
    cat_form form = CAT_TEXT;
    int previous = 0, follow = 0;
    char path[PATH_MAX];
    static char name[] = "crest cat";
    argv[0] = name;
    for (int option; (option = getopt_long(argc, argv, "h", options, NULL)) != -1;)
        switch (option) {
        case 'o': form = CAT_OPENMETRICS; break;
        case 'j': form = CAT_JSON; break;
        case 'i': form = CAT_IN_FLIGHT; break;
        case 'p': previous = 1; break;
        case 'f': follow = 1; break;
        case 'h': fputs(cat_usage, stdout); return 0;
        default: fputs("'crest cat --help' says what there is\n", stderr); return 2;
        }
    if (optind + 1 != argc) {
        fputs("crest cat: one file, directory or process is needed; 'crest cat --help' says more\n",
              stderr);
        return 2;
    }
    cat_find(argv[optind], previous, path);
    for (;;) {
        cat_print(path, form);
        if (!follow)
            return 0;
        sleep(1);
    }
}
