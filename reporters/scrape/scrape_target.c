/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading request targets and Hosts. See scrape_target.h.
 */
#include "scrape/scrape_target.h"

#include <string.h>
#include <strings.h>

#define SCRAPE_TARGET_DIGITS "0123456789"
#define SCRAPE_TARGET_SEPARATORS " \t|"

const char *crest_scrape_target_path(const char *target, crest_scrape_authority *authority)
{
    static const char *const schemes[] = {"http://", "https://"};
    *authority = (crest_scrape_authority){NULL, 0};
    if (target[0] == '/')
        return target;
    for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++) {
        size_t length = strlen(schemes[i]);
        if (strncasecmp(target, schemes[i], length) != 0)
            continue;
        authority->text = target + length;
        authority->length = strcspn(authority->text, "/?#");
        const char *path = authority->text + authority->length;
        /* http://host is http://host/ */
        return *path == '\0' ? "/" : *path == '/' ? path : NULL;
    }
    return NULL;
}

/* The part before the port: "[::1]" or "localhost", where ":27378" follows. */
static size_t scrape_target_name(crest_scrape_authority authority)
{
    const char *end = NULL;
    if (authority.length > 0 && authority.text[0] == '[')
        end = memchr(authority.text, ']', authority.length);
    if (end != NULL)
        return (size_t)(end - authority.text) + 1;
    end = memchr(authority.text, ':', authority.length);
    return end != NULL ? (size_t)(end - authority.text) : authority.length;
}

static int scrape_target_is_of(const char *text, size_t length, const char *allowed)
{
    for (size_t i = 0; i < length; i++)
        if (text[i] == '\0' || strchr(allowed, text[i]) == NULL)
            return 0;
    return 1;
}

int crest_scrape_authority_valid(crest_scrape_authority authority)
{
    /* unreserved and sub-delims of RFC 3986, and the escapes of a reg-name */
    static const char name[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                               "-._~!$&'()*+,;=%";
    static const char address[] = "0123456789abcdefABCDEF:.";
    size_t length = scrape_target_name(authority), rest = authority.length - length;
    const char *port = authority.text + length;
    if (rest > 0 &&
        (port[0] != ':' || !scrape_target_is_of(port + 1, rest - 1, SCRAPE_TARGET_DIGITS)))
        return 0;
    if (length == 0 || authority.text[0] != '[')
        return scrape_target_is_of(authority.text, length, name);
    return length > 2 && authority.text[length - 1] == ']' &&
           scrape_target_is_of(authority.text + 1, length - 2, address);
}

static int scrape_target_is(const char *text, size_t length, const char *name)
{
    return length == strlen(name) && strncasecmp(text, name, length) == 0;
}

int crest_scrape_authority_is_loopback(crest_scrape_authority authority)
{
    static const char below[] = ".localhost";
    const char *text = authority.text;
    size_t length = scrape_target_name(authority), last = sizeof below - 1;
    if (length > 0 && text[length - 1] == '.')
        length--; /* the root, as in localhost. */
    if (length == 0 || scrape_target_is(text, length, "localhost") ||
        scrape_target_is(text, length, "[::1]"))
        return 1;
    if (length > last && scrape_target_is(text + length - last, last, below))
        return 1;
    /* an address, not a name that begins like one */
    return length > 4 && strncmp(text, "127.", 4) == 0 &&
           scrape_target_is_of(text, length, SCRAPE_TARGET_DIGITS ".");
}

int crest_scrape_authority_is_listed(crest_scrape_authority authority, const char *names)
{
    size_t length = scrape_target_name(authority);
    for (const char *at = names != NULL ? names : ""; *at != '\0';) {
        at += strspn(at, SCRAPE_TARGET_SEPARATORS);
        size_t one = strcspn(at, SCRAPE_TARGET_SEPARATORS);
        if ((one == 1 && *at == '*') ||
            (one > 0 && one == length && strncasecmp(at, authority.text, one) == 0))
            return 1;
        at += one;
    }
    return 0;
}

int crest_scrape_target_has_nul(const char *target)
{
    size_t path = strcspn(target, "?");
    for (size_t i = 0; i + 2 < path; i++)
        if (target[i] == '%' && target[i + 1] == '0' && target[i + 2] == '0')
            return 1;
    return 0;
}
