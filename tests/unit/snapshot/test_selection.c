/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Patterns of names, and snapshots that are narrowed by them.
 */
#include "base/alloc.h"
#include "support/core_fixture.h"
#include "names/globs.h"

static void test_globs(void **state)
{
    (void)state;
    static const struct {
        const char *globs, *name;
        int matches;
    } cases[] = {
        {"comm.*", "comm.peers", 1},
        {"comm.*", "comm.", 1},
        {"comm.*", "comm", 0},
        {"comm.*", "xcomm.peers", 0},
        {"*", "", 1},
        {"*", "anything", 1},
        {"?", "", 0},
        {"?", "a", 1},
        {"?", "ab", 0},
        {"comm.peers", "comm.peers", 1},
        {"comm.peer", "comm.peers", 0},
        {"*.peers", "comm.peers", 1},
        {"c*m.*s", "comm.peers", 1},
        {"c*m.*s", "comm.peer", 0},
        {"*a*b*c*", "xxaxxbxxcxx", 1},
        {"*a*b*c*", "xxaxxcxxbxx", 0},
        {"**", "a", 1},
        {"a**b", "ab", 1},
        {"jvm.* comm.*", "comm.peers", 1},
        {"jvm.*:comm.*", "comm.peers", 1},
        {" : jvm.* \t\n comm.* :", "comm.peers", 1},
        {"jvm.*:rspace.*", "comm.peers", 0},
        {"", "comm.peers", 0},
        {" : ", "", 0},
        {NULL, "comm.peers", 0},
        {"[a-z]*", "comm", 0},
        {"comm\\*", "comm*", 0},
    };
    for (size_t i = 0; i < LENGTH(cases); i++)
        if (crest_globs_match(cases[i].globs, cases[i].name) != cases[i].matches)
            fail_msg("%s on %s", cases[i].globs, cases[i].name);
    assert_true(crest_globs_empty(NULL) && crest_globs_empty("") && crest_globs_empty(" :\t"));
    assert_false(crest_globs_empty(" x"));
    /* stars upon stars are no trap: a byte is looked at again once a byte of the pattern at most */
    char globs[2001], name[2001];
    for (unsigned i = 0; i < 2000; i++) {
        globs[i] = i % 2 ? 'a' : '*';
        name[i] = 'a';
    }
    globs[2000] = name[2000] = '\0';
    assert_int_equal(crest_globs_match(globs, name), 1);
    name[1999] = 'b';
    assert_int_equal(crest_globs_match(globs, name), 0);
}

/* The names in a snapshot, a blank between them. */
static const char *selection_names(const crest_snapshot *snapshot)
{
    static char names[1024];
    names[0] = '\0';
    for (size_t i = 0; i < crest_snapshot_size(snapshot); i++) {
        crest_series_view view;
        assert_int_equal(crest_snapshot_series(snapshot, i, &view), CREST_OK);
        size_t used = strlen(names);
        snprintf(names + used, sizeof names - used, "%s%s=%llu", used ? " " : "", view.name,
                 view.distribution != NULL
                     ? (unsigned long long)crest_distribution_sum(view.distribution)
                     : (unsigned long long)view.counter);
    }
    return names;
}

static crest_registry *selection_registry(void)
{
    crest_registry *registry = fixture_registry("n");
    crest_counter_add(fixture_counter(registry, "b.one"), 1);
    crest_counter_add(fixture_counter(registry, "b.two"), 2);
    crest_histogram_record(fixture_histogram(registry, "a.three"), 3);
    crest_histogram_record(fixture_histogram(registry, "c.four"), 4);
    return registry;
}

static void test_select(void **state)
{
    (void)state;
    static const struct {
        const char *include, *exclude, *left;
    } cases[] = {
        {NULL, NULL, "n.a.three=3 n.b.one=1 n.b.two=2 n.c.four=4"},
        {"", " ", "n.a.three=3 n.b.one=1 n.b.two=2 n.c.four=4"},
        {"n.b.*", NULL, "n.b.one=1 n.b.two=2"},
        {NULL, "n.b.*", "n.a.three=3 n.c.four=4"},
        {"n.b.*:n.c.*", "*.two", "n.b.one=1 n.c.four=4"},
        {"b.*", NULL, ""},
        {"*", "*", ""},
        {"n.c.four", "n.c.fou", "n.c.four=4"},
    };
    crest_registry *registry = selection_registry();
    for (size_t i = 0; i < LENGTH(cases); i++) {
        crest_snapshot *snapshot = fixture_snapshot(registry), *whole = fixture_snapshot(registry);
        assert_int_equal(crest_snapshot_select(snapshot, cases[i].include, cases[i].exclude),
                         CREST_OK);
        assert_string_equal(selection_names(snapshot), cases[i].left);
        /* others that share its directory are as they were */
        assert_string_equal(selection_names(whole), cases[0].left);
        /* narrowed again, and the difference to a snapshot of all */
        assert_int_equal(crest_snapshot_select(snapshot, "*", "*.one"), CREST_OK);
        crest_report report = {.snapshot = snapshot, .previous = whole};
        crest_series_view view, found;
        for (size_t k = 0; k < crest_snapshot_size(snapshot); k++) {
            assert_int_equal(crest_report_previous(&report, k, &view), CREST_OK);
            assert_int_equal(crest_snapshot_series(snapshot, k, &found), CREST_OK);
            assert_string_equal(view.name, found.name);
        }
        crest_snapshot_free(whole);
        crest_snapshot_free(snapshot);
    }
    assert_int_equal(crest_snapshot_select(NULL, "a", NULL), CREST_OK);
    /* without memory it is as it was */
    unsigned long fail = 1;
    crest_status status = CREST_NO_MEMORY;
    crest_snapshot *snapshot = fixture_snapshot(registry);
    for (; status != CREST_OK && fail < 10; fail++) {
        assert_string_equal(selection_names(snapshot), cases[0].left);
        crest_alloc_fail_after(fail);
        status = crest_snapshot_select(snapshot, "n.b.*", NULL);
        crest_alloc_fail_after(0);
    }
    assert_int_equal(status, CREST_OK);
    assert_in_range(fail, 3, 9);
    assert_string_equal(selection_names(snapshot), "n.b.one=1 n.b.two=2");
    crest_snapshot_free(snapshot);
    crest_registry_free(registry);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_globs),
        cmocka_unit_test(test_select),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
