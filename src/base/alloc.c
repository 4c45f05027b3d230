/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Heap memory through one door. See alloc.h.
 */
#include "base/alloc.h"
#include "base/atomic.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static uint64_t alloc_fail_after;

static int alloc_must_fail(void)
{
    uint64_t left = crest_atomic_load(&alloc_fail_after);
    if (left == 0)
        return 0;
    if (left > 1)
        crest_atomic_store(&alloc_fail_after, left - 1);
    return left == 1;
}

void *crest_alloc(size_t count, size_t size)
{
    return alloc_must_fail() ? NULL : calloc(count ? count : 1, size ? size : 1);
}

void *crest_alloc_resize(void *block, size_t count, size_t size)
{
    if (alloc_must_fail() || (size != 0 && count > SIZE_MAX / size))
        return NULL;
    size_t bytes = count * size;
    return realloc(block, bytes != 0 ? bytes : 1);
}

char *crest_alloc_text(const char *text)
{
    if (text == NULL)
        return NULL;
    size_t bytes = strlen(text) + 1;
    char *copy = crest_alloc(bytes, 1);
    if (copy != NULL)
        memcpy(copy, text, bytes);
    return copy;
}

void crest_alloc_free(void *block)
{
    free(block);
}

void crest_alloc_fail_after(unsigned long after)
{
    crest_atomic_store(&alloc_fail_after, after);
}
