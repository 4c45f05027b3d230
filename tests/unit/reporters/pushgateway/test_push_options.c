/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kind "pushgateway": what each option as text does on the wire, what is said of a wrong one,
 * and that no secret is ever in a message.
 */
#include "support/push_fixture.h"

#include <fcntl.h>
#include <sys/stat.h>

#define MS PUSH_MS
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static void options_as_text_make_one(void **state)
{
    (void)state;
    assert_string_equal(crest_pushgateway_kind.name, "pushgateway");
    crest_reporter *reporter = create("pushgateway.job=j,pushgateway.instance=i,"
                                      "pushgateway.label.zone=a/b,pushgateway.label.dc=x,"
                                      "pushgateway.gzip=off,pushgateway.windows=off,"
                                      "pushgateway.delete-on-stop=on,"
                                      "pushgateway.interval=5s,pushgateway.timeout=1s");
    assert_non_null(reporter);
    assert_int_equal(push(reporter), CREST_OK);
    assert_true(
        fake_server_got(&server, "PUT /metrics/job/j/instance/i/dc/x/zone@base64/YS9i HTTP"));
    assert_false(fake_server_got(&server, "Content-Encoding"));
    assert_int_equal(reporter->stop(reporter, crest_now() + FAKE_SERVER_MS * MS, &error), CREST_OK);
    assert_true(fake_server_got(&server, "DELETE /metrics/job/j/"));
    crest_reporter_free(reporter);
    reporter = create("");
    assert_non_null(reporter);
    assert_int_equal(push(reporter), CREST_OK);
    assert_true(fake_server_got(&server, "PUT /metrics/job/rnode/instance/node-1 HTTP"));
    assert_true(fake_server_got(&server, "Content-Encoding: gzip"));
    crest_reporter_free(reporter);
}

static void bad_options_as_text_say_why(void **state)
{
    (void)state;
    static const struct {
        const char *text, *says;
    } cases[] = {
        {"pushgateway.gzip=maybe", "pushgateway.gzip"},
        {"pushgateway.windows=2", "pushgateway.windows"},
        {"pushgateway.delete-on-stop=", "pushgateway.delete-on-stop"},
        {"pushgateway.job=", "\"job\" is empty"},
        {"pushgateway.label.a-b=x", "\"a-b\" cannot be the key"},
        {"pushgateway.label.instance=x", "option of its own"},
        {"pushgateway.method=patch", "pushgateway.method=patch is not a method"},
        {"pushgateway.method=", "write put"},
        {"pushgateway.proxy=proxy:3128", "does not begin with http://"},
        {"pushgateway.proxy=https://proxy:3128", "does not begin with http://"},
        {"pushgateway.proxy=http://proxy", "it has no port"},
        {"pushgateway.proxy=http://[::1]", "it has no port"},
        {"pushgateway.proxy=http://u:fjord@proxy", "\"http://***@proxy\" cannot be used"},
        {"pushgateway.proxy=http://proxy:3128/x", "it has a path"},
        {"pushgateway.user=u", "pushgateway.user has no password"},
        {"pushgateway.password-file=/etc/hostname", "no pushgateway.user"},
        {"pushgateway.bearer-file=/nonexistent/t", "pushgateway.bearer-file: the file"},
        {"pushgateway.bearer-env=CREST_TEST_UNSET", "CREST_TEST_UNSET is not set"},
        {"pushgateway.cert-file=/nonexistent/c", "pushgateway.cert-file: the file"},
        {"pushgateway.key-file=/nonexistent/k", "belong to a pushgateway.cert-file"},
        {"pushgateway.ca-file=/nonexistent/a", "certificate authorities /nonexistent/a"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        assert_null(create(cases[i].text));
        assert_int_not_equal(error.status, CREST_OK);
        check_says(cases[i].says);
        assert_null(strstr(error.message, "fjord"));
    }
    char many[2048] = "pushgateway.label.k=v";
    for (unsigned i = 0; i < CREST_PUSHGATEWAY_LABELS_MAX; i++)
        sprintf(many + strlen(many), ",pushgateway.label.k%u=v", i);
    assert_null(create(many));
    assert_int_equal(error.status, CREST_LIMIT);
}

static void post_is_a_method(void **state)
{
    (void)state;
    static const char *const texts[] = {"pushgateway.method=post,pushgateway.delete-on-stop=on",
                                        "pushgateway.method=POST,pushgateway.delete-on-stop=on"};
    for (size_t i = 0; i < COUNT(texts); i++) {
        crest_reporter *reporter = create(texts[i]);
        assert_non_null(reporter);
        assert_int_equal(push(reporter), CREST_OK);
        assert_true(fake_server_got(&server, "POST /metrics/job/rnode/instance/node-1 HTTP/1.1"));
        assert_true(fake_server_got(&server, "Content-Type: text/plain; version=0.0.4"));
        check_page("\npush_things_done_total 3\n", 1);
        assert_int_equal(reporter->stop(reporter, crest_now() + FAKE_SERVER_MS * MS, &error),
                         CREST_OK);
        assert_true(fake_server_got(&server, "DELETE /metrics/job/rnode/instance/node-1 HTTP"));
        crest_reporter_free(reporter);
    }
    crest_reporter *reporter = create("pushgateway.method=put");
    assert_int_equal(push(reporter), CREST_OK);
    assert_true(fake_server_got(&server, "PUT /metrics/"));
    crest_reporter_free(reporter);
}

/* ---- secrets ---- */

static char secret_file[] = "/tmp/crest-push-secret-XXXXXX";

static void write_secret(const char *text)
{
    int fd = open(secret_file, O_WRONLY | O_TRUNC | O_CLOEXEC);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    close(fd);
}

static int set_up_secret(void **state)
{
    strcpy(secret_file, "/tmp/crest-push-secret-XXXXXX");
    int fd = mkstemp(secret_file);
    assert_true(fd >= 0);
    close(fd);
    return set_up(state);
}

static int tear_down_secret(void **state)
{
    unlink(secret_file);
    return tear_down(state);
}

static crest_reporter *create_with(const char *format)
{
    char text[256];
    snprintf(text, sizeof text, format, secret_file);
    crest_reporter *reporter = create(text);
    if (reporter == NULL)
        fail_msg("%s", error.message);
    return reporter;
}

static void a_password_is_exchanged_between_pushes(void **state)
{
    (void)state;
    write_secret("fjord\n");
    crest_reporter *reporter = create_with("pushgateway.user=us,pushgateway.password-file=%s");
    assert_int_equal(push(reporter), CREST_OK);
    assert_true(fake_server_got(&server, "\r\nAuthorization: Basic dXM6ZmpvcmQ=\r\n"));
    write_secret("fish:1");
    assert_int_equal(push(reporter), CREST_OK);
    assert_true(fake_server_got(&server, "\r\nAuthorization: Basic dXM6ZmlzaDox\r\n"));
    /* A file that has gone for a moment is no reason to push without. */
    unsigned requests = fake_server_requests(&server);
    write_secret("");
    assert_int_equal(push(reporter), CREST_IO);
    check_says("is empty");
    check_says(secret_file);
    assert_int_equal(fake_server_requests(&server), requests);
    write_secret("fish:1");
    assert_int_equal(push(reporter), CREST_OK);
    crest_reporter_free(reporter);
}

static void a_token_goes_as_bearer(void **state)
{
    (void)state;
    write_secret("sword.fish-1\n");
    crest_reporter *reporter = create_with("pushgateway.bearer-file=%s");
    assert_int_equal(push(reporter), CREST_OK);
    assert_true(fake_server_got(&server, "\r\nAuthorization: Bearer sword.fish-1\r\n"));
    crest_reporter_free(reporter);
    setenv("CREST_TEST_TOKEN", "from-env", 1);
    reporter = create("pushgateway.bearer-env=CREST_TEST_TOKEN");
    assert_non_null(reporter);
    unsetenv("CREST_TEST_TOKEN");
    assert_int_equal(push(reporter), CREST_OK);
    assert_true(fake_server_got(&server, "\r\nAuthorization: Bearer from-env\r\n"));
    crest_reporter_free(reporter);
    setenv("CREST_TEST_PASSWORD", "fjord", 1);
    reporter = create("pushgateway.user=us,pushgateway.password-env=CREST_TEST_PASSWORD");
    assert_non_null(reporter);
    unsetenv("CREST_TEST_PASSWORD");
    assert_int_equal(push(reporter), CREST_OK);
    assert_true(fake_server_got(&server, "\r\nAuthorization: Basic dXM6ZmpvcmQ=\r\n"));
    crest_reporter_free(reporter);
}

/* Credentials are for the gateway alone: who is sent elsewhere does not go there. */
static void a_redirect_gets_no_credentials(void **state)
{
    (void)state;
    fake_server elsewhere;
    fake_server_start(&elsewhere);
    char words[256];
    snprintf(words, sizeof words,
             "HTTP/1.1 307 There\r\nLocation: http://127.0.0.1:%u/\r\nContent-Length: 0\r\n\r\n",
             elsewhere.port);
    fake_server_say(&server, FAKE_ANSWER, words);
    write_secret("swordfish");
    crest_reporter *reporter = create_with("pushgateway.bearer-file=%s");
    assert_int_equal(push(reporter), CREST_REFUSED);
    check_says("not followed");
    assert_int_equal(fake_server_connections(&elsewhere), 0);
    crest_reporter_free(reporter);
    fake_server_stop(&elsewhere);
}

static void secrets_stay_out_of_messages(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "pushgateway.bearer-file=%s", "pushgateway.user=us,pushgateway.password-file=%s",
        "pushgateway.cert-file=/etc/hostname,pushgateway.key-password-file=%s"};
    static const struct {
        fake_manner manner;
        const char *words;
    } cases[] = {
        {FAKE_ANSWER, "HTTP/1.1 401 No\r\nContent-Length: 0\r\n\r\n"},
        {FAKE_ANSWER, "HTTP/1.1 307 R\r\nLocation: /y\r\nContent-Length: 0\r\n\r\n"},
        {FAKE_ANSWER,
         "HTTP/1.1 400 N\r\nContent-Length: 33\r\n\r\ncollected metric \"a\" is not a GAUGE"},
        {FAKE_ANSWER, "HTTP/1.1 503 N\r\nContent-Length: 0\r\n\r\n"},
        {FAKE_ANSWER_CLOSE, "+OK no HTTP\r\n"},
        {FAKE_CLOSE_AT_ONCE, ""},
        {FAKE_SILENT, ""},
    };
    for (size_t t = 0; t < COUNT(texts); t++) {
        write_secret("swordfish");
        crest_reporter *reporter = create_with(texts[t]);
        for (size_t i = 0; i < COUNT(cases); i++) {
            fake_server_say(&server, cases[i].manner, cases[i].words);
            assert_int_not_equal(push_as(reporter, &resource, 0, 300), CREST_OK);
            assert_null(strstr(error.message, "swordfish"));
            assert_null(strstr(error.message, "c3dvcmRmaXNo"));
        }
        write_secret("swordfish\nswordfish");
        assert_int_equal(push(reporter), CREST_IO);
        assert_null(strstr(error.message, "swordfish"));
        crest_reporter_free(reporter);
    }
}

static void a_proxys_password_stays_out_of_messages(void **state)
{
    (void)state;
    char text[128];
    snprintf(text, sizeof text, "pushgateway.proxy=http://us:fjord@127.0.0.1:%u", server.port);
    crest_reporter *reporter = create(text);
    assert_non_null(reporter);
    fake_server_say(&server, FAKE_ANSWER, "HTTP/1.1 407 Who\r\nContent-Length: 0\r\n\r\n");
    assert_int_equal(push(reporter), CREST_REFUSED);
    check_says("pushgateway.proxy");
    assert_null(strstr(error.message, "fjord"));
    fake_server_say(&server, FAKE_SILENT, "");
    assert_int_equal(push_as(reporter, &resource, 0, 300), CREST_TIMED_OUT);
    check_says("through the proxy http://***@127.0.0.1:");
    assert_null(strstr(error.message, "fjord"));
    assert_true(fake_server_got(&server, "PUT http://127.0.0.1:"));
    assert_true(fake_server_got(&server, "\r\nProxy-Authorization: Basic dXM6ZmpvcmQ=\r\n"));
    crest_reporter_free(reporter);
}

int main(void)
{
#define WITH_SECRET(test) cmocka_unit_test_setup_teardown(test, set_up_secret, tear_down_secret)
    const struct CMUnitTest tests[] = {
        PUSH_WITH_SERVER(options_as_text_make_one),
        PUSH_WITH_SERVER(bad_options_as_text_say_why),
        PUSH_WITH_SERVER(post_is_a_method),
        WITH_SECRET(a_password_is_exchanged_between_pushes),
        WITH_SECRET(a_token_goes_as_bearer),
        WITH_SECRET(a_redirect_gets_no_credentials),
        WITH_SECRET(secrets_stay_out_of_messages),
        PUSH_WITH_SERVER(a_proxys_password_stays_out_of_messages),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
