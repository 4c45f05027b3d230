/* SPDX-License-Identifier: Apache-2.0 */
/*
 * W3C's traceparent, both ways. See <crest/trace_context.h>.
 *
 *     00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01
 *     version, trace id, parent's span id, flags
 *
 * Source: W3C Trace Context, level 1, 3.2, and level 2 for the flag `random`.
 */
#include <crest/trace_context.h>

#include "base/error.h"
#include "base/misuse.h"

#include <string.h>

#define TRACEPARENT_TRACE 3
#define TRACEPARENT_SPAN 36
#define TRACEPARENT_FLAGS 53
#define TRACEPARENT_LENGTH 55
#define TRACEPARENT_VERSION_NONE 0xff

/* The value of a digit of the lower case, or -1. */
static int traceparent_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Reads `bytes` bytes of digits. 0: there is something else. */
static int traceparent_take(const char *digits, uint8_t *to, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) {
        int high = traceparent_digit(digits[2 * i]), low = traceparent_digit(digits[2 * i + 1]);
        if (high < 0 || low < 0)
            return 0;
        to[i] = (uint8_t)(high << 4 | low);
    }
    return 1;
}

static char *traceparent_put(char *to, const uint8_t *from, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) {
        *to++ = "0123456789abcdef"[from[i] >> 4];
        *to++ = "0123456789abcdef"[from[i] & 15];
    }
    return to;
}

/* Why it is none, or NULL. */
static const char *traceparent_parse(const char *text, size_t length, crest_span_context *context)
{
    uint8_t version, span[8];
    if (text == NULL || length < TRACEPARENT_LENGTH)
        return "it is shorter than 55 bytes";
    if (!traceparent_take(text, &version, 1))
        return "its version is not two digits of the lower case";
    if (version == TRACEPARENT_VERSION_NONE)
        return "there is no version ff";
    if (version == 0 && length > TRACEPARENT_LENGTH)
        return "there is something behind its 55 bytes, which version 00 does not have";
    if (length > TRACEPARENT_LENGTH && text[TRACEPARENT_LENGTH] != '-')
        return "what is behind its 55 bytes does not begin with -";
    if (text[TRACEPARENT_TRACE - 1] != '-' || text[TRACEPARENT_SPAN - 1] != '-' ||
        text[TRACEPARENT_FLAGS - 1] != '-')
        return "there is no - behind the version, the trace id or the span id";
    if (!traceparent_take(text + TRACEPARENT_TRACE, context->trace.bytes, 16))
        return "its trace id is not 32 digits of the lower case";
    if (!traceparent_take(text + TRACEPARENT_SPAN, span, sizeof span))
        return "its span id is not 16 digits of the lower case";
    if (!traceparent_take(text + TRACEPARENT_FLAGS, &context->flags, 1))
        return "its flags are not two digits of the lower case";
    for (size_t i = 0; i < sizeof span; i++)
        context->span = context->span << 8 | span[i];
    if (!crest_trace_id_valid(&context->trace))
        return "its trace id is zero";
    return context->span == 0 ? "its span id is zero" : NULL;
}

crest_status crest_traceparent_read(const char *text, size_t length, crest_span_context *context,
                                    crest_error *error)
{
    crest_error_clear(error);
    memset(context, 0, sizeof *context);
    const char *wrong = traceparent_parse(text, length, context);
    if (wrong == NULL) {
        context->flags &= CREST_TRACE_SAMPLED | CREST_TRACE_RANDOM;
        context->remote = 1;
        return CREST_OK;
    }
    memset(context, 0, sizeof *context);
    crest_misuse_count(CREST_MISUSE_CONTEXT, wrong);
    return crest_error_set(error, CREST_INVALID_ARGUMENT,
                           "What came as a traceparent (%zu bytes) is none: %s. What follows is a "
                           "root.",
                           length, wrong);
}

size_t crest_traceparent_write(const crest_span_context *context, char *text, size_t size)
{
    uint8_t span[8], flags = context->flags & (CREST_TRACE_SAMPLED | CREST_TRACE_RANDOM);
    if (size != 0)
        text[0] = '\0';
    if (size < CREST_TRACEPARENT_BYTES || !crest_span_context_valid(context))
        return 0;
    for (unsigned i = 0; i < sizeof span; i++)
        span[i] = (uint8_t)(context->span >> (56 - 8 * i));
    memcpy(text, "00-", 3);
    char *at = traceparent_put(text + 3, context->trace.bytes, sizeof context->trace.bytes);
    *at++ = '-';
    at = traceparent_put(at, span, sizeof span);
    *at++ = '-';
    at = traceparent_put(at, &flags, 1);
    *at = '\0';
    return (size_t)(at - text);
}
