/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Constant labels. See constant_labels.h.
 */
#include "metrics/constant_labels.h"
#include "base/arena.h"
#include "base/misuse.h"
#include "base/utf8.h"
#include "names/names.h"

#include <string.h>

/* On a frame of its own: signal handlers' stacks are small. */
__attribute__((noinline)) static const char *constants_value(const char *value)
{
    char clean[CREST_LABEL_VALUE_BYTES_MAX + 1];
    unsigned changed;
    size_t length = crest_utf8_copy(value != NULL ? value : "", clean, sizeof clean, &changed);
    if (changed)
        crest_misuse_count(CREST_MISUSE_TEXT, NULL);
    return crest_arena_copy(clean, length);
}

int crest_constants_make(crest_registry_state *state, const crest_label *labels)
{
    for (unsigned i = 0; i < CREST_CONSTANT_LABELS_MAX && labels[i].key != NULL; i++) {
        unsigned at = state->constant_count;
        state->constant_keys[at] = labels[i].key;
        if (crest_label_keys_check(state->constant_keys, at + 1, NULL, 0) != CREST_OK) {
            crest_misuse_count(CREST_MISUSE_LABEL, NULL);
            continue;
        }
        state->constant_keys[at] = crest_arena_copy(labels[i].key, strlen(labels[i].key));
        state->constant_values[at] = constants_value(labels[i].value);
        if (state->constant_keys[at] == NULL || state->constant_values[at] == NULL)
            return 0;
        state->constant_count++;
    }
    return 1;
}

int crest_constants_clash(const crest_registry_state *state, const char *const *keys,
                          unsigned count)
{
    for (unsigned i = 0; keys != NULL && i < count; i++)
        for (unsigned c = 0; keys[i] != NULL && c < state->constant_count; c++)
            if (strcmp(keys[i], state->constant_keys[c]) == 0)
                return 1;
    return 0;
}
