/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading headers. See scrape_headers.h.
 */
#include "scrape/scrape_headers.h"

#include <string.h>
#include <strings.h>

#define SCRAPE_HEADERS_BLANKS " \t"

/* Whether the parameters of one coding, up to `end`, give it a q above 0; a malformed q refuses.
 * Source: RFC 9110, 12.4.2. */
static int scrape_headers_q(const char *at, const char *end)
{
    while ((at = memchr(at, ';', (size_t)(end - at))) != NULL) {
        at++;
        at += strspn(at, SCRAPE_HEADERS_BLANKS);
        if (strncasecmp(at, "q=", 2) != 0)
            continue;
        size_t length = strspn(at + 2, "0123456789.");
        return strcspn(at + 2, "123456789") < length;
    }
    return 1;
}

/* Whether a coding, by either of two names, has a q above 0. If it is not listed, the q of *
 * counts; if that is not listed either, `otherwise`. */
static int scrape_headers_accepts(const char *accept_encoding, const char *name, const char *other,
                                  int otherwise)
{
    int by_name = -1, by_any = otherwise;
    const char *at = accept_encoding != NULL ? accept_encoding : "";
    while (*at != '\0') {
        at += strspn(at, SCRAPE_HEADERS_BLANKS ",");
        const char *end = at + strcspn(at, ",");
        size_t length = strcspn(at, SCRAPE_HEADERS_BLANKS ";,");
        if ((length == strlen(name) && strncasecmp(at, name, length) == 0) ||
            (length == strlen(other) && strncasecmp(at, other, length) == 0))
            by_name = scrape_headers_q(at, end);
        else if (length == 1 && *at == '*')
            by_any = scrape_headers_q(at, end);
        at = end;
    }
    return by_name >= 0 ? by_name : by_any;
}

int crest_scrape_wants_gzip(const char *accept_encoding)
{
    return scrape_headers_accepts(accept_encoding, "gzip", "x-gzip", 0);
}

int crest_scrape_refuses_identity(const char *accept_encoding)
{
    return !scrape_headers_accepts(accept_encoding, "identity", "identity", 1);
}

uint64_t crest_scrape_timeout_ms(const char *seconds, uint64_t otherwise_ms, uint64_t highest_ms)
{
    if (seconds == NULL)
        return otherwise_ms;
    const char *at = seconds + strspn(seconds, SCRAPE_HEADERS_BLANKS);
    uint64_t ms = 0, digit_ms = 1000;
    unsigned digits = 0;
    for (; *at >= '0' && *at <= '9'; at++, digits++)
        if (ms <= highest_ms)
            ms = ms * 10 + (uint64_t)(*at - '0') * 1000;
    if (*at == '.')
        for (at++; *at >= '0' && *at <= '9'; at++, digits++)
            ms += (uint64_t)(*at - '0') * (digit_ms /= 10);
    if (digits == 0 || at[strspn(at, SCRAPE_HEADERS_BLANKS)] != '\0')
        return otherwise_ms;
    if (ms > highest_ms)
        return highest_ms;
    return ms > 0 ? ms : 1;
}
