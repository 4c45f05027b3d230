/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Label keys and values: any key is refused or valid, any value is kept as valid UTF-8, and a page
 * gives back exactly the values that are kept.
 *
 * Input: one byte of choices, then keys, values and a second set of values, each up to a NUL.
 */
#include "fuzz_page.h"
#include "names/names.h"

#include <crest/family.h>
#include <crest/registry.h>
#include <crest/snapshot.h>

#define LABELS_MAX 3u

typedef struct labelled {
    unsigned count;
    char *keys[LABELS_MAX];
    char *values[2][LABELS_MAX];
    char kept[2][LABELS_MAX][CREST_LABEL_VALUE_BYTES_MAX + 1];
    unsigned seen[2]; /* on the page */
} labelled;

static void check_keys(const labelled *input, crest_status status)
{
    static const char first[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    static const char rest[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
    static const char *const reserved[] = {"le", "quantile", "outcome", "job", "instance"};
    int valid = 1;
    for (unsigned i = 0; i < input->count; i++) {
        const char *key = input->keys[i];
        valid &= strspn(key, first) != 0 && key[strspn(key, rest)] == '\0' &&
                 strlen(key) <= CREST_LABEL_KEY_BYTES_MAX;
        for (size_t r = 0; r < sizeof reserved / sizeof *reserved; r++)
            valid &= strcmp(key, reserved[r]) != 0;
        for (unsigned other = 0; other < i; other++)
            valid &= strcmp(key, input->keys[other]) != 0;
    }
    FUZZ_WANTS(status == (valid ? CREST_OK : CREST_INVALID_LABEL));
}

/* What is kept of a value: itself, unless it is too long or no UTF-8. */
static void keep_values(labelled *input)
{
    for (unsigned set = 0; set < 2; set++)
        for (unsigned i = 0; i < input->count; i++) {
            char *kept = input->kept[set][i];
            const char *value = input->values[set][i];
            crest_utf8_copy(value, kept, sizeof input->kept[set][i], NULL);
            FUZZ_WANTS(crest_utf8_is_valid(kept));
            FUZZ_WANTS(strlen(kept) <= CREST_LABEL_VALUE_BYTES_MAX);
            if (crest_utf8_is_valid(value) && strlen(value) <= CREST_LABEL_VALUE_BYTES_MAX)
                FUZZ_WANTS(strcmp(value, kept) == 0);
        }
}

static int same_set(const labelled *input)
{
    for (unsigned i = 0; i < input->count; i++)
        if (strcmp(input->kept[0][i], input->kept[1][i]) != 0)
            return 0;
    return 1;
}

/* Each sample's labels are one of the sets, key for key; its value is how often it was counted. */
static void visit_sample(const fuzz_page_sample *sample, void *context)
{
    labelled *input = context;
    FUZZ_WANTS(strcmp(sample->name, "fuzz_labelled_total") == 0);
    FUZZ_WANTS(sample->label_count == input->count);
    int found = 0;
    for (unsigned set = 0; set < 2; set++) {
        int same = 1;
        for (unsigned i = 0; i < input->count; i++)
            same &= strcmp(sample->labels[i].value, input->kept[set][i]) == 0;
        input->seen[set] += same;
        found |= same;
    }
    for (unsigned i = 0; i < input->count; i++)
        FUZZ_WANTS(strcmp(sample->labels[i].key, input->keys[i]) == 0);
    FUZZ_WANTS(found);
    FUZZ_WANTS(sample->value == (same_set(input) ? 3 : sample->value == 1 ? 1 : 2));
}

static void check_family(labelled *input)
{
    crest_registry *registry = crest_registry_new(NULL);
    FUZZ_WANTS(registry != NULL);
    crest_metric_options options = {.name = "fuzz.labelled"};
    crest_status status;
    const char *const *keys = (const char *const *)input->keys;
    crest_counter_family family =
        crest_counter_family_new(registry, &options, keys, input->count, &status);
    check_keys(input, status);
    crest_counter *made[2];
    for (unsigned set = 0; set < 2; set++) {
        const char *const *values = (const char *const *)input->values[set];
        made[set] = crest_counter_family_get(&family, values, input->count);
        crest_counter_add(made[set], 1 + set);
        FUZZ_WANTS((made[set]->handle.slot != 0) == (status == CREST_OK));
        FUZZ_WANTS(crest_counter_family_get(&family, values, input->count) == made[set]);
    }
    if (status == CREST_OK) {
        FUZZ_WANTS((made[0] == made[1]) == same_set(input));
        crest_snapshot *snapshot = crest_snapshot_take(registry);
        for (unsigned set = 0; set < 2; set++) {
            const char *values[LABELS_MAX];
            for (unsigned i = 0; i < input->count; i++)
                values[i] = input->kept[set][i];
            crest_series_view view;
            FUZZ_WANTS(crest_snapshot_find(snapshot, "fuzz.labelled", values, input->count,
                                           &view) == CREST_OK);
            FUZZ_WANTS(view.counter == crest_counter_value(made[set]));
        }
        crest_snapshot_free(snapshot);
        fuzz_page_check(registry, visit_sample, input);
        FUZZ_WANTS(input->seen[0] == 1 && input->seen[1] == 1);
    }
    crest_registry_free(registry);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static unsigned registries;
    static labelled input;
    fuzz_input bytes = {data, data + size};
    memset(&input, 0, sizeof input);
    input.count = 1 + fuzz_byte(&bytes) % LABELS_MAX;
    for (unsigned i = 0; i < input.count; i++)
        input.keys[i] = fuzz_text(&bytes);
    for (unsigned set = 0; set < 2; set++)
        for (unsigned i = 0; i < input.count; i++)
            input.values[set][i] = fuzz_text(&bytes);
    keep_values(&input);
    if (registries++ < FUZZ_REGISTRIES_MAX)
        check_family(&input);
    for (unsigned i = 0; i < input.count; i++) {
        free(input.keys[i]);
        free(input.values[0][i]);
        free(input.values[1][i]);
    }
    return 0;
}
