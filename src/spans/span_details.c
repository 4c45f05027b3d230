/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Details of spans, and the table of their keys. See span_details.h.
 */
#include "spans/span_details.h"
#include "base/lock.h"
#include "base/misuse.h"
#include "base/utf8.h"

#include <string.h>

/* ---- keys ---- */

/* Written under the slow path's lock, an entry before the count; never changed. */
static char keys_name[CREST_SPAN_KEYS_MAX + 1][CREST_SPAN_KEY_BYTES_MAX + 1];
static uint64_t keys_count;

static unsigned keys_find(const char *name)
{
    for (unsigned id = 1; id <= keys_count; id++)
        if (strcmp(keys_name[id], name) == 0)
            return id;
    return 0;
}

/* Under the lock. */
static unsigned keys_make(const char *name, size_t length)
{
    if (keys_count == CREST_SPAN_KEYS_MAX)
        return 0;
    unsigned id = (unsigned)keys_count + 1;
    memcpy(keys_name[id], name, length + 1);
    /* partner: the acquire load in keys_text */
    crest_atomic_store_release(&keys_count, id);
    return id;
}

static const char *keys_text(unsigned id)
{
    return id <= crest_atomic_load_acquire(&keys_count) ? keys_name[id] : "";
}

unsigned crest_span_key_id(crest_span_key *key, crest_status *why)
{
    unsigned id = crest_atomic_load32(&key->id);
    if (CREST_LIKELY(id != 0))
        return id;
    size_t length = key->name != NULL ? strlen(key->name) : 0;
    if (length == 0 || length > CREST_SPAN_KEY_BYTES_MAX || !crest_utf8_is_valid(key->name)) {
        crest_misuse_count(CREST_MISUSE_LABEL, "the key of a span's attribute");
        *why = CREST_INVALID_ARGUMENT;
        return 0;
    }
    *why = CREST_LIMIT;
    crest_lock_saved saved;
    if (!crest_lock_take_unless_forking(&saved))
        return 0;
    id = keys_find(key->name);
    if (id == 0)
        id = keys_make(key->name, length);
    crest_atomic_store32(&key->id, id);
    crest_lock_drop(&saved);
    if (id == 0)
        crest_misuse_count(CREST_MISUSE_LIMIT, "keys of spans' attributes");
    return id;
}

/* ---- words ---- */

/* Words that follow the first one. */
static unsigned details_more(unsigned type, unsigned length)
{
    switch (type) {
    case CREST_SPAN_DETAIL_I64:
    case CREST_SPAN_DETAIL_DOUBLE:
    case CREST_SPAN_DETAIL_EVENT: return 1;
    case CREST_SPAN_DETAIL_LINK: return 4;
    case CREST_SPAN_DETAIL_TEXT:
    case CREST_SPAN_DETAIL_MESSAGE: return (length + 7) / 8;
    default: return 0;
    }
}

int crest_span_detail_add(crest_span_timing *timing, unsigned type, unsigned key, unsigned length,
                          int32_t small, const void *bytes)
{
    unsigned more = details_more(type, length), used = timing->used / 8;
    if (used + 1 + more > CREST_SPAN_WORDS_MAX)
        return 0;
    uint64_t *word = &timing->detail[used];
    word[0] = type | (uint64_t)key << 8 | (uint64_t)length << 16 | (uint64_t)(uint32_t)small << 32;
    if (more == 1 && length == 0) {
        memcpy(&word[1], bytes, sizeof *word);
    } else if (more != 0) {
        word[more] = 0; /* the bytes of a text's last word */
        memcpy(&word[1], bytes, length);
    }
    timing->used = (uint16_t)(timing->used + 8 * (1 + more));
    return 1;
}

int crest_span_detail_next(const uint64_t *words, unsigned count, unsigned *at,
                           crest_span_detail *detail)
{
    if (*at >= count)
        return 0;
    uint64_t word = words[*at];
    unsigned type = (unsigned)(word & 0xff), length = (unsigned)(word >> 16 & 0xffff);
    unsigned more = details_more(type, length);
    if (type == 0 || type > CREST_SPAN_DETAIL_MESSAGE || *at + 1 + more > count)
        return 0;
    *detail = (crest_span_detail){.type = type,
                                  .key = keys_text((unsigned)(word >> 8 & 0xff)),
                                  .length = length,
                                  .small = (int32_t)(uint32_t)(word >> 32),
                                  .words = &words[*at + 1]};
    *at += 1 + more;
    return 1;
}
