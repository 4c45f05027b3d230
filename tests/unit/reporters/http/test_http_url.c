/* SPDX-License-Identifier: Apache-2.0 */
/*
 * URLs of servers: what is refused and with which words, what is never shown, and names of options
 * in messages.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "http/http_url.h"
#include "http/http_words.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const char *no_underscore(const char *url)
{
    return strchr(url, '_') != NULL ? "it has an underscore" : NULL;
}

static void a_message_names_the_server_and_an_example(void **state)
{
    (void)state;
    const crest_http_url_kind kind = {"Listener", "http://l:1", no_underscore};
    static const struct {
        const char *url;
        crest_status status;
        const char *says;
    } cases[] = {
        {"http://h:1/x", CREST_OK, ""},
        {"https://[::1]:4318", CREST_OK, ""},
        {NULL, CREST_INVALID_ARGUMENT, "No URL for the Listener was given"},
        {"", CREST_INVALID_ARGUMENT, "something like http://l:1"},
        {"h:1", CREST_INVALID_ARGUMENT, "The Listener's URL \"h:1\" cannot be used"},
        {"http://h:1/?x", CREST_INVALID_ARGUMENT, "a query or a fragment"},
        {"http://h:70000", CREST_INVALID_ARGUMENT, "from 1 to 65535"},
        {"http://h/a_b", CREST_INVALID_ARGUMENT, "it has an underscore"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        crest_error error = {0};
        assert_int_equal(crest_http_url_check(cases[i].url, &kind, &error), cases[i].status);
        if (strstr(error.message, cases[i].says) == NULL)
            fail_msg("\"%s\" is not in: %s", cases[i].says, error.message);
    }
}

static void what_is_shown_has_no_password(void **state)
{
    (void)state;
    static const struct {
        const char *url, *shown;
    } cases[] = {
        {"http://user:secret@h:1/p/", "http://***@h:1/p"},
        {"https://secret@h", "https://***@h"},
        {"http://u:secret/secret@h", "http://***@h"},
        {"http://u:secret@secret@h", "http://***@h"},
        {"http://h:1//", "http://h:1"},
        {"gw:secret@h", "***@h"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        char shown[64], tiny[8];
        crest_http_url_show(cases[i].url, shown, sizeof shown);
        assert_string_equal(shown, cases[i].shown);
        crest_http_url_show(cases[i].url, tiny, sizeof tiny);
        assert_memory_equal(tiny, cases[i].shown, strlen(tiny));
    }
}

static void a_bare_url_tells_groups_apart(void **state)
{
    (void)state;
    static const struct {
        const char *url, *bare;
    } cases[] = {
        {"http://gw:9091", "http://gw:9091"},
        {"HTTP://us:pA@Gw:9091/Pre/Fix", "http://gw:9091/Pre/Fix"},
        {"https://[::1A]:1/", "https://[::1a]:1/"},
        {"https://u@GW", "https://gw"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        char bare[64];
        crest_http_url_bare(cases[i].url, bare, sizeof bare);
        assert_string_equal(bare, cases[i].bare);
    }
    char none[8];
    crest_http_url_bare("http://a-host", none, sizeof none);
    assert_string_equal(none, "");
}

static void proxies_are_hosts_and_ports(void **state)
{
    (void)state;
    static const char *const good[] = {"http://proxy:3128", "HTTP://u:p@10.0.0.1:1",
                                       "http://[::1]:3128"};
    static const char *const bad[] = {"",
                                      "proxy:3128",
                                      "https://proxy:3128",
                                      "socks5://proxy:1",
                                      "http://",
                                      "http://proxy",
                                      "http://proxy:0",
                                      "http://proxy:1/",
                                      "http://[::1]",
                                      "http://proxy:3128?x",
                                      "http://p roxy:1",
                                      "http://:3128"};
    crest_error error;
    for (size_t i = 0; i < COUNT(good); i++)
        assert_int_equal(crest_http_url_proxy_check(good[i], "push", &error), CREST_OK);
    for (size_t i = 0; i < COUNT(bad); i++) {
        if (crest_http_url_proxy_check(bad[i], "push", &error) != CREST_INVALID_ARGUMENT)
            fail_msg("%s is taken", bad[i]);
        assert_non_null(strstr(error.message, "push.proxy"));
    }
    assert_int_equal(crest_http_url_proxy_check("http://u:secret@p", "push", &error),
                     CREST_INVALID_ARGUMENT);
    assert_null(strstr(error.message, "secret"));
}

static void a_dollar_stands_for_the_kind(void **state)
{
    (void)state;
    char words[CREST_HTTP_WORDED_BYTES], longest[CREST_HTTP_WORDED_BYTES + 9];
    assert_string_equal(crest_http_words("otlp", "set $.a or $.b", words), "set otlp.a or otlp.b");
    assert_string_equal(crest_http_words("otlp", "", words), "");
    memset(longest, '$', sizeof longest);
    longest[sizeof longest - 1] = '\0';
    assert_int_equal(strlen(crest_http_words("otlp", longest, words)), sizeof words - 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_message_names_the_server_and_an_example),
        cmocka_unit_test(what_is_shown_has_no_password),
        cmocka_unit_test(a_bare_url_tells_groups_apart),
        cmocka_unit_test(proxies_are_hosts_and_ports),
        cmocka_unit_test(a_dollar_stands_for_the_kind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
