/* SPDX-License-Identifier: Apache-2.0 */
/*
 * names.h: the grammar of names and label keys, and the exported names, by table.
 */
#include "names/names.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#define LENGTH(array) (sizeof(array) / sizeof(array)[0])

static void test_valid_names(void **state)
{
    (void)state;
    static const char *const valid[] = {
        "a",
        "a1",
        "casper.blocks-created",
        "rchain.comm.rp.connect.connect-time",
        "rchain.rholang.reportingRuntime.lock.queue",
        "rchain.casper.replay-into-merge-block.uncommon_ancestors",
        "process.cpu",
        "a_",
        "a__b",
        "a-1.2-c",
        "up.time",
        "crest.targets",
        "scrape.duration.of-ours",
    };
    char why[CREST_NAMES_WHY_BYTES];
    for (size_t i = 0; i < LENGTH(valid); i++) {
        strcpy(why, "unset");
        assert_int_equal(crest_name_check(valid[i], why, sizeof why), CREST_OK);
        assert_string_equal(why, "");
    }
}

typedef struct refused {
    const char *text;
    const char *why;
} refused;

static void test_invalid_names(void **state)
{
    (void)state;
    static const refused invalid[] = {
        {NULL, "it is empty"},
        {"", "it is empty"},
        {"1a", "it begins with '1', not with a letter"},
        {"_a", "it begins with '_', not with a letter"},
        {"__name__", "it begins with '_', not with a letter"},
        {".a", "it begins with '.', not with a letter"},
        {"\xc3\xa4", "it begins with \\xc3, not with a letter"},
        {"a.", "it ends with a separator"},
        {"a-", "it ends with a separator"},
        {"a..b", "it has two separators in a row, at byte 2"},
        {"a.-b", "it has two separators in a row, at byte 2"},
        {"a b", "it has \\x20 at byte 2; only letters, digits, _, . and - are valid"},
        {"a:b", "it has ':' at byte 2; only letters, digits, _, . and - are valid"},
        {"a/b", "it has '/' at byte 2; only letters, digits, _, . and - are valid"},
        {"a\nb", "it has \\x0a at byte 2; only letters, digits, _, . and - are valid"},
        {"a{b=\"c\"}", "it has '{' at byte 2; only letters, digits, _, . and - are valid"},
        {"abc\xff", "it has \\xff at byte 4; only letters, digits, _, . and - are valid"},
        {"up", "up is exported by Prometheus, the Pushgateway or Crest itself"},
        {"push-time", "push_time is exported by Prometheus, the Pushgateway or Crest itself"},
        {"push.failure-time.seconds", "push_failure_time_seconds is exported by Prometheus, the "
                                      "Pushgateway or Crest itself"},
        {"scrape.samples.scraped",
         "scrape_samples_scraped is exported by Prometheus, the Pushgateway or Crest itself"},
        {"ALERTS-FOR-STATE",
         "ALERTS_FOR_STATE is exported by Prometheus, the Pushgateway or Crest itself"},
        {"crest.target", "crest_target is exported by Prometheus, the Pushgateway or Crest itself"},
        {"crest.target-info",
         "crest_target_info is exported by Prometheus, the Pushgateway or Crest itself"},
    };
    char why[CREST_NAMES_WHY_BYTES];
    for (size_t i = 0; i < LENGTH(invalid); i++) {
        assert_int_equal(crest_name_check(invalid[i].text, why, sizeof why), CREST_INVALID_NAME);
        assert_string_equal(why, invalid[i].why);
        assert_int_equal(crest_name_check(invalid[i].text, NULL, 0), CREST_INVALID_NAME);
    }
}

static void test_name_length(void **state)
{
    (void)state;
    char name[CREST_NAME_BYTES_MAX + 2], why[CREST_NAMES_WHY_BYTES];
    memset(name, 'n', sizeof name);
    name[CREST_NAME_BYTES_MAX] = '\0';
    assert_int_equal(crest_name_check(name, why, sizeof why), CREST_OK);
    name[CREST_NAME_BYTES_MAX] = 'n';
    name[CREST_NAME_BYTES_MAX + 1] = '\0';
    assert_int_equal(crest_name_check(name, why, sizeof why), CREST_INVALID_NAME);
    assert_string_equal(why, "it is longer than 200 bytes, prefix included");
    assert_int_equal(crest_name_check(name, why, 6), CREST_INVALID_NAME);
    assert_string_equal(why, "it is");
}

/* Every byte, in every place: no name that is accepted may need escaping anywhere. */
static void test_name_alphabet(void **state)
{
    (void)state;
    static const char word[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
    unsigned accepted = 0;
    for (int byte = 1; byte < 256; byte++) {
        char name[] = {'a', (char)byte, 'b', '\0'};
        int valid = strchr(word, byte) != NULL || byte == '.' || byte == '-';
        assert_int_equal(crest_name_check(name, NULL, 0) == CREST_OK, valid);
        char key[] = {'a', (char)byte, '\0'};
        assert_int_equal(crest_label_key_check(key, NULL, 0) == CREST_OK,
                         strchr(word, byte) != NULL);
        accepted += valid;
    }
    assert_int_equal(accepted, 65);
}

static void test_label_keys(void **state)
{
    (void)state;
    static const refused invalid[] = {
        {NULL, "a label key is empty"},
        {"", "a label key is empty"},
        {"_peer", "label key _peer begins with '_', not with a letter"},
        {"__name__", "label key __name__ begins with '_', not with a letter"},
        {"9", "label key 9 begins with '9', not with a letter"},
        {"a-b", "a label key has '-' at byte 2; only letters, digits and _ are valid"},
        {"a.b", "a label key has '.' at byte 2; only letters, digits and _ are valid"},
        {"le", "label key le is one that exporters use themselves"},
        {"quantile", "label key quantile is one that exporters use themselves"},
        {"outcome", "label key outcome is one that exporters use themselves"},
        {"job", "label key job is one that exporters use themselves"},
        {"instance", "label key instance is one that exporters use themselves"},
    };
    char why[CREST_NAMES_WHY_BYTES];
    for (size_t i = 0; i < LENGTH(invalid); i++) {
        assert_int_equal(crest_label_key_check(invalid[i].text, why, sizeof why),
                         CREST_INVALID_LABEL);
        assert_string_equal(why, invalid[i].why);
    }
    assert_int_equal(crest_label_key_check("Peer_1", why, sizeof why), CREST_OK);
    assert_string_equal(why, "");
    assert_int_equal(crest_label_key_check("outcome2", NULL, 0), CREST_OK);
    assert_int_equal(crest_label_key_syntax("instance", NULL, 0), CREST_OK);

    char key[CREST_LABEL_KEY_BYTES_MAX + 2];
    memset(key, 'k', sizeof key);
    key[CREST_LABEL_KEY_BYTES_MAX] = '\0';
    assert_int_equal(crest_label_key_check(key, why, sizeof why), CREST_OK);
    key[CREST_LABEL_KEY_BYTES_MAX] = 'k';
    key[CREST_LABEL_KEY_BYTES_MAX + 1] = '\0';
    assert_int_equal(crest_label_key_check(key, why, sizeof why), CREST_INVALID_LABEL);
    assert_string_equal(why, "a label key is longer than 100 bytes");
}

static void test_label_key_sets(void **state)
{
    (void)state;
    char why[CREST_NAMES_WHY_BYTES];
    static const char *const keys[] = {"a", "b", "c", "d", "e", "f", "g", "h", "i"};
    assert_int_equal(crest_label_keys_check(NULL, 0, why, sizeof why), CREST_OK);
    assert_int_equal(crest_label_keys_check(keys, CREST_LABELS_MAX, why, sizeof why), CREST_OK);
    assert_string_equal(why, "");
    assert_int_equal(crest_label_keys_check(keys, CREST_LABELS_MAX + 1, why, sizeof why),
                     CREST_INVALID_LABEL);
    assert_string_equal(why, "it has 9 label keys; 8 is the limit");
    static const char *const twice[] = {"kind", "peer", "kind"};
    assert_int_equal(crest_label_keys_check(twice, 2, why, sizeof why), CREST_OK);
    assert_int_equal(crest_label_keys_check(twice, 3, why, sizeof why), CREST_INVALID_LABEL);
    assert_string_equal(why, "label key kind is there twice");
    static const char *const reserved[] = {"kind", "le"};
    assert_int_equal(crest_label_keys_check(reserved, 2, why, sizeof why), CREST_INVALID_LABEL);
}

typedef struct exported {
    const char *canonical;
    crest_kind kind;
    crest_unit unit;
    const char *qualifier;
    const char *name;
} exported;

static void test_exported_names(void **state)
{
    (void)state;
    static const exported names[] = {
        {"comm.events", CREST_KIND_COUNTER, CREST_NONE, NULL, "comm_events_total"},
        {"comm.events", CREST_KIND_COUNTER, CREST_NONE, "", "comm_events_total"},
        {"comm.events", CREST_KIND_COUNTER, CREST_NONE, "rate1m", "comm_events_rate1m"},
        {"process.cpu", CREST_KIND_COUNTER, CREST_NANOSECONDS, NULL, "process_cpu_seconds_total"},
        {"process.cpu", CREST_KIND_COUNTER, CREST_MILLISECONDS, "rate1m",
         "process_cpu_rate1m_seconds"},
        {"net.received", CREST_KIND_COUNTER, CREST_BYTES, NULL, "net_received_bytes_total"},
        {"net.received", CREST_KIND_COUNTER, CREST_BYTES, "peak1m", "net_received_peak1m_bytes"},
        {"net.received-bytes", CREST_KIND_COUNTER, CREST_BYTES, NULL, "net_received_bytes_total"},
        {"net.received-bytes", CREST_KIND_COUNTER, CREST_BYTES, "rate1m",
         "net_received_rate1m_bytes"},
        {"net.received.bytes_total", CREST_KIND_COUNTER, CREST_BYTES, NULL,
         "net_received_bytes_total"},
        {"rpc.requests-total", CREST_KIND_COUNTER, CREST_NONE, NULL, "rpc_requests_total"},
        {"rpc.requests-total", CREST_KIND_COUNTER, CREST_NONE, "rate1m", "rpc_requests_rate1m"},
        {"rpc.subtotal", CREST_KIND_COUNTER, CREST_NONE, NULL, "rpc_subtotal_total"},
        {"net.kilobytes", CREST_KIND_COUNTER, CREST_BYTES, NULL, "net_kilobytes_bytes_total"},
        {"comm.peers", CREST_KIND_GAUGE, CREST_NONE, NULL, "comm_peers"},
        {"pool.total", CREST_KIND_GAUGE, CREST_NONE, NULL, "pool_total"},
        {"process.start-time", CREST_KIND_GAUGE, CREST_SECONDS, NULL, "process_start_time_seconds"},
        {"cache.fill", CREST_KIND_GAUGE, CREST_RATIO, NULL, "cache_fill_ratio"},
        {"cache.hit-ratio", CREST_KIND_GAUGE, CREST_RATIO, NULL, "cache_hit_ratio"},
        {"comm.ping-time", CREST_KIND_TIMER, CREST_NONE, NULL, "comm_ping_time_seconds"},
        {"comm.ping-time", CREST_KIND_TIMER, CREST_NONE, "rate1m", "comm_ping_time_rate1m"},
        {"comm.ping-time", CREST_KIND_TIMER, CREST_NONE, "peak1m", "comm_ping_time_peak1m"},
        {"comm.ping-time", CREST_KIND_TIMER, CREST_NONE, "avg1m", "comm_ping_time_avg1m_seconds"},
        {"comm.ping-time", CREST_KIND_TIMER, CREST_BYTES, "max1m", "comm_ping_time_max1m_seconds"},
        {"casper.block-size", CREST_KIND_HISTOGRAM, CREST_BYTES, NULL, "casper_block_size_bytes"},
        {"casper.block-size", CREST_KIND_HISTOGRAM, CREST_BYTES, "max1m",
         "casper_block_size_max1m_bytes"},
        {"casper.block-size", CREST_KIND_HISTOGRAM, CREST_BYTES, "rate1m",
         "casper_block_size_rate1m"},
        {"a.queue", CREST_KIND_HISTOGRAM, CREST_NONE, "avg1m", "a_queue_avg1m"},
        {"a.wait", CREST_KIND_HISTOGRAM, CREST_MICROSECONDS, NULL, "a_wait_seconds"},
        {"bytes", CREST_KIND_GAUGE, CREST_BYTES, NULL, "bytes_bytes"},
        {"total", CREST_KIND_COUNTER, CREST_NONE, NULL, "total_total"},
        {"", CREST_KIND_GAUGE, CREST_NONE, NULL, ""},
        {NULL, CREST_KIND_GAUGE, CREST_NONE, NULL, ""},
    };
    for (size_t i = 0; i < LENGTH(names); i++) {
        const exported *e = &names[i];
        char text[CREST_EXPORTED_BYTES_MAX];
        size_t length =
            crest_exported_name(e->canonical, e->kind, e->unit, e->qualifier, text, sizeof text);
        assert_string_equal(text, e->name);
        assert_int_equal(length, strlen(e->name));

        /* cut to every size, and never beyond it */
        for (size_t size = 0; size <= length + 1; size++) {
            char cut[CREST_EXPORTED_BYTES_MAX];
            memset(cut, '#', sizeof cut);
            assert_int_equal(
                crest_exported_name(e->canonical, e->kind, e->unit, e->qualifier, cut, size),
                length);
            assert_int_equal(cut[size], '#');
            if (size > 0) {
                assert_int_equal(strlen(cut), size - 1);
                assert_memory_equal(cut, e->name, size - 1);
            }
        }
    }
    char base[16];
    assert_int_equal(crest_exported_base("a.b-c_d", base, sizeof base), 7);
    assert_string_equal(base, "a_b_c_d");
    assert_int_equal(crest_exported_base("a.b-c_d", base, 4), 7);
    assert_string_equal(base, "a_b");
}

static void claims_are(const char *canonical, crest_kind kind, crest_unit unit,
                       const char *const *wanted, unsigned count)
{
    char names[CREST_EXPORTED_CLAIMS_MAX][CREST_EXPORTED_BYTES_MAX];
    assert_int_equal(crest_exported_claims(canonical, kind, unit, names, LENGTH(names)), count);
    for (unsigned i = 0; i < count; i++)
        assert_string_equal(names[i], wanted[i]);
    memset(names, '#', sizeof names);
    assert_int_equal(crest_exported_claims(canonical, kind, unit, names, 1), count);
    assert_string_equal(names[0], wanted[0]);
    assert_int_equal(names[1][0], '#');
}

static void test_name_claims(void **state)
{
    (void)state;
    static const char *const counter[] = {
        "net_received_bytes_total",
        "net_received_bytes",
        "net_received_bytes_created",
    };
    claims_are("net.received", CREST_KIND_COUNTER, CREST_BYTES, counter, LENGTH(counter));
    claims_are("net.received-bytes", CREST_KIND_COUNTER, CREST_BYTES, counter, LENGTH(counter));
    static const char *const gauge[] = {"comm_peers"};
    claims_are("comm.peers", CREST_KIND_GAUGE, CREST_NONE, gauge, LENGTH(gauge));
    static const char *const timer[] = {
        "x_time_seconds",       "x_time_seconds_bucket",  "x_time_seconds_sum",
        "x_time_seconds_count", "x_time_seconds_created",
    };
    claims_are("x.time", CREST_KIND_TIMER, CREST_NONE, timer, LENGTH(timer));
    claims_are("x.time", CREST_KIND_HISTOGRAM, CREST_MICROSECONDS, timer, LENGTH(timer));
    assert_int_equal(crest_exported_claims("x", CREST_KIND_NONE, CREST_NONE, NULL, 0), 0);
}

/* The longest name of every kind and unit still has room for all that is put behind it. */
static void test_longest_claims(void **state)
{
    (void)state;
    char name[CREST_NAME_BYTES_MAX + 1];
    memset(name, 'n', CREST_NAME_BYTES_MAX);
    name[CREST_NAME_BYTES_MAX] = '\0';
    for (int kind = CREST_KIND_COUNTER; kind <= CREST_KIND_TIMER; kind++) {
        for (int unit = CREST_NONE; unit <= CREST_RATIO; unit++) {
            char names[CREST_EXPORTED_CLAIMS_MAX][CREST_EXPORTED_BYTES_MAX];
            unsigned count = crest_exported_claims(name, kind, unit, names, LENGTH(names));
            assert_in_range(count, 1, CREST_EXPORTED_CLAIMS_MAX);
            for (unsigned i = 0; i < count; i++)
                assert_in_range(strlen(names[i]), CREST_NAME_BYTES_MAX,
                                CREST_EXPORTED_BYTES_MAX - 2);
        }
    }
}

static void test_units(void **state)
{
    (void)state;
    assert_string_equal(crest_unit_suffix(CREST_NONE), "");
    assert_string_equal(crest_unit_suffix(CREST_MICROSECONDS), "seconds");
    assert_string_equal(crest_unit_suffix((crest_unit)99), "");
    assert_int_equal(crest_unit_decimals(CREST_NANOSECONDS), 9);
    assert_int_equal(crest_unit_decimals(CREST_MICROSECONDS), 6);
    assert_int_equal(crest_unit_decimals(CREST_MILLISECONDS), 3);
    assert_int_equal(crest_unit_decimals(CREST_SECONDS), 0);
    assert_int_equal(crest_unit_of(CREST_KIND_TIMER, CREST_BYTES), CREST_NANOSECONDS);
    assert_int_equal(crest_unit_of(CREST_KIND_GAUGE, CREST_BYTES), CREST_BYTES);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_valid_names),    cmocka_unit_test(test_invalid_names),
        cmocka_unit_test(test_name_length),    cmocka_unit_test(test_name_alphabet),
        cmocka_unit_test(test_label_keys),     cmocka_unit_test(test_label_key_sets),
        cmocka_unit_test(test_exported_names), cmocka_unit_test(test_name_claims),
        cmocka_unit_test(test_longest_claims), cmocka_unit_test(test_units),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
