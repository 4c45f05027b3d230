/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The body of a push: what zlib makes of it comes back whole, however it was cut into pieces, and
 * its limit holds.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include <cmocka.h>

#include "http/http_body.h"
#include "support/random_numbers.h"

#define PAGE_BYTES 300000u

/* Half of it repetitive, half of it not, so that the buffer both lags behind and grows. */
static unsigned char *make_page(void)
{
    unsigned char *page = malloc(PAGE_BYTES);
    assert_non_null(page);
    uint64_t random = 12345;
    for (size_t i = 0; i < PAGE_BYTES; i++) {
        random = random_step(random);
        page[i] = i < PAGE_BYTES / 2 ? (unsigned char)"crest_total 1\n"[i % 14]
                                     : (unsigned char)(random >> 56);
    }
    return page;
}

static void write_in_pieces(crest_http_body *body, const unsigned char *page, size_t piece)
{
    for (size_t at = 0; at < PAGE_BYTES; at += piece) {
        size_t length = PAGE_BYTES - at < piece ? PAGE_BYTES - at : piece;
        assert_int_equal(crest_http_body_write(body, page + at, length), 0);
    }
}

static void check_is_page(const crest_http_body *body, const unsigned char *page)
{
    unsigned char *back = malloc(PAGE_BYTES + 1);
    assert_non_null(back);
    z_stream inflater = {0};
    assert_int_equal(inflateInit2(&inflater, 15 + 16), Z_OK);
    inflater.next_in = body->bytes;
    inflater.avail_in = (uInt)body->length;
    inflater.next_out = back;
    inflater.avail_out = PAGE_BYTES + 1;
    assert_int_equal(inflate(&inflater, Z_FINISH), Z_STREAM_END);
    assert_int_equal(inflater.avail_in, 0);
    assert_int_equal(inflater.total_out, PAGE_BYTES);
    assert_memory_equal(back, page, PAGE_BYTES);
    inflateEnd(&inflater);
    free(back);
}

static void a_page_comes_back_whole_in_any_pieces(void **state)
{
    (void)state;
    unsigned char *page = make_page();
    crest_http_body body = {.limit = CREST_HTTP_BODY_BYTES_MAX};
    static const size_t pieces[] = {7, 4096, 65536, PAGE_BYTES};
    for (unsigned i = 0; i < 4; i++) {
        assert_int_equal(crest_http_body_begin(&body, 1), CREST_OK);
        write_in_pieces(&body, page, pieces[i]);
        assert_int_equal(crest_http_body_end(&body), CREST_OK);
        assert_int_equal(body.plain_bytes, PAGE_BYTES);
        assert_true(body.length < PAGE_BYTES * 3 / 5);
        check_is_page(&body, page);
    }
    /* The same one, uncompressed. */
    assert_int_equal(crest_http_body_begin(&body, 0), CREST_OK);
    write_in_pieces(&body, page, 4096);
    assert_int_equal(crest_http_body_end(&body), CREST_OK);
    assert_int_equal(body.length, PAGE_BYTES);
    assert_memory_equal(body.bytes, page, PAGE_BYTES);
    crest_http_body_fini(&body);
    free(page);
}

static void an_empty_page_is_a_whole_gzip_file(void **state)
{
    (void)state;
    crest_http_body body = {.limit = 64};
    assert_int_equal(crest_http_body_begin(&body, 1), CREST_OK);
    assert_int_equal(crest_http_body_end(&body), CREST_OK);
    assert_int_equal(body.length, 20);
    assert_int_equal(body.bytes[0], 0x1f);
    assert_int_equal(body.bytes[1], 0x8b);
    crest_http_body_fini(&body);
}

static void the_limit_holds_to_the_byte(void **state)
{
    (void)state;
    unsigned char *page = make_page();
    crest_http_body body = {.limit = PAGE_BYTES};
    crest_http_body_begin(&body, 0);
    write_in_pieces(&body, page, 4096);
    assert_int_equal(crest_http_body_end(&body), CREST_OK);
    assert_int_not_equal(crest_http_body_write(&body, "x", 1), 0);
    assert_int_equal(crest_http_body_end(&body), CREST_LIMIT);
    assert_int_equal(body.length, PAGE_BYTES);
    /* It says no until the next begin. */
    assert_int_not_equal(crest_http_body_write(&body, "", 0), 0);
    assert_int_equal(crest_http_body_begin(&body, 0), CREST_OK);
    assert_int_equal(crest_http_body_write(&body, "x", 1), 0);
    crest_http_body_fini(&body);

    crest_http_body whole = {.limit = CREST_HTTP_BODY_BYTES_MAX};
    crest_http_body_begin(&whole, 1);
    write_in_pieces(&whole, page, 4096);
    assert_int_equal(crest_http_body_end(&whole), CREST_OK);
    for (size_t less = 0; less < 2; less++) {
        crest_http_body tight = {.limit = whole.length - less};
        crest_http_body_begin(&tight, 1);
        for (size_t at = 0; at < PAGE_BYTES; at += 4096)
            crest_http_body_write(&tight, page + at,
                                  PAGE_BYTES - at < 4096 ? PAGE_BYTES - at : 4096);
        assert_int_equal(crest_http_body_end(&tight), less ? CREST_LIMIT : CREST_OK);
        assert_true(tight.capacity <= tight.limit);
        crest_http_body_fini(&tight);
    }
    crest_http_body_fini(&whole);
    free(page);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_page_comes_back_whole_in_any_pieces),
        cmocka_unit_test(an_empty_page_is_a_whole_gzip_file),
        cmocka_unit_test(the_limit_holds_to_the_byte),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
