/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The results of windows, by kind of metric. See derived_results.h.
 */
#include "names/derived_results.h"
#include "names/names.h"

#include <stdio.h>
#include <string.h>

/* Quantiles are distinct if they differ in their first eight decimals. */
#define RESULT_PARTS 100000000u

typedef struct result_kind {
    const char *word;
    unsigned offset;           /* offset in crest_window */
    int of_values;             /* of a distribution: about its values, not about their number */
    const char *counter;       /* its meaning for a counter, a distribution, a range sampler, and */
    const char *distribution;  /* the text after the window's length; */
    const char *range_sampler; /* NULL: the kind has no such result */
    const char *more;
} result_kind;

static const result_kind result_kinds[] = {
    {"rate", offsetof(crest_window, per_second), 0, "Per second, over the",
     "Recorded per second, over the", NULL, ""},
    {"peak", offsetof(crest_window, peak), 0, "Per second, the highest tick of the",
     "Recorded per second, the highest tick of the", NULL, ""},
    {"min", offsetof(crest_window, minimum), 1, NULL, NULL, "Lowest of the", ""},
    {"avg", offsetof(crest_window, average), 1, NULL, "Average over the", "Average over the",
     ", weighted by time"},
    {"max", offsetof(crest_window, maximum), 1, NULL, "Largest of the", "Highest of the", ""},
};

static unsigned result_parts(double quantile)
{
    return (unsigned)(quantile * RESULT_PARTS + 0.5);
}

int crest_quantiles_valid(const double *quantiles)
{
    for (unsigned i = 0; quantiles[i] != 0; i++) {
        if (i == CREST_QUANTILES_MAX || !(quantiles[i] > 0 && quantiles[i] < 1))
            return 0;
        unsigned parts = result_parts(quantiles[i]);
        if (parts == 0 || parts == RESULT_PARTS)
            return 0;
        for (unsigned other = 0; other < i; other++)
            if (result_parts(quantiles[other]) == parts)
                return 0;
    }
    return 1;
}

static const char *result_what(const result_kind *result, crest_kind kind)
{
    switch (kind) {
    case CREST_KIND_NONE:
    case CREST_KIND_GAUGE:
    case CREST_KIND_STAGES: return NULL; /* CREST_KIND_STAGES: only in declarations */
    case CREST_KIND_COUNTER: return result->counter;
    case CREST_KIND_HISTOGRAM:
    case CREST_KIND_TIMER: return result->distribution;
    case CREST_KIND_RANGE_SAMPLER: return result->range_sampler;
    }
    return NULL;
}

/* "last minute", "last 5 minutes". */
static void result_meaning(crest_window_result *result, const char *what, const char *more)
{
    unsigned minutes = result->window_s / 60;
    if (minutes == 1)
        snprintf(result->meaning, sizeof result->meaning, "%s last minute%s", what, more);
    else
        snprintf(result->meaning, sizeof result->meaning, "%s last %u minutes%s", what, minutes,
                 more);
}

/* A fraction as percent: "50", "99_9". Not by printf: metrics are made in signal handlers too. */
static char *result_percent(char *out, double quantile, char separator)
{
    unsigned parts = result_parts(quantile), percent = RESULT_PARTS / 100;
    if (parts / percent >= 10)
        *out++ = (char)('0' + parts / percent / 10);
    *out++ = (char)('0' + parts / percent % 10);
    parts %= percent;
    if (parts != 0)
        *out++ = separator;
    for (; parts != 0; parts = parts * 10 % percent)
        *out++ = (char)('0' + parts * 10 / percent);
    *out = '\0';
    return out;
}

/* The `index`-th result of this kind of metric, quantiles not counted; NULL past the last. */
static const result_kind *result_at(crest_kind kind, unsigned *index)
{
    for (size_t i = 0; i < sizeof result_kinds / sizeof result_kinds[0]; i++)
        if (result_what(&result_kinds[i], kind) != NULL && (*index)-- == 0)
            return &result_kinds[i];
    return NULL;
}

/* The `index`-th quantile; 0 past the last. */
static double result_quantile(crest_kind kind, const double *quantiles, unsigned index)
{
    return crest_kind_is_distribution(kind) && quantiles != NULL && index < CREST_QUANTILES_MAX
               ? quantiles[index]
               : 0;
}

int crest_window_qualifier(crest_kind kind, const double *quantiles, unsigned index,
                           unsigned window_s, char text[CREST_WINDOW_QUALIFIER_BYTES])
{
    char *out = text;
    const result_kind *plain = result_at(kind, &index);
    if (plain != NULL) {
        for (const char *word = plain->word; *word != '\0'; word++)
            *out++ = *word;
    } else {
        double quantile = result_quantile(kind, quantiles, index);
        if (quantile == 0)
            return 0;
        *out++ = 'p';
        out = result_percent(out, quantile, '_');
        *out++ = '_';
    }
    unsigned minutes = window_s / 60;
    if (minutes >= 10)
        *out++ = (char)('0' + minutes / 10 % 10);
    *out++ = (char)('0' + minutes % 10);
    *out++ = 'm';
    *out = '\0';
    return 1;
}

/* ---- names read from their end ---- */

/* The length of the name in front of this ending; 0 where it does not end so. */
static size_t result_before(const char *name, size_t length, const char *end)
{
    size_t bytes = strlen(end);
    return length > bytes && memcmp(name + length - bytes, end, bytes) == 0 ? length - bytes : 0;
}

/* The length of the name in front of a number at its end; 0 where there is none. */
static size_t result_before_number(const char *name, size_t length)
{
    size_t at = length;
    while (at != 0 && name[at - 1] >= '0' && name[at - 1] <= '9')
        at--;
    return at != length ? at : 0;
}

/* Whether a name, its window cut off, ends in a word of a result or in a quantile. */
static int result_ends(const char *name, size_t length)
{
    for (size_t i = 0; i < sizeof result_kinds / sizeof result_kinds[0]; i++) {
        size_t before = result_before(name, length, result_kinds[i].word);
        if (before > 1 && name[before - 1] == '_')
            return 1;
    }
    size_t at = result_before_number(name, result_before(name, length, "_"));
    if (at != 0 && name[at - 1] == '_')
        at = result_before_number(name, at - 1);
    return at > 2 && name[at - 1] == 'p' && name[at - 2] == '_';
}

int crest_derived_looks(const char *exported)
{
    static const char *const windows[CREST_WINDOWS_MAX] = {"1m", "5m", "15m"};
    size_t length = strlen(exported), before;
    for (int unit = CREST_NONE + 1; unit <= CREST_RATIO; unit++) {
        before = result_before(exported, length, crest_unit_suffix((crest_unit)unit));
        if (before > 1 && exported[before - 1] == '_') {
            length = before - 1;
            break;
        }
    }
    for (size_t i = 0; i < CREST_WINDOWS_MAX; i++) {
        before = result_before(exported, length, windows[i]);
        if (before != 0 && result_ends(exported, before))
            return 1;
    }
    return 0;
}

static void result_fill(crest_window_result *result, crest_kind kind, const double *quantiles,
                        unsigned index)
{
    char percent[12], what[48];
    const result_kind *plain = result_at(kind, &index);
    if (plain != NULL) {
        result->offset = plain->offset;
        result->of_values = plain->of_values;
        result_meaning(result, result_what(plain, kind),
                       crest_kind_is_distribution(kind) ? "" : plain->more);
        return;
    }
    result->offset = (unsigned)(offsetof(crest_window, quantiles) + index * sizeof(double));
    result->of_values = 1;
    result_percent(percent, quantiles[index], '.');
    snprintf(what, sizeof what, "%s %% were at most this, over the", percent);
    result_meaning(result, what, "");
}

unsigned crest_window_results_of(crest_kind kind, const double *quantiles, const unsigned *window_s,
                                 unsigned windows, crest_window_result *results)
{
    unsigned count = 0;
    for (unsigned w = 0; w < windows && w < CREST_WINDOWS_MAX; w++)
        for (unsigned i = 0;; i++) {
            crest_window_result *result = &results[count];
            if (!crest_window_qualifier(kind, quantiles, i, window_s[w], result->qualifier))
                break;
            result->window_s = window_s[w];
            result_fill(result, kind, quantiles, i);
            count++;
        }
    return count;
}

unsigned crest_window_results(const crest_series_view *series, const unsigned *window_s,
                              unsigned windows,
                              crest_window_result results[CREST_WINDOW_RESULTS_MAX])
{
    return crest_window_results_of(series->kind, series->quantiles, window_s, windows, results);
}
