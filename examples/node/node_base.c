/* SPDX-License-Identifier: Apache-2.0 */
/* See node_base.h. */
#include "node_base.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static char base_name[32] = "node";

static uint64_t base_clock(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * NODE_NS_PER_S + (uint64_t)now.tv_nsec;
}

uint64_t node_now_ns(void)
{
    return base_clock(CLOCK_MONOTONIC);
}

uint64_t node_wall_ms(void)
{
    return base_clock(CLOCK_REALTIME) / NODE_NS_PER_MS;
}

static void *base_memory(void *memory, size_t size)
{
    if (memory == NULL) {
        node_say("asked for %zu bytes of memory and got none; give the node more, or less load",
                 size);
        exit(1);
    }
    return memory;
}

void *node_alloc(size_t size)
{
    return base_memory(malloc(size ? size : 1), size);
}

void *node_alloc_zero(size_t count, size_t size)
{
    return base_memory(calloc(count ? count : 1, size), count * size);
}

void *node_realloc(void *memory, size_t size)
{
    return base_memory(realloc(memory, size), size);
}

void node_say(const char *format, ...)
{
    char line[1024];
    va_list arguments;
    int used = snprintf(line, sizeof line, "%s: ", base_name);
    va_start(arguments, format);
    int more = vsnprintf(line + used, sizeof line - (size_t)used - 1, format, arguments);
    va_end(arguments);
    size_t length = (size_t)used + (more > 0 ? (size_t)more : 0);
    if (length > sizeof line - 2)
        length = sizeof line - 2;
    line[length++] = '\n';
    if (write(STDERR_FILENO, line, length) < 0)
        return; /* a closed stderr is the operator's choice */
}

void node_set_name(const char *name)
{
    snprintf(base_name, sizeof base_name, "%s", name);
}

const char *node_name(void)
{
    return base_name;
}

const char *node_hex(const uint8_t hash[NODE_HASH_BYTES], char *text)
{
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < NODE_HASH_BYTES; i++) {
        text[2 * i] = digits[hash[i] >> 4];
        text[2 * i + 1] = digits[hash[i] & 15];
    }
    text[2 * NODE_HASH_BYTES] = '\0';
    return text;
}
