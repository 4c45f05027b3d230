/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Secrets from files: what is taken, what is refused, and that neither a message nor the memory
 * holds one afterwards.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "http/http_secret.h"

static char folder[64], path[96];

static int set_up(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/crest-secret-XXXXXX");
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/secret", folder);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    unlink(path);
    rmdir(path);
    return rmdir(folder);
}

static void write_file(const void *bytes, size_t length)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, bytes, length), length);
    close(fd);
}

static crest_status read_file(crest_http_secret *secret, crest_error *error)
{
    mode_t mode;
    memset(error, 0, sizeof *error);
    return crest_http_secret_read(secret, "an.option", path, &mode, error);
}

static void one_line_is_a_secret(void **state)
{
    (void)state;
    static const struct {
        const char *file, *secret;
    } cases[] = {
        {"swordfish", "swordfish"},         {"swordfish\n", "swordfish"},
        {"swordfish\r\n", "swordfish"},     {"s", "s"},
        {"with blank ", "with blank "},     {"caf\xc3\xa9\n", "caf\xc3\xa9"},
        {"pass:word/1@\n", "pass:word/1@"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        crest_http_secret secret;
        crest_error error;
        write_file(cases[i].file, strlen(cases[i].file));
        assert_int_equal(read_file(&secret, &error), CREST_OK);
        assert_string_equal(secret.text, cases[i].secret);
        crest_http_secret_wipe(&secret);
        for (size_t c = 0; c < sizeof secret.text; c++)
            assert_int_equal(secret.text[c], 0);
    }
}

static void check_refused(const char *says)
{
    crest_http_secret secret;
    crest_error error;
    assert_int_equal(read_file(&secret, &error), CREST_IO);
    assert_int_equal(error.status, CREST_IO);
    if (strstr(error.message, says) == NULL)
        fail_msg("\"%s\" is not in: %s", says, error.message);
    assert_non_null(strstr(error.message, path));
    assert_non_null(strstr(error.message, "an.option"));
    assert_null(strstr(error.message, "swordfish"));
    assert_string_equal(secret.text, "");
}

static void what_is_none_is_refused_by_the_files_name(void **state)
{
    (void)state;
    check_refused("No such file");
    write_file("", 0);
    check_refused("is empty");
    write_file("\n", 1);
    check_refused("is empty");
    write_file("\r\n", 2);
    check_refused("is empty");
    write_file("swordfish\n\n", 11);
    check_refused("more than one line");
    write_file("a\nswordfish", 11);
    check_refused("more than one line");
    write_file("swordfish\0x", 11);
    check_refused("control character");
    write_file("swordfish\r", 10);
    check_refused("control character");
    assert_int_equal(unlink(path), 0);
    assert_int_equal(mkdir(path, 0700), 0);
    check_refused("not a regular file");
    assert_int_equal(rmdir(path), 0);
    /* Nobody writes to it: opening it as others do would wait for ever. */
    assert_int_equal(mkfifo(path, 0600), 0);
    check_refused("not a regular file");
}

static void sizes_end_where_they_should(void **state)
{
    (void)state;
    static char bytes[CREST_HTTP_SECRET_BYTES_MAX + 64];
    memset(bytes, 's', sizeof bytes);
    crest_http_secret secret;
    crest_error error;
    size_t most = CREST_HTTP_SECRET_BYTES_MAX;
    write_file(bytes, most);
    assert_int_equal(read_file(&secret, &error), CREST_OK);
    assert_int_equal(strlen(secret.text), most);
    for (size_t more = 1; more < 64; more += 7) {
        write_file(bytes, most + more);
        check_refused("too large");
    }
    bytes[most] = '\r';
    bytes[most + 1] = '\n';
    write_file(bytes, most + 2);
    assert_int_equal(read_file(&secret, &error), CREST_OK);
    assert_int_equal(strlen(secret.text), most);
    write_file(bytes, most + 3);
    check_refused("too large");
}

static void texts_are_checked_the_same(void **state)
{
    (void)state;
    crest_error error;
    assert_int_equal(crest_http_secret_check("swordfish", "o", "V", &error), CREST_OK);
    assert_int_equal(crest_http_secret_check("", "o", "V", &error), CREST_INVALID_ARGUMENT);
    assert_non_null(strstr(error.message, "o: V is empty"));
    assert_int_equal(crest_http_secret_check("sword\nfish", "o", "V", &error),
                     CREST_INVALID_ARGUMENT);
    assert_null(strstr(error.message, "fish"));
    crest_http_secret_free(NULL);
    crest_http_secret_free(strdup("swordfish"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(one_line_is_a_secret, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_is_none_is_refused_by_the_files_name, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(sizes_end_where_they_should, set_up, tear_down),
        cmocka_unit_test(texts_are_checked_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
