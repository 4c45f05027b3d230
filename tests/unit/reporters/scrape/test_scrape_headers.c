/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Accept-Encoding and the scrape's timeout, well-formed and not.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "scrape/scrape_headers.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static void gzip_is_sent_to_those_who_take_it(void **state)
{
    (void)state;
    static const struct {
        const char *header;
        int gzip;
    } cases[] = {
        {NULL, 0},
        {"", 0},
        {"gzip", 1},
        {"GZip", 1},
        {"x-gzip", 1},
        {"identity", 0},
        {"deflate, gzip", 1},
        {"deflate,br , gzip;q=0.5", 1},
        {"gzip;q=0", 0},
        {"gzip; q=0.000", 0},
        {"gzip;q=0.001", 1},
        {"gzip;Q=1.0", 1},
        {"gzip ; x=y; q=0", 0},
        {"*", 1},
        {"*;q=0", 0},
        {"*, gzip;q=0", 0},
        {"gzip;q=0, *", 0},
        {"gzip, *;q=0", 1},
        {"identity;q=0.5, *;q=0.1", 1},
        {"gzipped", 0},
        {"agzip", 0},
        {"gzip;q=", 0},
        {"gzip;q=x", 0},
        {"gzip;q=0,deflate;q=1", 0},
        {",,,gzip", 1},
        {";;;", 0},
        {"gzip;", 1},
    };
    for (size_t i = 0; i < COUNT(cases); i++)
        if (crest_scrape_wants_gzip(cases[i].header) != cases[i].gzip)
            fail_msg("%s: wanted %d", cases[i].header, cases[i].gzip);
}

static void an_answer_as_it_is_can_be_refused(void **state)
{
    (void)state;
    static const struct {
        const char *header;
        int refused;
    } cases[] = {
        {NULL, 0},
        {"", 0},
        {"gzip", 0},
        {"identity;q=0", 1},
        {"IDENTITY; q=0.0", 1},
        {"gzip, identity;q=0", 1},
        {"*;q=0", 1},
        {"*;q=0, identity", 0},
        {"identity;q=0.1, *;q=0", 0},
        {"gzip, *;q=0", 1},
        {"*", 0},
        {"identity", 0},
        {"identities;q=0", 0},
    };
    for (size_t i = 0; i < COUNT(cases); i++)
        if (crest_scrape_refuses_identity(cases[i].header) != cases[i].refused)
            fail_msg("%s: refused %d", cases[i].header, !cases[i].refused);
}

static void the_timeout_is_read(void **state)
{
    (void)state;
    static const struct {
        const char *header;
        unsigned ms;
    } cases[] = {
        {NULL, 7},     {"", 7},       {"10", 10000},    {"10.000000", 10000},
        {"0.25", 250}, {".5", 500},   {"1.2345", 1234}, {"0", 1},
        {"0.0001", 1}, {" 2 ", 2000}, {"60", 60000},    {"61", 60000},
        {"1e3", 7},    {"-1", 7},     {"x", 7},         {"1 2", 7},
        {"1.", 1000},  {".", 7},      {"1.5s", 7},      {"99999999999999999999999", 60000},
        {"Inf", 7},    {"NaN", 7},
    };
    for (size_t i = 0; i < COUNT(cases); i++)
        if (crest_scrape_timeout_ms(cases[i].header, 7, 60000) != cases[i].ms)
            fail_msg("%s: %u", cases[i].header,
                     (unsigned)crest_scrape_timeout_ms(cases[i].header, 7, 60000));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gzip_is_sent_to_those_who_take_it),
        cmocka_unit_test(an_answer_as_it_is_can_be_refused),
        cmocka_unit_test(the_timeout_is_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
