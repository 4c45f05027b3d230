/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which server a request is for: the forms of a request target, and what a Host may be. Pure
 * functions. Sources: RFC 9112, 3.2; RFC 9110, 7.2; RFC 3986, 3.2.2.
 *
 * DNS rebinding: a page in a browser can have its own name resolve to 127.0.0.1 and then read what
 * is served there. Its requests bear that name as their Host.
 */
#ifndef CREST_REPORTERS_SCRAPE_TARGET_H
#define CREST_REPORTERS_SCRAPE_TARGET_H

#include <stddef.h>

/* A name or an address, and perhaps a port; borrowed from the text that holds it. */
typedef struct crest_scrape_authority {
    const char *text;
    size_t length;
} crest_scrape_authority;

/* The path of a target in origin-form, /metrics, or absolute-form, http://host/metrics; NULL: it
 * has neither form. *authority is the absolute-form's authority; else its text is NULL. */
const char *crest_scrape_target_path(const char *target, crest_scrape_authority *authority);

/* Whether it can be a Host: a name, an address, or nothing, and perhaps a port. */
int crest_scrape_authority_valid(crest_scrape_authority authority);

/* Whether it names the machine itself: localhost or a name below it, 127.x.x.x, [::1]; or
 * nothing. */
int crest_scrape_authority_is_loopback(crest_scrape_authority authority);

/* Whether its name is one of `names`, separated by blanks or |, where * matches any; NULL: none. */
int crest_scrape_authority_is_listed(crest_scrape_authority authority, const char *names);

/* Whether a target as the client sent it has a NUL in its path, written %00. */
int crest_scrape_target_has_nul(const char *target);

#endif
