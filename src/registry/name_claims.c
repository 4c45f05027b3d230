/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Claims of exported names. See name_claims.h.
 */
#include "registry/name_claims.h"
#include "base/arena.h"
#include "base/arena_table.h"
#include "base/hash.h"
#include "names/names.h"
#include "names/derived_results.h"

#include <string.h>

/* A name in use, or the stem of such, and by whom. */
typedef struct crest_claim {
    const char *text;
    uint64_t hash;
    const crest_metric *metric;
} crest_claim;

/* The two groups of derived names; the letters stand behind a byte that is in no exported name. */
#define CLAIMS_EVENTS "*E"
#define CLAIMS_VALUES "*V"
#define CLAIMS_STEMS_MAX 2u
#define CLAIMS_STEM_BYTES (CREST_EXPORTED_BYTES_MAX + 8u)
/* Words of the longest qualifier: p99, 9 and 1m. */
#define CLAIMS_QUALIFIER_WORDS 3u

static const unsigned claims_windows[CREST_WINDOWS_MAX] = {60, 300, 900};

/* Names that the Pushgateway and the page itself put beside ours. */
static const char *const claims_reserved[] = {"push_time_seconds", "push_failure_time_seconds",
                                              "crest_target_info", "up"};

static unsigned long claims_hash(const void *object, unsigned long seed)
{
    (void)seed;
    return ((const crest_claim *)object)->hash;
}

static bool claims_same(const void *a, const void *b)
{
    const crest_claim *x = a, *y = b;
    return x->hash == y->hash && strcmp(x->text, y->text) == 0;
}

bool crest_claims_init(ck_hs_t *table)
{
    return crest_table_init(table, claims_hash, claims_same, 256);
}

/* Who has claimed the text; NULL if nobody has. */
static const crest_metric *claims_find(crest_registry_state *state, const char *text)
{
    crest_claim key = {.text = text, .hash = crest_hash_text(crest_hash_seed(), text)};
    const crest_claim *claim = ck_hs_get(&state->claims, key.hash, &key);
    return claim != NULL ? claim->metric : NULL;
}

static void claims_stem_make(char *text, const char *stem, size_t length, const char *group,
                             const char *unit)
{
    memcpy(text, stem, length);
    strcpy(text + length, group);
    strcpy(text + length + strlen(group), unit);
}

/* What the metric claims for its derived names; none if it has no windows. */
static unsigned claims_stems(const crest_metric *metric,
                             char stems[CLAIMS_STEMS_MAX][CLAIMS_STEM_BYTES])
{
    char stem[CREST_EXPORTED_BYTES_MAX];
    const char *unit = crest_unit_suffix(crest_unit_of(metric->kind, metric->unit));
    if (metric->no_windows)
        return 0;
    size_t length =
        crest_exported_stem(metric->name, metric->kind, metric->unit, stem, sizeof stem);
    switch (metric->kind) {
    case CREST_KIND_COUNTER:
        claims_stem_make(stems[0], stem, length, CLAIMS_EVENTS, unit);
        return 1;
    case CREST_KIND_RANGE_SAMPLER:
        claims_stem_make(stems[0], stem, length, CLAIMS_VALUES, unit);
        return 1;
    case CREST_KIND_HISTOGRAM:
    case CREST_KIND_TIMER:
        /* how many there were is in no unit */
        claims_stem_make(stems[0], stem, length, CLAIMS_EVENTS, "");
        claims_stem_make(stems[1], stem, length, CLAIMS_VALUES, unit);
        return 2;
    default: return 0;
    }
}

/* The metric's derived names one by one, from *at = 0 on; 0 at the end. */
static int claims_next_derived(const crest_metric *metric, unsigned *at,
                               char name[CREST_EXPORTED_BYTES_MAX])
{
    const unsigned each = CREST_WINDOW_RESULTS_MAX / CREST_WINDOWS_MAX + 1;
    char qualifier[CREST_WINDOW_QUALIFIER_BYTES];
    for (; !metric->no_windows && *at < each * CREST_WINDOWS_MAX; ++*at) {
        if (!crest_window_qualifier(metric->kind, metric->quantiles, *at % each,
                                    claims_windows[*at / each], qualifier))
            continue;
        crest_exported_name(metric->name, metric->kind, metric->unit, qualifier, name,
                            CREST_EXPORTED_BYTES_MAX);
        ++*at;
        return 1;
    }
    return 0;
}

static int claims_derives(const crest_metric *metric, const char *name)
{
    char derived[CREST_EXPORTED_BYTES_MAX];
    for (unsigned at = 0; claims_next_derived(metric, &at, derived);)
        if (strcmp(derived, name) == 0)
            return 1;
    return 0;
}

/* The length of a name without its last word and the _ before it; 0 if it has but one. */
static size_t claims_cut(const char *name, size_t length)
{
    while (length != 0 && name[length - 1] != '_')
        length--;
    return length != 0 ? length - 1 : 0;
}

static int claims_ends_in_window(const char *name, size_t length)
{
    for (unsigned i = 0; i < CREST_WINDOWS_MAX; i++) {
        unsigned minutes = claims_windows[i] / 60;
        if (length > 2 && name[length - 1] == 'm' && name[length - 2] == (char)('0' + minutes % 10))
            return 1;
    }
    return 0;
}

/* Who derives this name, of which the first `length` bytes are without the unit. */
static const crest_metric *claims_deriver_of_unit(crest_registry_state *state, const char *name,
                                                  size_t length, const char *unit)
{
    char key[CLAIMS_STEM_BYTES];
    if (!claims_ends_in_window(name, length))
        return NULL;
    for (unsigned words = 1; words <= CLAIMS_QUALIFIER_WORDS && length != 0; words++) {
        length = claims_cut(name, length);
        for (unsigned group = 0; length != 0 && group < 2; group++) {
            claims_stem_make(key, name, length, group ? CLAIMS_VALUES : CLAIMS_EVENTS, unit);
            const crest_metric *metric = claims_find(state, key);
            if (metric != NULL && claims_derives(metric, name))
                return metric;
        }
    }
    return NULL;
}

/* Whether a name may be a derived one: it ends with a window, or with a unit behind it. */
static int claims_like_derived(const char *name)
{
    size_t length = strlen(name);
    return claims_ends_in_window(name, length) ||
           claims_ends_in_window(name, claims_cut(name, length));
}

static const crest_metric *claims_deriver(crest_registry_state *state, const char *name)
{
    size_t length = strlen(name);
    size_t without = claims_cut(name, length);
    const crest_metric *metric = claims_deriver_of_unit(state, name, length, "");
    for (int unit = CREST_NONE; metric == NULL && without != 0 && unit <= CREST_RATIO; unit++) {
        const char *suffix = crest_unit_suffix((crest_unit)unit);
        if (strcmp(name + without + 1, suffix) == 0)
            metric = claims_deriver_of_unit(state, name, without, suffix);
    }
    return metric;
}

static int claims_is_reserved(const char *name)
{
    for (size_t i = 0; i < sizeof claims_reserved / sizeof claims_reserved[0]; i++)
        if (strcmp(name, claims_reserved[i]) == 0)
            return 1;
    return 0;
}

/* The three parts of the check are on frames of their own, for the stacks of signal handlers are
 * small. */
__attribute__((noinline)) static crest_status claims_check_plain(crest_registry_state *state,
                                                                 const crest_metric *wanted,
                                                                 const crest_metric **other)
{
    char names[CREST_EXPORTED_CLAIMS_MAX][CREST_EXPORTED_BYTES_MAX];
    unsigned count = crest_exported_claims(wanted->name, wanted->kind, wanted->unit, names,
                                           CREST_EXPORTED_CLAIMS_MAX);
    for (unsigned i = 0; i < count; i++) {
        *other = claims_find(state, names[i]);
        if (*other == NULL)
            *other = claims_deriver(state, names[i]);
        if (*other != NULL || claims_is_reserved(names[i]))
            return CREST_NAME_CLASH;
    }
    return CREST_OK;
}

__attribute__((noinline)) static crest_status claims_check_stems(crest_registry_state *state,
                                                                 const crest_metric *wanted,
                                                                 const crest_metric **other)
{
    char stems[CLAIMS_STEMS_MAX][CLAIMS_STEM_BYTES];
    unsigned count = claims_stems(wanted, stems);
    *other = NULL;
    for (unsigned i = 0; i < count && *other == NULL; i++)
        *other = claims_find(state, stems[i]);
    return *other != NULL ? CREST_NAME_CLASH : CREST_OK;
}

__attribute__((noinline)) static crest_status claims_check_derived(crest_registry_state *state,
                                                                   const crest_metric *wanted,
                                                                   const crest_metric **other)
{
    char derived[CREST_EXPORTED_BYTES_MAX];
    if (state->claims_like_derived == 0)
        return CREST_OK; /* as nearly always: to make all those names is half of a metric's cost */
    for (unsigned at = 0; claims_next_derived(wanted, &at, derived);)
        if ((*other = claims_find(state, derived)) != NULL)
            return CREST_NAME_CLASH;
    return CREST_OK;
}

crest_status crest_claims_check(crest_registry_state *state, const crest_metric *wanted,
                                const crest_metric **other)
{
    crest_status status = claims_check_plain(state, wanted, other);
    if (status == CREST_OK)
        status = claims_check_stems(state, wanted, other);
    if (status == CREST_OK)
        status = claims_check_derived(state, wanted, other);
    return status;
}

void crest_claims_drop(crest_registry_state *state, crest_claims *claims)
{
    for (unsigned i = 0; i < claims->count; i++)
        ck_hs_remove(&state->claims, claims->all[i].hash, &claims->all[i]);
    claims->count = 0;
}

/* One claim, its text copied; 0 without memory. */
static int claims_fill(crest_claim *claim, const crest_metric *metric, const char *text)
{
    claim->text = crest_arena_copy(text, strlen(text));
    claim->hash = crest_hash_text(crest_hash_seed(), text);
    claim->metric = metric;
    return claim->text != NULL;
}

__attribute__((noinline)) static unsigned claims_fill_plain(const crest_metric *metric,
                                                            crest_claim *claims, int *filled)
{
    char names[CREST_EXPORTED_CLAIMS_MAX][CREST_EXPORTED_BYTES_MAX];
    unsigned count = crest_exported_claims(metric->name, metric->kind, metric->unit, names,
                                           CREST_EXPORTED_CLAIMS_MAX);
    for (unsigned i = 0; i < count && *filled; i++)
        *filled = claims_fill(&claims[i], metric, names[i]);
    return count;
}

__attribute__((noinline)) static unsigned claims_fill_stems(const crest_metric *metric,
                                                            crest_claim *claims, int *filled)
{
    char stems[CLAIMS_STEMS_MAX][CLAIMS_STEM_BYTES];
    unsigned count = claims_stems(metric, stems);
    for (unsigned i = 0; i < count && *filled; i++)
        *filled = claims_fill(&claims[i], metric, stems[i]);
    return count;
}

/* Makes the metric's claims; 0 without memory. */
static int claims_make(crest_registry_state *state, crest_metric *metric)
{
    crest_claim all[CREST_EXPORTED_CLAIMS_MAX + CLAIMS_STEMS_MAX];
    int filled = 1;
    unsigned count = claims_fill_plain(metric, all, &filled);
    count += claims_fill_stems(metric, all + count, &filled);
    crest_claim *claims =
        filled ? crest_arena_take(CREST_ARENA_META, count * sizeof *claims, _Alignof(crest_claim))
               : NULL;
    if (claims == NULL)
        return 0;
    memcpy(claims, all, count * sizeof *claims);
    for (unsigned i = 0; i < count; i++)
        state->claims_like_derived += (unsigned)claims_like_derived(claims[i].text);
    metric->claims = (crest_claims){.all = claims, .made = count};
    return 1;
}

crest_status crest_claims_take(crest_registry_state *state, crest_metric *metric)
{
    crest_claims *claims = &metric->claims;
    if (claims->made == 0 && !claims_make(state, metric))
        return CREST_NO_MEMORY;
    while (claims->count < claims->made &&
           ck_hs_put(&state->claims, claims->all[claims->count].hash, &claims->all[claims->count]))
        claims->count++;
    if (claims->count == claims->made)
        return CREST_OK;
    crest_claims_drop(state, claims);
    return CREST_NO_MEMORY;
}
