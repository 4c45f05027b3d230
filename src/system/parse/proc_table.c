/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tables of names and numbers. See proc_table.h.
 */
#include "system/parse/proc_table.h"

#include <assert.h>

void crest_fault_set(crest_fault *fault, const char *why, crest_text shown)
{
    if (fault->why == NULL)
        *fault = (crest_fault){why, shown};
}

int crest_table_number(crest_text text, uint64_t *value)
{
    uint64_t number;
    if (text.at == text.end || *text.at < '0' || *text.at > '9' ||
        !crest_text_u64(&text, &number) || text.at != text.end)
        return 0;
    *value = number;
    return 1;
}

unsigned crest_table_u64s(crest_text *line, uint64_t *values, unsigned count)
{
    unsigned found = 0;
    while (found < count && crest_text_u64(line, &values[found]))
        found++;
    return found;
}

int crest_table_begins(crest_text text, const char *prefix)
{
    return crest_text_skip(&text, prefix);
}

/* The index of a key; `count`: not found. */
static unsigned proc_table_key(crest_text key, const char *const *keys, unsigned count)
{
    unsigned i = 0;
    while (i < count && !crest_text_is(key, keys[i]))
        i++;
    return i;
}

uint64_t crest_table_lines(crest_text text, const char *const *keys, unsigned count,
                           uint64_t *values, crest_fault *fault)
{
    uint64_t found = 0;
    crest_text line, key;
    assert(count <= CREST_TABLE_KEYS_MAX);
    while (crest_text_line(&text, &line)) {
        crest_text rest = line;
        if (!crest_text_word(&rest, &key))
            continue;
        if (key.end[-1] == ':')
            key.end--;
        unsigned i = proc_table_key(key, keys, count);
        if (i == count || crest_table_has(found, i))
            continue;
        if (crest_text_u64(&rest, &values[i]))
            found |= UINT64_C(1) << i;
        else
            crest_fault_set(fault, "a whole number was expected after the name", line);
    }
    return found;
}

uint64_t crest_table_pairs(crest_text line, const char *const *keys, unsigned count,
                           uint64_t *values, crest_fault *fault)
{
    uint64_t found = 0;
    crest_text rest = line, word, key;
    assert(count <= CREST_TABLE_KEYS_MAX);
    while (crest_text_word(&rest, &word)) {
        if (!crest_text_until(&word, '=', &key))
            continue;
        unsigned i = proc_table_key(key, keys, count);
        if (i == count || crest_table_has(found, i))
            continue;
        if (crest_table_number(word, &values[i]))
            found |= UINT64_C(1) << i;
        else
            crest_fault_set(fault, "a whole number was expected after the =", line);
    }
    return found;
}
