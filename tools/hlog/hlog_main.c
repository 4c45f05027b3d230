/* SPDX-License-Identifier: Apache-2.0 */
/*
 * crest hlog: reads HdrHistogram's logs, adds up the intervals of each tag, and prints a line of
 * percentiles a tag, or HdrHistogram's own table of them. Manual: crest-hlog(1).
 */
#define _GNU_SOURCE
#include <crest/hlog.h>

#include "hlog/hlog_percentiles.h"

#include <errno.h>
#include <fnmatch.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

typedef struct hlog_series {
    char *tag;
    unsigned long intervals;
    double from_s, to_s;
    crest_distribution *sum;
} hlog_series;

typedef struct hlog_choice {
    const char *tag; /* a pattern; NULL: all */
    double ratio, from_s, to_s;
    unsigned ticks;
    int percentiles, intervals, buckets;
} hlog_choice;

static hlog_series *hlog_all;
static size_t hlog_count;
static int hlog_wrong; /* something could not be read */

static const char hlog_usage[] =
    "usage: crest hlog [OPTION]... FILE...\n"
    "\n"
    "Reads HdrHistogram's logs (-: standard input), and prints a line for each tag.\n"
    "\n"
    "  --percentiles     HdrHistogram's own table for each tag\n"
    "  --ticks=N         of it: lines to each half of what is left; 5\n"
    "  --buckets         the records of each tag: lowest and highest value of a bucket, and count\n"
    "  --intervals       a line for each interval of each tag\n"
    "  --tag=PATTERN     only tags that match, as 'casper.*'\n"
    "  --from=S --to=S   only intervals that began within these, seconds since 1970\n"
    "  --ratio=N         divides values by N: 1e6 shows ns as ms; 1\n"
    "  --help            this text\n";

__attribute__((noreturn, format(printf, 1, 2))) static void hlog_die(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fputs("crest hlog: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    exit(2);
}

/* ---- adding up ---- */

static hlog_series *hlog_find(const char *tag, size_t length)
{
    for (size_t i = 0; i < hlog_count; i++)
        if (strlen(hlog_all[i].tag) == length && memcmp(hlog_all[i].tag, tag, length) == 0)
            return &hlog_all[i];
    hlog_series *more = realloc(hlog_all, (hlog_count + 1) * sizeof *more);
    char *copy = strndup(tag, length);
    if (more == NULL || copy == NULL)
        hlog_die("no memory for another tag");
    hlog_all = more;
    hlog_all[hlog_count] = (hlog_series){.tag = copy};
    return &hlog_all[hlog_count++];
}

/* The sum's range becomes wide and fine enough for both. */
static crest_status hlog_widen(crest_distribution **sum, const crest_distribution *more)
{
    crest_range a, b;
    crest_distribution_range(*sum, &a);
    crest_distribution_range(more, &b);
    if (b.lowest > a.lowest) /* cells as coarse as the coarser ones */
        a.lowest = b.lowest;
    if (b.highest > a.highest)
        a.highest = b.highest;
    if (b.digits < a.digits)
        a.digits = b.digits;
    if (a.highest > UINT64_C(1) << 62)
        a.highest = UINT64_C(1) << 62;
    crest_distribution *wider = crest_distribution_new(&a);
    crest_status status =
        wider == NULL ? CREST_NO_MEMORY : crest_distribution_add(wider, *sum);
    if (status != CREST_OK) {
        crest_distribution_free(wider);
        return status;
    }
    crest_distribution_free(*sum);
    *sum = wider;
    return crest_distribution_add(*sum, more);
}

static void hlog_add(hlog_series *series, const crest_hlog_interval *interval, const char *where)
{
    double end_s = interval->start_s + interval->length_s;
    if (series->intervals == 0 || interval->start_s < series->from_s)
        series->from_s = interval->start_s;
    if (series->intervals++ == 0 || end_s > series->to_s)
        series->to_s = end_s;
    if (series->sum == NULL)
        series->sum = crest_distribution_copy(interval->distribution);
    else if (crest_distribution_add(series->sum, interval->distribution) != CREST_OK &&
             hlog_widen(&series->sum, interval->distribution) != CREST_OK) {
        fprintf(stderr, "%s: its range cannot be added to that of the lines before\n", where);
        hlog_wrong = 1;
    }
    if (series->sum == NULL)
        hlog_die("no memory for a histogram");
}

/* ---- printing ---- */

static const double hlog_quantiles[] = {0.5, 0.9, 0.99, 0.999};
#define HLOG_QUANTILES (sizeof hlog_quantiles / sizeof *hlog_quantiles)

static void hlog_value_print(double value)
{
    if (value == (double)(int64_t)value)
        printf(" %12lld", (long long)value);
    else
        printf(" %12.3f", value);
}

static void hlog_head_print(const char *first)
{
    printf("%12s %12s %12s %12s %12s %12s %12s %12s  %s\n", first, "count", "min", "p50", "p90",
           "p99", "p99.9", "max", "tag");
}

static void hlog_line_print(const crest_distribution *d, double ratio, const char *tag)
{
    printf(" %12llu", (unsigned long long)crest_distribution_count(d));
    hlog_value_print((double)crest_distribution_min(d) / ratio);
    for (size_t q = 0; q < HLOG_QUANTILES; q++)
        hlog_value_print((double)hlog_value_at(d, hlog_quantiles[q]) / ratio);
    hlog_value_print((double)crest_distribution_max(d) / ratio);
    printf("  %s\n", tag[0] != '\0' ? tag : "(none)");
}

static void hlog_buckets_print(const hlog_series *series)
{
    crest_bucket bucket;
    for (size_t cursor = 0; crest_distribution_next(series->sum, &cursor, &bucket);)
        printf("%s %llu %llu %llu\n", series->tag, (unsigned long long)bucket.lowest,
               (unsigned long long)bucket.highest, (unsigned long long)bucket.count);
}

static int hlog_by_tag(const void *a, const void *b)
{
    return strcmp(((const hlog_series *)a)->tag, ((const hlog_series *)b)->tag);
}

static void hlog_print(const hlog_choice *choice)
{
    if (hlog_count > 1)
        qsort(hlog_all, hlog_count, sizeof *hlog_all, hlog_by_tag);
    if (!choice->percentiles && !choice->intervals && !choice->buckets)
        hlog_head_print("intervals");
    for (size_t i = 0; i < hlog_count; i++) {
        hlog_series *series = &hlog_all[i];
        if (choice->percentiles) {
            printf("#[Tag = %s, %lu intervals, %.3f to %.3f]\n", series->tag, series->intervals,
                   series->from_s, series->to_s);
            hlog_percentiles_print(series->sum, choice->ticks, choice->ratio, stdout);
        } else if (choice->buckets) {
            hlog_buckets_print(series);
        } else if (!choice->intervals) {
            printf("%12lu", series->intervals);
            hlog_line_print(series->sum, choice->ratio, series->tag);
        }
        crest_distribution_free(series->sum);
        free(series->tag);
    }
    free(hlog_all);
}

/* ---- reading ---- */

static void hlog_interval_take(const crest_hlog_interval *interval, const hlog_choice *choice,
                               const char *where)
{
    hlog_series *series = hlog_find(interval->tag, interval->tag_length);
    if ((choice->tag != NULL && fnmatch(choice->tag, series->tag, 0) != 0) ||
        interval->start_s < choice->from_s || interval->start_s > choice->to_s) {
        if (series->intervals == 0) /* it is the last one, and was made for this line */
            free(hlog_all[--hlog_count].tag);
        return;
    }
    hlog_add(series, interval, where);
    if (choice->intervals) {
        printf("%14.3f", interval->start_s);
        hlog_line_print(interval->distribution, choice->ratio, series->tag);
    }
}

static void hlog_read(const char *path, const hlog_choice *choice)
{
    FILE *file = strcmp(path, "-") == 0 ? stdin : fopen(path, "re");
    if (file == NULL) {
        fprintf(stderr, "crest hlog: %s cannot be read: %s\n", path, strerror(errno));
        hlog_wrong = 1;
        return;
    }
    crest_hlog_log log = {0, 0, 0};
    char *line = NULL, where[512];
    size_t room = 0;
    ssize_t length;
    for (unsigned long number = 1; (length = getline(&line, &room, file)) >= 0; number++) {
        crest_hlog_interval interval;
        crest_error error;
        if (length > 0 && line[length - 1] == '\n')
            length--;
        snprintf(where, sizeof where, "%s:%lu", path, number);
        if (crest_hlog_parse(&log, line, (size_t)length, &interval, &error) != CREST_OK) {
            fprintf(stderr, "%s: %s\n", where, error.message);
            hlog_wrong = 1;
        } else if (interval.distribution != NULL) {
            hlog_interval_take(&interval, choice, where);
            crest_distribution_free(interval.distribution);
        }
    }
    if (ferror(file)) {
        fprintf(stderr, "crest hlog: %s cannot be read: %s\n", path, strerror(errno));
        hlog_wrong = 1;
    }
    free(line);
    if (file != stdin)
        fclose(file);
}

static double hlog_number(const char *option, const char *text, double least)
{
    char *end;
    double number = strtod(text, &end);
    if (end == text || *end != '\0' || !(number >= least) || number > 1e18)
        hlog_die("--%s=%s: a number from %g on is needed", option, text, least);
    return number;
}

int main(int argc, char **argv)
{
    static const struct option options[] = {
        {"percentiles", no_argument, NULL, 'p'},   {"intervals", no_argument, NULL, 'i'},
        {"buckets", no_argument, NULL, 'c'},
        {"ticks", required_argument, NULL, 'n'},   {"tag", required_argument, NULL, 't'},
        {"from", required_argument, NULL, 'a'},    {"to", required_argument, NULL, 'b'},
        {"ratio", required_argument, NULL, 'r'},   {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0}};
    hlog_choice choice = {.ratio = 1, .from_s = -1e18, .to_s = 1e18, .ticks = 5};
    static char name[] = "crest hlog";
    argv[0] = name;
    for (int option; (option = getopt_long(argc, argv, "h", options, NULL)) != -1;)
        switch (option) {
        case 'p': choice.percentiles = 1; break;
        case 'i': choice.intervals = 1; break;
        case 'c': choice.buckets = 1; break;
        case 'n': choice.ticks = (unsigned)hlog_number("ticks", optarg, 1); break;
        case 't': choice.tag = optarg; break;
        case 'a': choice.from_s = hlog_number("from", optarg, 0); break;
        case 'b': choice.to_s = hlog_number("to", optarg, 0); break;
        case 'r': choice.ratio = hlog_number("ratio", optarg, 1e-18); break;
        case 'h': fputs(hlog_usage, stdout); return 0;
        default: fputs("'crest hlog --help' says what there is\n", stderr); return 2;
        }
    if (optind == argc)
        hlog_die("a log is needed; 'crest hlog --help' says what there is");
    if (choice.intervals)
        hlog_head_print("begun");
    for (int i = optind; i < argc; i++)
        hlog_read(argv[i], &choice);
    hlog_print(&choice);
    if (fflush(stdout) != 0)
        hlog_die("the output cannot be written: %s", strerror(errno));
    return hlog_wrong;
}
