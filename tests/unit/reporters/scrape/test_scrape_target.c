/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Request targets and Hosts: forms, what is valid, and which name the machine itself.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "scrape/scrape_target.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static crest_scrape_authority authority_of(const char *text)
{
    return (crest_scrape_authority){text, strlen(text)};
}

static void targets_have_a_path_and_perhaps_a_host(void **state)
{
    (void)state;
    static const struct {
        const char *target, *path, *host;
    } cases[] = {
        {"/metrics", "/metrics", NULL},
        {"/", "/", NULL},
        {"//host/metrics", "//host/metrics", NULL},
        {"http://localhost:9102/metrics", "/metrics", "localhost:9102"},
        {"HTTP://[::1]/-/healthy", "/-/healthy", "[::1]"},
        {"https://node", "/", "node"},
        {"http:///metrics", "/metrics", ""},
        {"http://a?b", NULL, "a"},
        {"*", NULL, NULL},
        {"metrics", NULL, NULL},
        {"ftp://host/metrics", NULL, NULL},
        {"", NULL, NULL},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        crest_scrape_authority host;
        const char *path = crest_scrape_target_path(cases[i].target, &host);
        if ((path == NULL) != (cases[i].path == NULL) ||
            (path != NULL && strcmp(path, cases[i].path) != 0))
            fail_msg("%s: the path %s", cases[i].target, path != NULL ? path : "NULL");
        if ((host.text == NULL) != (cases[i].host == NULL) ||
            (host.text != NULL && (host.length != strlen(cases[i].host) ||
                                   memcmp(host.text, cases[i].host, host.length) != 0)))
            fail_msg("%s: the host", cases[i].target);
    }
}

enum { WRONG, OTHER, OWN }; /* no Host; another's; the machine's */

static void hosts_are_told_apart(void **state)
{
    (void)state;
    static const struct {
        const char *host;
        int what;
    } cases[] = {
        {"", OWN},
        {":9102", OWN},
        {"localhost", OWN},
        {"LocalHost:9102", OWN},
        {"localhost.", OWN},
        {"node.localhost:1", OWN},
        {"127.0.0.1", OWN},
        {"127.1.2.3:80", OWN},
        {"[::1]", OWN},
        {"[::1]:9102", OWN},
        {"localhost:", OWN},
        {"evil.example", OTHER},
        {"127.0.0.1.evil.example", OTHER},
        {"127.evil", OTHER},
        {"notlocalhost", OTHER},
        {"localhost.evil.example:9102", OTHER},
        {"10.0.0.7", OTHER},
        {"[::2]", OTHER},
        {"128.0.0.1", OTHER},
        {"a b", WRONG},
        {"a/b", WRONG},
        {"user@localhost", WRONG},
        {"localhost:9102x", WRONG},
        {"[::1", WRONG},
        {"[]", WRONG},
        {"[::1]x", WRONG},
        {"[localhost]", WRONG},
        {"a:1:2", WRONG},
        {"\"localhost\"", WRONG},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        crest_scrape_authority host = authority_of(cases[i].host);
        int what = !crest_scrape_authority_valid(host)        ? WRONG
                   : crest_scrape_authority_is_loopback(host) ? OWN
                                                              : OTHER;
        if (what != cases[i].what)
            fail_msg("'%s': %d instead of %d", cases[i].host, what, cases[i].what);
    }
}

static void names_may_be_listed(void **state)
{
    (void)state;
    static const struct {
        const char *host, *names;
        int listed;
    } cases[] = {
        {"node-1:9102", "node-1", 1},
        {"NODE-1", "other | node-1", 1},
        {"node-1", "node-1.lan", 0},
        {"node-1.lan", "node-1", 0},
        {"anything", "*", 1},
        {"node", "", 0},
        {"node", NULL, 0},
        {"[fe80::1]:1", "[fe80::1]", 1},
        {"", "a", 0},
        {"b", "a|b", 1},
        {"a|b", "a b", 0},
    };
    for (size_t i = 0; i < COUNT(cases); i++)
        if (crest_scrape_authority_is_listed(authority_of(cases[i].host), cases[i].names) !=
            cases[i].listed)
            fail_msg("%s in %s", cases[i].host, cases[i].names);
}

static void a_nul_is_seen_in_the_path_alone(void **state)
{
    (void)state;
    assert_true(crest_scrape_target_has_nul("/metrics%00"));
    assert_true(crest_scrape_target_has_nul("/%00?a"));
    assert_false(crest_scrape_target_has_nul("/metrics?name[]=%00"));
    assert_false(crest_scrape_target_has_nul("/metrics%0"));
    assert_false(crest_scrape_target_has_nul("/%2500"));
    assert_false(crest_scrape_target_has_nul(""));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(targets_have_a_path_and_perhaps_a_host),
        cmocka_unit_test(hosts_are_told_apart),
        cmocka_unit_test(names_may_be_listed),
        cmocka_unit_test(a_nul_is_seen_in_the_path_alone),
    };
    return cmocka_run_group_tests_name("scrape_target", tests, NULL, NULL);
}
