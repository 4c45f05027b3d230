/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who a push is from: which options go together, that secrets are read anew, lent and wiped, and
 * who is told of a file that everybody can read.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <crest/crest.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "http/http_login.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static char folder[64], file[96];
static crest_error error;
static unsigned warnings;
static char warned[CREST_ERROR_BYTES];

static void write_file(const char *text, mode_t mode)
{
    int fd = open(file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    assert_int_equal(fchmod(fd, mode), 0);
    close(fd);
}

static void note_warning(crest_log_level level, const char *message, void *context)
{
    (void)context;
    assert_int_equal(level, CREST_LOG_WARNING);
    warnings++;
    strcpy(warned, message);
}

static int set_up(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/crest-login-XXXXXX");
    assert_non_null(mkdtemp(folder));
    snprintf(file, sizeof file, "%s/secret", folder);
    write_file("swordfish\n", 0600);
    warnings = 0;
    crest_log_to(note_warning, NULL);
    assert_int_equal(setenv("CREST_TEST_SECRET", "from-env", 1), 0);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    crest_log_to(NULL, NULL);
    unsetenv("CREST_TEST_SECRET");
    unlink(file);
    return rmdir(folder);
}

static crest_status init(crest_http_login *login, crest_http_login_options options)
{
    if (options.url == NULL)
        options.url = "http://h";
    options.kind = "pushgateway";
    memset(login, 0, sizeof *login);
    memset(&error, 0, sizeof error);
    crest_status status = crest_http_login_init(login, &options, &error);
    if (status != CREST_OK)
        assert_int_equal(error.status, status);
    return status;
}

static void what_does_not_go_together_is_refused(void **state)
{
    (void)state;
    const struct {
        crest_http_login_options options;
        const char *says;
    } cases[] = {
        {{.user = "u"}, "pushgateway.user has no password"},
        {{.password_file = file}, "no pushgateway.user"},
        {{.password_env = "CREST_TEST_SECRET"}, "no pushgateway.user"},
        {{.user = "u", .password_file = file, .password_env = "X"}, "both given"},
        {{.bearer_file = file, .bearer_env = "X"}, "both given"},
        {{.user = "u", .password_file = file, .bearer_file = file}, "one of the two"},
        {{.url = "http://a:b@h", .bearer_file = file}, "The URL has a user already"},
        {{.url = "http://a:b@h", .user = "u", .password_file = file}, "The URL has a user already"},
        {{.user = "", .password_file = file}, "is empty, or has a colon"},
        {{.user = "a:b", .password_file = file}, "has a colon"},
        {{.user = "a\r\nX: y", .password_file = file}, "control character"},
        {{.key_file = file}, "there is none"},
        {{.key_password_file = file}, "there is none"},
        {{.cert_file = "/nonexistent/c"}, "pushgateway.cert-file: the file /nonexistent/c"},
        {{.cert_file = file, .key_file = "/nonexistent/k"}, "pushgateway.key-file: the file"},
        {{.user = "u", .password_file = "/nonexistent/p"}, "pushgateway.password-file: the file"},
        {{.bearer_file = "/nonexistent/b"}, "/nonexistent/b cannot be read: No such file"},
        {{.cert_file = file, .key_password_file = "/nonexistent/kp"}, "key-password-file: the fi"},
        {{.bearer_env = "CREST_TEST_UNSET"},
         "the environment variable CREST_TEST_UNSET is not set"},
        {{.user = "u", .password_env = "CREST_TEST_UNSET"}, "pushgateway.password-env: the env"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        crest_http_login login;
        if (init(&login, cases[i].options) != CREST_INVALID_ARGUMENT)
            fail_msg("case %zu: %s", i, error.message);
        if (strstr(error.message, cases[i].says) == NULL)
            fail_msg("\"%s\" is not in: %s", cases[i].says, error.message);
        assert_null(strstr(error.message, "swordfish"));
        crest_http_login_fini(&login);
    }
    assert_int_equal(warnings, 0);
}

static void tokens_have_a_tokens_letters(void **state)
{
    (void)state;
    crest_http_login login;
    write_file("sword fish", 0600);
    assert_int_equal(init(&login, (crest_http_login_options){.bearer_file = file}),
                     CREST_INVALID_ARGUMENT);
    assert_non_null(strstr(error.message, file));
    assert_null(strstr(error.message, "fish"));
    crest_http_login_fini(&login);
    setenv("CREST_TEST_SECRET", "\xc3\xa9", 1);
    assert_int_equal(init(&login, (crest_http_login_options){.bearer_env = "CREST_TEST_SECRET"}),
                     CREST_INVALID_ARGUMENT);
    assert_non_null(strstr(error.message, "pushgateway.bearer-env"));
    crest_http_login_fini(&login);
    setenv("CREST_TEST_SECRET", "two\nlines", 1);
    assert_int_equal(init(&login, (crest_http_login_options){.bearer_env = "CREST_TEST_SECRET"}),
                     CREST_INVALID_ARGUMENT);
    assert_null(strstr(error.message, "lines\""));
    crest_http_login_fini(&login);
}

static void a_file_is_read_anew_for_each_push(void **state)
{
    (void)state;
    crest_http_login login;
    crest_http_request request = {.url = "http://h"};
    assert_int_equal(init(&login, (crest_http_login_options){.user = "u", .password_file = file}),
                     CREST_OK);
    /* Nothing is kept from the look at the start. */
    assert_string_equal(login.secrets[CREST_HTTP_LOGIN_PASSWORD].text, "");
    assert_int_equal(crest_http_login_read(&login, &error), CREST_OK);
    crest_http_login_into(&login, &request);
    assert_string_equal(request.user, "u");
    assert_string_equal(request.password, "swordfish");
    assert_null(request.bearer);
    assert_null(request.cert_file);
    crest_http_login_wipe(&login);
    assert_string_equal(request.password, "");
    for (size_t i = 0; i < sizeof login.secrets; i++)
        assert_int_equal(((const char *)login.secrets)[i], 0);
    write_file("next\r\n", 0600);
    assert_int_equal(crest_http_login_read(&login, &error), CREST_OK);
    assert_string_equal(request.password, "next");
    unlink(file);
    assert_int_equal(crest_http_login_read(&login, &error), CREST_IO);
    assert_int_equal(error.status, CREST_IO);
    assert_string_equal(request.password, "");
    crest_http_login_fini(&login);
}

static void the_environment_is_read_once(void **state)
{
    (void)state;
    crest_http_login login;
    crest_http_request request = {.url = "http://h"};
    assert_int_equal(init(&login, (crest_http_login_options){.bearer_env = "CREST_TEST_SECRET"}),
                     CREST_OK);
    setenv("CREST_TEST_SECRET", "other", 1);
    assert_int_equal(crest_http_login_read(&login, &error), CREST_OK);
    crest_http_login_into(&login, &request);
    assert_string_equal(request.bearer, "from-env");
    assert_null(request.user);
    crest_http_login_wipe(&login);
    crest_http_login_fini(&login);
}

static void certificates_go_by_their_files(void **state)
{
    (void)state;
    crest_http_login login;
    crest_http_request request = {.url = "https://h"};
    assert_int_equal(init(&login, (crest_http_login_options){.cert_file = file,
                                                             .key_file = file,
                                                             .key_password_file = file}),
                     CREST_OK);
    assert_int_equal(crest_http_login_read(&login, &error), CREST_OK);
    crest_http_login_into(&login, &request);
    assert_string_equal(request.cert_file, file);
    assert_string_equal(request.key_file, file);
    assert_string_equal(request.key_password, "swordfish");
    crest_http_login_fini(&login);
}

static void a_file_for_everybody_is_told_once(void **state)
{
    (void)state;
    crest_http_login login;
    write_file("swordfish\n", 0640);
    assert_int_equal(init(&login, (crest_http_login_options){.bearer_file = file}), CREST_OK);
    assert_int_equal(warnings, 0);
    write_file("swordfish\n", 0644);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(crest_http_login_read(&login, &error), CREST_OK);
        crest_http_login_wipe(&login);
        assert_int_equal(warnings, 1);
    }
    assert_non_null(strstr(warned, file));
    assert_non_null(strstr(warned, "mode 0644"));
    assert_null(strstr(warned, "swordfish"));
    crest_http_login_fini(&login);
    /* A key is a secret, a certificate is none. */
    assert_int_equal(init(&login, (crest_http_login_options){.cert_file = file}), CREST_OK);
    assert_int_equal(warnings, 1);
    crest_http_login_fini(&login);
    assert_int_equal(init(&login, (crest_http_login_options){.cert_file = file, .key_file = file}),
                     CREST_OK);
    assert_int_equal(warnings, 2);
    crest_http_login_fini(&login);
}

int main(void)
{
#define WITH_FILE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        WITH_FILE(what_does_not_go_together_is_refused),
        WITH_FILE(tokens_have_a_tokens_letters),
        WITH_FILE(a_file_is_read_anew_for_each_push),
        WITH_FILE(the_environment_is_read_once),
        WITH_FILE(certificates_go_by_their_files),
        WITH_FILE(a_file_for_everybody_is_told_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
