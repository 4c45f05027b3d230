/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random operations, differentially: everything is done to the library and to a reference that a
 * mutex guards, and every snapshot is compared with it. Four threads declare, resolve, record,
 * begin and end, and take snapshots; between their rounds one thread releases, retires, frees whole
 * registries, lets windows tick and forks.
 * crest-test: timeout=120 together
 *
 *   test_differential [SECONDS [SEED]]     2 s and a seed of the clock's, which it prints
 *
 * A snapshot amid a round: done before it <= read <= begun after it. Between rounds: equal, and so
 * are sums, extremes, gauges, levels, operations in flight and the window of a minute.
 */
#include "support/core_fixture.h"
#include "support/random_numbers.h"

#include <sys/wait.h>
#include <unistd.h>

#define THREADS 4u
#define REGISTRIES 2u
#define FAMILIES 3u
#define LABELS 7u
#define STEPS 400u
#define IN_FLIGHT 16u
#define SECOND_NS UINT64_C(1000000000)
#define WINDOW_TICKS 60u

enum kind { COUNTER, GAUGE, HISTOGRAM, TIMER, RANGE, KINDS };

static const char *const family_names[KINDS] = {"d.counter", "d.gauge", "d.size", "d.time",
                                                "d.range"};

/* ABSENT: it was released and is on no page any more; until its memory has gone too, it comes back
 * with what it had, afterwards with nothing. */
typedef enum life { NEVER, LIVE, RELEASED, RETIRED, ABSENT } life;

/* What the reference knows of a series, or of one outcome of a timer. */
typedef struct total {
    uint64_t begun, done;      /* counts */
    uint64_t sum, least, most; /* of what was recorded */
    int64_t level;             /* of gauges and range samplers */
} counted;

typedef struct reference_series {
    life life;
    unsigned lives; /* that have begun at zero */
    void *handle;
    counted all[2]; /* of timers ok and error, else the first */
    uint64_t ops[IN_FLIGHT], began_ns[IN_FLIGHT];
    unsigned in_flight;
} reference_series;

static pthread_mutex_t reference_lock = PTHREAD_MUTEX_INITIALIZER;
static reference_series reference[REGISTRIES][KINDS][FAMILIES][LABELS];
static crest_registry *registries[REGISTRIES];
static uint64_t next_op = 1, operations, snapshots, compared, forks, ended_registries;
static uint64_t windows_at[WINDOW_TICKS + 1], ticks; /* the window's counter at the last ticks */
static crest_counter *windowed;
static uint64_t windowed_total;
static pthread_barrier_t round_begins, round_ends;
static int over;
static uint64_t seed;

#define WRONG(...)                                                                                 \
    do {                                                                                           \
        printf("seed %llu: ", (unsigned long long)seed);                                           \
        printf(__VA_ARGS__);                                                                       \
        printf("\n0 passed, 1 failed, 0 skipped\n");                                               \
        fflush(stdout);                                                                            \
        _exit(1);                                                                                  \
    } while (0)

static uint64_t random_below(uint64_t *numbers, uint64_t bound)
{
    return random_next(numbers) % bound;
}

static double real_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* ---- one operation on both ---- */

static void label_of(char text[32], unsigned label)
{
    snprintf(text, 32, "peer-%u", label);
}

/* The series' handle from the library: declares the family and resolves the label. */
static void *resolve(unsigned registry, enum kind kind, unsigned family, unsigned label)
{
    static const char *const keys[] = {"peer"};
    char name[64], text[32];
    const char *values[] = {text};
    snprintf(name, sizeof name, "%s-%u", family_names[kind], family);
    label_of(text, label);
    crest_metric_options options = {.name = name};
    crest_registry *in = registries[registry];
    crest_status status = CREST_OK;
    void *handle = NULL;
#define RESOLVE(type)                                                                              \
    {                                                                                              \
        crest_##type##_family made =                                                               \
            crest_##type##_family_new(in, &options, keys, 1, &status);                             \
        handle = crest_##type##_family_get(&made, values, 1);                                      \
    }                                                                                              \
    break
    switch (kind) {
    case COUNTER:
        RESOLVE(counter);
    case GAUGE:
        RESOLVE(gauge);
    case HISTOGRAM:
        RESOLVE(histogram);
    case TIMER:
        RESOLVE(timer);
    default:
        RESOLVE(range_sampler);
    }
    if (status != CREST_OK)
        WRONG("%s cannot be declared: %s", name, crest_status_text(status));
    return handle;
}

static void note_value(counted *total, uint64_t value)
{
    total->least = total->done == 0 || value < total->least ? value : total->least;
    total->most = value > total->most ? value : total->most;
    total->sum += value;
    total->done++;
}

/* Records once: `begun` in the reference, then the library, then `done`. */
static void record(reference_series *series, enum kind kind, uint64_t *numbers)
{
    uint64_t value = random_below(numbers, 1000000) + 1;
    unsigned outcome = kind == TIMER && value % 5 == 0;
    int64_t step = (int64_t)(value % 21) - 10;
    pthread_mutex_lock(&reference_lock);
    void *handle = series->handle;
    series->all[outcome].begun += kind == COUNTER ? value : 1;
    series->life = LIVE;
    pthread_mutex_unlock(&reference_lock);
    if (kind == COUNTER)
        crest_counter_add(handle, (int64_t)value);
    else if (kind == GAUGE)
        crest_gauge_add(handle, (double)step);
    else if (kind == HISTOGRAM)
        crest_histogram_record(handle, (int64_t)value);
    else if (kind == TIMER)
        crest_timer_record(handle, (int64_t)value,
                           outcome ? CREST_OUTCOME_ERROR : CREST_OUTCOME_OK);
    else
        crest_range_sampler_add(handle, step);
    pthread_mutex_lock(&reference_lock);
    if (kind == COUNTER)
        series->all[0].done += value;
    else
        note_value(&series->all[outcome], value);
    series->all[0].level += step;
    pthread_mutex_unlock(&reference_lock);
}

/* Begins an operation of a timer, or ends one; both under the reference's lock. */
static void begin_or_end(reference_series *series, uint64_t *numbers)
{
    pthread_mutex_lock(&reference_lock);
    if (series->in_flight == IN_FLIGHT || (series->in_flight > 0 && random_below(numbers, 2))) {
        uint64_t op = series->ops[--series->in_flight];
        unsigned failed = random_below(numbers, 2) != 0;
        crest_status status = crest_timer_end(series->handle, crest_op_u64(op),
                                              failed ? CREST_OUTCOME_ERROR : CREST_OUTCOME_OK);
        if (status != CREST_OK)
            WRONG("an operation in flight cannot end: %s", crest_status_text(status));
        series->all[failed].begun++;
        note_value(&series->all[failed], crest_now() - series->began_ns[series->in_flight]);
    } else {
        uint64_t op = next_op++;
        crest_status status = crest_timer_begin(series->handle, crest_op_u64(op));
        if (status != CREST_OK)
            WRONG("an operation cannot begin: %s", crest_status_text(status));
        series->began_ns[series->in_flight] = crest_now();
        series->ops[series->in_flight++] = op;
    }
    series->life = LIVE;
    pthread_mutex_unlock(&reference_lock);
}

static reference_series *any_series(uint64_t *numbers, unsigned *registry, enum kind *kind,
                                    unsigned *family, unsigned *label)
{
    *registry = (unsigned)random_below(numbers, REGISTRIES);
    *kind = (enum kind)random_below(numbers, KINDS);
    *family = (unsigned)random_below(numbers, FAMILIES);
    *label = (unsigned)random_below(numbers, LABELS);
    return &reference[*registry][*kind][*family][*label];
}

/* ---- comparing ---- */

static int find(const crest_snapshot *snapshot, enum kind kind, unsigned family, unsigned label,
                unsigned outcome, crest_series_view *view)
{
    char name[64], text[32];
    const char *values[] = {text, outcome ? "error" : "ok"};
    snprintf(name, sizeof name, "%s-%u", family_names[kind], family);
    label_of(text, label);
    return crest_snapshot_find(snapshot, name, values, kind == TIMER ? 2 : 1, view) == CREST_OK;
}

static uint64_t count_of(const crest_series_view *view, enum kind kind)
{
    return kind == COUNTER ? view->counter : crest_distribution_count(view->distribution);
}

/* Whether a series that was absent has come back with nothing. */
static int began_anew(const reference_series *series, unsigned registry, enum kind kind,
                      unsigned family, unsigned label)
{
    int anew = 1;
    crest_snapshot *snapshot = crest_snapshot_take(registries[registry]);
    for (unsigned outcome = 0; outcome < (kind == TIMER ? 2u : 1u); outcome++) {
        crest_series_view view;
        if (!find(snapshot, kind, family, label, outcome, &view))
            continue;
        if (kind == GAUGE || kind == RANGE)
            anew &= kind == GAUGE ? view.gauge == 0 : view.current == 0;
        else
            anew &= count_of(&view, kind) == 0 && series->all[outcome].done != 0;
    }
    crest_snapshot_free(snapshot);
    return anew;
}

/* Resolves a series; one that is new, or was retired, begins at zero. */
static void look_up(reference_series *series, unsigned registry, enum kind kind, unsigned family,
                    unsigned label)
{
    pthread_mutex_lock(&reference_lock);
    void *handle = resolve(registry, kind, family, label);
    if (series->life == NEVER || series->life == RETIRED ||
        (series->life == ABSENT && began_anew(series, registry, kind, family, label)))
        *series = (reference_series){.lives = series->lives + 1};
    series->handle = handle;
    series->life = LIVE;
    pthread_mutex_unlock(&reference_lock);
}

#define EACH_SERIES                                                                                \
    for (enum kind kind = 0; kind < KINDS; kind++)                                                 \
        for (unsigned family = 0; family < FAMILIES; family++)                                     \
            for (unsigned label = 0; label < LABELS; label++)

/* Amid a round, of counts only. */
static void compare_loosely(unsigned registry)
{
    uint64_t done[KINDS][FAMILIES][LABELS][2];
    unsigned lives[KINDS][FAMILIES][LABELS];
    pthread_mutex_lock(&reference_lock);
    EACH_SERIES {
        const reference_series *series = &reference[registry][kind][family][label];
        lives[kind][family][label] = series->life == LIVE ? series->lives : 0;
        for (unsigned outcome = 0; outcome < 2; outcome++)
            done[kind][family][label][outcome] = series->all[outcome].done;
    }
    pthread_mutex_unlock(&reference_lock);
    crest_snapshot *snapshot = crest_snapshot_take(registries[registry]);
    if (snapshot == NULL)
        WRONG("no snapshot");
    pthread_mutex_lock(&reference_lock);
    EACH_SERIES {
        const reference_series *series = &reference[registry][kind][family][label];
        if (kind == GAUGE || kind == RANGE || series->lives != lives[kind][family][label])
            continue;
        for (unsigned outcome = 0; outcome < (kind == TIMER ? 2u : 1u); outcome++) {
            crest_series_view view;
            uint64_t least = done[kind][family][label][outcome],
                     most = series->all[outcome].begun, read = 0;
            if (find(snapshot, kind, family, label, outcome, &view))
                read = count_of(&view, kind);
            compared++;
            if (read < least || read > most)
                WRONG("%s-%u of peer-%u, outcome %u: %llu read, %llu to %llu recorded",
                      family_names[kind], family, label, outcome, (unsigned long long)read,
                      (unsigned long long)least, (unsigned long long)most);
        }
    }
    snapshots++;
    pthread_mutex_unlock(&reference_lock);
    crest_snapshot_free(snapshot);
}

static void compare_total(const char *name, unsigned family, unsigned label, enum kind kind,
                          const counted *total, const crest_series_view *view)
{
    uint64_t wanted[4] = {total->done}, read[4] = {0};
    unsigned count = 1;
    if (kind == GAUGE || kind == RANGE) {
        wanted[0] = (uint64_t)total->level;
        read[0] = (uint64_t)(kind == GAUGE ? (int64_t)view->gauge : view->current);
    } else if (kind == COUNTER) {
        read[0] = view->counter;
    } else {
        const crest_distribution *values = view->distribution;
        wanted[1] = total->sum, wanted[2] = total->least, wanted[3] = total->most, count = 4;
        read[0] = crest_distribution_count(values), read[1] = crest_distribution_sum(values);
        read[2] = crest_distribution_min(values), read[3] = crest_distribution_max(values);
    }
    for (unsigned i = 0; i < count; i++)
        if (read[i] != wanted[i])
            WRONG("%s-%u of peer-%u, %s: %llu read, %llu recorded", name, family, label,
                  (const char *const[]){"count", "sum", "minimum", "maximum"}[i],
                  (unsigned long long)read[i], (unsigned long long)wanted[i]);
    compared++;
}

/* Between rounds. A series that was released or retired may have gone; then it begins anew. */
static void compare_exactly(unsigned registry)
{
    crest_snapshot *snapshot = crest_snapshot_take(registries[registry]);
    if (snapshot == NULL)
        WRONG("no snapshot");
    snapshots++;
    EACH_SERIES {
        reference_series *series = &reference[registry][kind][family][label];
        for (unsigned outcome = 0; outcome < (kind == TIMER ? 2u : 1u); outcome++) {
            crest_series_view view;
            const counted *total = &series->all[outcome];
            int there = find(snapshot, kind, family, label, outcome, &view);
            if (there && (series->life == NEVER || series->life == ABSENT))
                WRONG("%s-%u of peer-%u is there and was never made, or had gone",
                      family_names[kind], family, label);
            if (there)
                compare_total(family_names[kind], family, label, kind, total, &view);
            else if (series->life == LIVE && total->done != 0)
                WRONG("%s-%u of peer-%u is not there", family_names[kind], family, label);
            else if (series->life == RELEASED)
                series->life = ABSENT, series->handle = NULL;
            else if (series->life == RETIRED)
                *series = (reference_series){.life = NEVER, .lives = series->lives};
        }
        if (kind == TIMER && series->life == LIVE && series->handle != NULL &&
            crest_timer_in_flight(series->handle).count != series->in_flight)
            WRONG("in flight: %u wanted", series->in_flight);
    }
    crest_snapshot_free(snapshot);
}

/* ---- a round of the threads, and what is between two ---- */

static int resolved(reference_series *series)
{
    pthread_mutex_lock(&reference_lock);
    int found = series->handle != NULL;
    pthread_mutex_unlock(&reference_lock);
    return found;
}

static void *work(void *context)
{
    uint64_t numbers = 0;
    numbers = seed + (uintptr_t)context;
    for (;;) {
        pthread_barrier_wait(&round_begins);
        if (over)
            return NULL;
        for (unsigned i = 0; i < STEPS; i++) {
            unsigned registry, family, label;
            enum kind kind;
            reference_series *series = any_series(&numbers, &registry, &kind, &family, &label);
            uint64_t what = random_below(&numbers, 100);
            __atomic_fetch_add(&operations, 1, __ATOMIC_RELAXED);
            if (what == 0)
                compare_loosely(registry);
            else if (what < 20 || !resolved(series))
                look_up(series, registry, kind, family, label);
            else if (kind == TIMER && what < 40)
                begin_or_end(series, &numbers);
            else
                record(series, kind, &numbers);
        }
        pthread_barrier_wait(&round_ends);
    }
}

/* Time passes, by `seconds` ticks, and so does the window of a minute. */
static void tick(unsigned seconds)
{
    for (unsigned i = 0; i < seconds; i++) {
        crest_counter_add(windowed, (int64_t)(i + 1));
        windowed_total += i + 1;
        crest_testing_clock_advance(SECOND_NS);
        for (unsigned registry = 0; registry < REGISTRIES; registry++)
            crest_testing_tick(registries[registry]);
        crest_testing_tick(NULL);
        windows_at[++ticks % (WINDOW_TICKS + 1)] = windowed_total;
    }
    crest_rate rate = crest_counter_rate(windowed, 60);
    uint64_t before = ticks >= WINDOW_TICKS ? windows_at[(ticks + 1) % (WINDOW_TICKS + 1)] : 0;
    double wanted = (double)(windowed_total - before);
    double found = rate.per_second * rate.covered_s;
    if (ticks >= WINDOW_TICKS && (found < wanted - 0.01 || found > wanted + 0.01))
        WRONG("the minute has %.3f events, %.3f were recorded", found, wanted);
}

static crest_status release(enum kind kind, void *handle)
{
    switch (kind) {
    case COUNTER:
        return crest_counter_release(handle);
    case GAUGE:
        return crest_gauge_release(handle);
    case HISTOGRAM:
        return crest_histogram_release(handle);
    case TIMER:
        return crest_timer_release(handle);
    default:
        return crest_range_sampler_release(handle);
    }
}

static void release_some(uint64_t *numbers)
{
    for (unsigned i = 0; i < 5; i++) {
        unsigned registry, family, label;
        enum kind kind;
        reference_series *series = any_series(numbers, &registry, &kind, &family, &label);
        if (series->life != LIVE || series->in_flight != 0 || series->handle == NULL)
            continue;
        crest_status status = release(kind, series->handle);
        if (status != CREST_OK)
            WRONG("a series cannot be released: %s", crest_status_text(status));
        series->life = RELEASED;
    }
}

static void retire_one(uint64_t *numbers)
{
    unsigned registry, retired_label, retired = 0, may_have_gone = 0, family_;
    enum kind kind_;
    char text[32];
    any_series(numbers, &registry, &kind_, &family_, &retired_label);
    label_of(text, retired_label);
    EACH_SERIES {
        reference_series *series = &reference[registry][kind][family][label];
        if (label != retired_label || series->life == NEVER)
            continue;
        if (series->life == ABSENT) {
            may_have_gone++;
            continue;
        }
        retired += series->life != RETIRED;
        /* its operations end as cancelled, which is an outcome of its own */
        series->in_flight = 0;
        series->life = RETIRED;
        series->handle = NULL;
    }
    size_t found = crest_retire(registries[registry], "peer", text);
    if (found < retired || found > retired + may_have_gone)
        WRONG("%zu series of %s were retired, %u are there", found, text, retired);
}

/* In a child everything begins at zero, and counts. */
static void fork_one(uint64_t *numbers)
{
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        for (unsigned registry = 0; registry < REGISTRIES; registry++)
            EACH_SERIES {
                reference_series *series = &reference[registry][kind][family][label];
                memset(series->all, 0, sizeof series->all);
                series->in_flight = 0;
                if (series->life == LIVE && series->handle != NULL)
                    record(series, kind, numbers);
                else if (series->life != NEVER && series->life != ABSENT)
                    series->life = RELEASED;
            }
        for (unsigned registry = 0; registry < REGISTRIES; registry++)
            compare_exactly(registry);
        _exit(0);
    }
    int status = -1;
    if (child < 0 || waitpid(child, &status, 0) != child || status != 0)
        WRONG("the child of a fork ended with %d", status);
    forks++;
}

static void begin_registry(unsigned registry)
{
    crest_registry_options options = {.labels = {{"network", registry ? "main" : "test"}}};
    registries[registry] = crest_registry_new(registry ? NULL : &options);
    memset(reference[registry], 0, sizeof reference[registry]);
    if (registries[registry] == NULL || crest_testing_tick(registries[registry]) != CREST_OK)
        WRONG("no registry");
}

static void end_registry(unsigned registry)
{
    crest_ticker_detach(registries[registry]);
    crest_registry_free(registries[registry]);
}

static void between_rounds(uint64_t *numbers)
{
    for (unsigned registry = 0; registry < REGISTRIES; registry++)
        compare_exactly(registry);
    release_some(numbers);
    if (random_below(numbers, 3) == 0)
        retire_one(numbers);
    tick((unsigned)random_below(numbers, 3) + 1);
    if (random_below(numbers, 12) == 0)
        tick(130);
    for (unsigned registry = 0; registry < REGISTRIES; registry++)
        compare_exactly(registry);
    tick(1);
    for (unsigned registry = 0; registry < REGISTRIES; registry++)
        compare_exactly(registry);
    if (random_below(numbers, 10) == 0)
        fork_one(numbers);
    if (random_below(numbers, 15) == 0) {
        end_registry(1);
        begin_registry(1);
        ended_registries++;
    }
}

int main(int argc, char **argv)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    double seconds = argc > 1 ? atof(argv[1]) : 2;
    seed = argc > 2 ? strtoull(argv[2], NULL, 10) : (uint64_t)now.tv_nsec;
    printf("seed %llu\n", (unsigned long long)seed);
    uint64_t numbers = 0;
    numbers = seed + 1000;
    crest_testing_clock_set(1000 * SECOND_NS);
    crest_metric_options options = {.name = "d.windowed"};
    windowed = crest_counter_get(NULL, &options, NULL);
    crest_testing_tick(NULL);
    for (unsigned registry = 0; registry < REGISTRIES; registry++)
        begin_registry(registry);
    pthread_barrier_init(&round_begins, NULL, THREADS + 1);
    pthread_barrier_init(&round_ends, NULL, THREADS + 1);
    pthread_t threads[THREADS];
    for (uintptr_t i = 0; i < THREADS; i++)
        if (pthread_create(&threads[i], NULL, work, (void *)i) != 0)
            return 2;
    double until = real_seconds() + seconds;
    while (real_seconds() < until) {
        pthread_barrier_wait(&round_begins);
        pthread_barrier_wait(&round_ends);
        between_rounds(&numbers);
    }
    over = 1;
    pthread_barrier_wait(&round_begins);
    for (unsigned i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (unsigned registry = 0; registry < REGISTRIES; registry++)
        end_registry(registry);
    crest_ticker_detach(NULL);
    printf("%llu operations, %llu snapshots, %llu totals compared, %llu forks, %llu registries\n",
           (unsigned long long)operations, (unsigned long long)snapshots,
           (unsigned long long)compared, (unsigned long long)forks,
           (unsigned long long)ended_registries);
    printf("1 passed, 0 failed, 0 skipped\n");
    return 0;
}
