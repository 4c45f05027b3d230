/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Claims of exported names. See name_claims.h.
 */
#include "metrics/name_claims.h"
#include "base/arena.h"
#include "base/arena_table.h"
#include "base/hash.h"
#include "names/derived_results.h"
#include "names/names.h"

#include <string.h>

/* A claimed text, and the metric that claims it. */
typedef struct crest_claim {
    const char *text;
    uint64_t hash;
    const crest_metric *metric;
} crest_claim;

/* Behind the stem of rates; no exported name contains it. */
#define CLAIMS_RATES "*"
#define CLAIMS_MAX (CREST_EXPORTED_CLAIMS_MAX + 1u)

/* Names that the Pushgateway and the page itself add beside ours. */
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

/* The metric that claims the text, or NULL. */
static const crest_metric *claims_find(crest_registry_state *state, const char *text)
{
    crest_claim key = {.text = text, .hash = crest_hash_text(crest_hash_seed(), text)};
    const crest_claim *claim = ck_hs_get(&state->claims, key.hash, &key);
    return claim != NULL ? claim->metric : NULL;
}

/* Whether rates of the metric's events are exported without a unit. */
static int claims_rates(const crest_metric *metric)
{
    return !metric->no_windows &&
           (metric->kind == CREST_KIND_HISTOGRAM || metric->kind == CREST_KIND_TIMER ||
            (metric->kind == CREST_KIND_COUNTER && metric->unit == CREST_NONE));
}

/* Lists a metric's claims; returns how many texts there are. */
static unsigned claims_of(const crest_metric *metric,
                          char texts[CLAIMS_MAX][CREST_EXPORTED_BYTES_MAX])
{
    unsigned count = crest_exported_claims(metric->name, metric->kind, metric->unit, texts,
                                           CREST_EXPORTED_CLAIMS_MAX);
    if (claims_rates(metric)) {
        char *text = texts[count++];
        size_t length = crest_exported_stem(metric->name, metric->kind, metric->unit, text,
                                            CREST_EXPORTED_BYTES_MAX);
        strcpy(text + length, CLAIMS_RATES);
    }
    return count;
}

static int claims_is_reserved(const char *name)
{
    for (size_t i = 0; i < sizeof claims_reserved / sizeof claims_reserved[0]; i++)
        if (strcmp(name, claims_reserved[i]) == 0)
            return 1;
    return 0;
}

crest_status crest_claims_check(crest_registry_state *state, const crest_metric *wanted,
                                const crest_metric **other)
{
    char texts[CLAIMS_MAX][CREST_EXPORTED_BYTES_MAX];
    unsigned count = claims_of(wanted, texts);
    *other = NULL;
    for (unsigned i = 0; i < count; i++) {
        *other = claims_find(state, texts[i]);
        if (*other != NULL || claims_is_reserved(texts[i]) || crest_derived_looks(texts[i]))
            return CREST_NAME_CLASH;
    }
    return CREST_OK;
}

void crest_claims_drop(crest_registry_state *state, crest_claims *claims)
{
    for (unsigned i = 0; i < claims->count; i++)
        ck_hs_remove(&state->claims, claims->all[i].hash, &claims->all[i]);
    claims->count = 0;
}

/* Makes the metric's claims; 0 without memory. On a frame of its own: signal handlers' stacks are
 * small. */
__attribute__((noinline)) static int claims_make(crest_metric *metric)
{
    char texts[CLAIMS_MAX][CREST_EXPORTED_BYTES_MAX];
    unsigned count = claims_of(metric, texts);
    crest_claim *claims =
        crest_arena_take(CREST_ARENA_META, count * sizeof *claims, _Alignof(crest_claim));
    for (unsigned i = 0; claims != NULL && i < count; i++) {
        claims[i].text = crest_arena_copy(texts[i], strlen(texts[i]));
        if (claims[i].text == NULL)
            return 0;
        claims[i].hash = crest_hash_text(crest_hash_seed(), texts[i]);
        claims[i].metric = metric;
    }
    if (claims != NULL)
        metric->claims = (crest_claims){.all = claims, .made = count};
    return claims != NULL;
}

crest_status crest_claims_take(crest_registry_state *state, crest_metric *metric)
{
    crest_claims *claims = &metric->claims;
    if (claims->made == 0 && !claims_make(metric))
        return CREST_NO_MEMORY;
    while (claims->count < claims->made &&
           ck_hs_put(&state->claims, claims->all[claims->count].hash, &claims->all[claims->count]))
        claims->count++;
    if (claims->count == claims->made)
        return CREST_OK;
    crest_claims_drop(state, claims);
    return CREST_NO_MEMORY;
}
