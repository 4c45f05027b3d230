/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Several reporters of a kind, what each is to report and when, and who reports: from options to
 * what the reporters see.
 */
#define _GNU_SOURCE
#include "base/alloc.h"
#include "support/core_fixture.h"
#include "reporting/reporting.h"

#include <time.h>

#define PLANNED_MAX 80

/* What was made, and what it was given. */
typedef struct planned {
    crest_reporter reporter;
    char options[256], labels[256], names[512];
    unsigned reports, frees;
} planned;

static planned made[PLANNED_MAX];
static unsigned made_count;
static crest_status answer;

CREST_COUNTER(plan_one, "plan.one", "");
CREST_COUNTER(plan_two, "plan.two", "");

static crest_status planned_report(crest_reporter *self, const crest_report *report,
                                   crest_error *error)
{
    planned *mine = self->state;
    (void)error;
    mine->names[0] = mine->labels[0] = '\0';
    for (size_t i = 0; i < crest_snapshot_size(report->snapshot); i++) {
        crest_series_view view;
        crest_snapshot_series(report->snapshot, i, &view);
        size_t used = strlen(mine->names);
        if (strncmp(view.name, "plan.", 5) == 0)
            snprintf(mine->names + used, sizeof mine->names - used, "%s ", view.name);
    }
    for (unsigned i = 0; i < report->resource->label_count; i++) {
        size_t used = strlen(mine->labels);
        snprintf(mine->labels + used, sizeof mine->labels - used, "%s=%s ",
                 report->resource->labels[i].key, report->resource->labels[i].value);
    }
    __atomic_add_fetch(&mine->reports, 1, __ATOMIC_RELEASE);
    return answer;
}

static void planned_free(crest_reporter *self)
{
    ((planned *)self->state)->frees++;
}

static crest_reporter *planned_create(const char *value, const crest_options *options,
                                      const crest_resource *resource, crest_error *error)
{
    if (strcmp(value, "bad") == 0) {
        crest_error_set(error, CREST_INVALID_ARGUMENT, "that is no place");
        return NULL;
    }
    planned *mine = &made[made_count++];
    memset(mine, 0, sizeof *mine);
    mine->reporter = (crest_reporter){
        .name = "many", .report = planned_report, .free = planned_free, .state = mine};
    int on = 0;
    if (crest_option_switch(options, "many.on", &on, error) != CREST_OK) {
        made_count--;
        return NULL;
    }
    snprintf(mine->options, sizeof mine->options, "%s %d %s %u", value, on,
             crest_option(options, "many.word") ? crest_option(options, "many.word") : "-",
             resource->label_count);
    return &mine->reporter;
}

static uint64_t foreign_ms; /* what the kind's own world says of the interval; 0: nothing */

static void planned_schedule(const crest_options *options, crest_schedule *schedule)
{
    if (foreign_ms != 0 && crest_option(options, "interval") == NULL)
        schedule->interval_ms = foreign_ms;
}

static const crest_reporter_kind many = {.name = "many",
                                         .keys =
                                             (const char *const[]){"many.on", "many.word", NULL},
                                         .create = planned_create,
                                         .schedule = planned_schedule};

static int plan_setup(void **state)
{
    (void)state;
    crest_reporter_kind_add(&many);
    made_count = 0;
    answer = CREST_OK;
    return unsetenv("CREST_OPTS");
}

/* The interval of a kind's own world, and options above it. */
static void test_foreign_schedule(void **state)
{
    (void)state;
    static const struct {
        const char *options;
        uint64_t least_s, most_s;
    } cases[] = {{"windows=off,jitter=0,many=a", 5000, 7000},
                 {"windows=off,jitter=0,interval=30s,many=a", 0, 30},
                 {"windows=off,jitter=0,many=a,many.interval=20s", 0, 20}};
    foreign_ms = 7000000;
    for (unsigned i = 0; i < 3; i++) {
        crest_error error;
        crest_reporter_info info;
        assert_int_equal(crest_start(cases[i].options, &error), CREST_OK);
        assert_int_equal(crest_reporter_list(&info, 1), 1);
        assert_in_range(info.state.next_in_ns / 1000000000, cases[i].least_s, cases[i].most_s);
        assert_int_equal(crest_stop(5000, &error), CREST_OK);
    }
    foreign_ms = 0;
}

static void test_several(void **state)
{
    (void)state;
    crest_error error;
    setenv("CREST_OPTS", "many@lan.word=env,many@off=off,resource.shard=", 1);
    assert_int_equal(
        crest_start("interval=1h,windows=off,many=a,many.word=plain,many@lan=b,many@lan.word=own,"
                    "many@lan.on=yes,many@w-1_X=c,many@off=x,many@w-1_X.include=plan.*,"
                    "many@w-1_X.exclude=*.two crest.*,many@lan.align=on,resource.shard=1,"
                    "resource.zone=eu,resource._a9=x",
                    &error),
        CREST_OK);
    assert_int_equal(made_count, 3);
    assert_string_equal(made[0].options, "a 0 plain 2");
    assert_string_equal(made[1].options, "b 1 env 2");
    assert_string_equal(made[2].options, "c 0 - 2");
    crest_reporter_info infos[4];
    assert_int_equal(crest_reporter_list(infos, 4), 3);
    assert_string_equal(infos[2].name, "many");
    assert_string_equal(infos[1].name, "many@lan");
    assert_string_equal(infos[0].name, "many@w-1_X");
    for (unsigned i = 0; i < 3; i++)
        assert_int_equal(crest_report_now(&made[i].reporter, 0, &error), CREST_OK);
    assert_string_equal(made[0].names, "plan.one plan.two ");
    assert_string_equal(made[1].names, "plan.one plan.two ");
    assert_string_equal(made[2].names, "plan.one ");
    assert_string_equal(made[0].labels, "_a9=x zone=eu ");
    /* on the hour, but for the jitter */
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    assert_int_equal(crest_reporter_list(infos, 4), 3);
    uint64_t hour_ns = UINT64_C(3600000000000);
    uint64_t wall_ns = (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
    uint64_t off_ns = (wall_ns + infos[1].state.next_in_ns) % hour_ns;
    assert_true(off_ns < hour_ns / 10 + 1000000000);
    answer = CREST_IO;
    assert_int_equal(crest_stop(5000, &error), CREST_IO);
    assert_non_null(strstr(error.message, "3 of 3 reporters failed at the end: many@w-1_X: "));
    for (unsigned i = 0; i < 3; i++)
        assert_int_equal(made[i].frees, 1);
}

static void test_bad(void **state)
{
    (void)state;
    static const struct {
        const char *options, *part;
    } cases[] = {
        {"many@=a", "after the @ comes a name of 1 to 32 letters"},
        {"many@.interval=1s", "after the @ comes a name"},
        {"many@a@b=1", "after the @ comes a name"},
        {"many@a123456789012345678901234567890123=1", "after the @ comes a name"},
        {"many@lna.interval=1s,many@lan=a",
         "many@lna.interval in the string given to crest_start belongs to no reporter: there is "
         "no many@lna="},
        {"service@x=1", "only reporters can be several"},
        {"many@lan=a,many@lan.wrod=1", "no option \"many@lan.wrod\""},
        {"many@lan=a,many@lan.wrod=1", "Did you mean \"many.word\"?"},
        {"mnay@lan=a", "Did you mean \"many\"?"},
        {"@lan=a", "the file of options lan=a"},
        {"many@lan=bad", "(of many@lan) in the string given to crest_start: that is no place"},
        {"many@lan=a,many@lan.interval=1ms", "(of many@lan) in the string"},
        {"many@lan=a,many@lan.on=perhaps", "many.on=perhaps (of many@lan) in the string"},
        {"many=a,many.align=often", "is not a switch"},
        {"resource.=x", "there is no option \"resource.\""},
        {"resource.instance=x", "write instance=… instead"},
        {"resource.a-b=x", "is to be the name of a label"},
        {"resource.9=x", "is to be the name of a label"},
        {"resource.__a=x", "is to be the name of a label"},
        {"resource.a.b=x", "is to be the name of a label"},
        {"resource.a=1,resource.b=1,resource.c=1,resource.d=1,resource.e=1,resource.f=1,"
         "resource.g=1,resource.h=1,resource.i=1,resource.j=1,resource.k=1,resource.l=1,"
         "resource.m=1,resource.n=1,resource.o=1,resource.p=1,resource.q=1",
         "resource.q in the string given to crest_start is one too many: there are at most 16"},
        {"resouce.a=1", "Did you mean"},
    };
    for (size_t i = 0; i < LENGTH(cases); i++) {
        crest_error error;
        crest_status status = crest_start(cases[i].options, &error);
        if (status != CREST_INVALID_OPTIONS)
            fail_msg("%s: %s", cases[i].options, crest_status_text(status));
        if (strstr(error.message, cases[i].part) == NULL)
            fail_msg("%s: \"%s\" is not in: %s", cases[i].options, cases[i].part, error.message);
        assert_int_equal(crest_reporter_list(NULL, 0), 0);
    }
    for (unsigned i = 0; i < made_count; i++)
        assert_int_equal(made[i].frees, 1);
}

/* As many as there can be, and one more. */
static void test_many(void **state)
{
    (void)state;
    char text[4096] = "windows=off,interval=1h";
    for (unsigned i = 0; i <= CREST_REPORTERS_MAX; i++) {
        size_t used = strlen(text);
        snprintf(text + used, sizeof text - used, ",many@%u=x", i);
    }
    crest_error error;
    assert_int_equal(crest_start(text, &error), CREST_INVALID_OPTIONS);
    assert_non_null(strstr(error.message, "more than 64 reporters; the one too many is many@"));
    *strrchr(text, ',') = '\0';
    made_count = 0;
    assert_int_equal(crest_start(text, &error), CREST_OK);
    assert_int_equal(crest_reporter_list(NULL, 0), CREST_REPORTERS_MAX);
    assert_int_equal(crest_stop(5000, &error), CREST_OK);
    for (unsigned i = 0; i < CREST_REPORTERS_MAX; i++)
        assert_int_equal(made[i].reports, 1);
}

/* What is refused is not tried again before its time; what fails otherwise is. */
static void test_refused(void **state)
{
    (void)state;
    crest_error error;
    /* without jitter: with it the first point lies anywhere in the interval, also at its begin */
    assert_int_equal(crest_start("windows=off,interval=1h,jitter=0,many=a", &error), CREST_OK);
    answer = CREST_REFUSED;
    crest_reporter_state seen;
    assert_int_equal(crest_report_now(&made[0].reporter, 0, NULL), CREST_REFUSED);
    assert_int_equal(crest_reporter_status(&made[0].reporter, &seen), CREST_OK);
    assert_true(seen.next_in_ns > 3500 * UINT64_C(1000000000));
    answer = CREST_UNREACHABLE;
    assert_int_equal(crest_report_now(&made[0].reporter, 0, NULL), CREST_UNREACHABLE);
    assert_int_equal(crest_reporter_status(&made[0].reporter, &seen), CREST_OK);
    assert_true(seen.next_in_ns <= 2000000000);
    assert_int_equal(seen.consecutive_failures, 2);
    answer = CREST_OK;
    assert_int_equal(crest_stop(5000, &error), CREST_OK);
}

static void test_no_memory(void **state)
{
    (void)state;
    crest_error error;
    crest_status status = CREST_NO_MEMORY;
    unsigned long fail = 1;
    for (; status != CREST_OK && fail < 300; fail++) {
        made_count = 0;
        crest_alloc_fail_after(fail);
        status = crest_start("windows=off,interval=1h,many=a,many@b=b,many@b.include=x,"
                             "resource.a=b",
                             &error);
        crest_alloc_fail_after(0);
        if (status == CREST_OK)
            break;
        assert_int_equal(status, CREST_NO_MEMORY);
        assert_int_equal(crest_reporter_list(NULL, 0), 0);
        for (unsigned i = 0; i < made_count; i++)
            assert_int_equal(made[i].frees, 1);
    }
    assert_in_range(fail, 20, 299);
    assert_int_equal(crest_stop(5000, &error), CREST_OK);
}

int main(void)
{
    crest_counter_inc(&plan_one);
    crest_counter_inc(&plan_two);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_foreign_schedule, plan_setup),
        cmocka_unit_test_setup(test_several, plan_setup),
        cmocka_unit_test_setup(test_bad, plan_setup),
        cmocka_unit_test_setup(test_many, plan_setup),
        cmocka_unit_test_setup(test_refused, plan_setup),
        cmocka_unit_test_setup(test_no_memory, plan_setup),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
