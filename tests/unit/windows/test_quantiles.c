/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The promise of ranges, proved against exact sorting: every quantile of every layout lies within
 * the layout's precision of the true one, or within its lowest, for distributions made to break
 * that and for some as programs have them.
 *
 * One thread has nothing for ThreadSanitizer. crest-test: sanitizers=address
 */
#include "support/core_fixture.h"
#include "support/random_numbers.h"

#define QUANTILES_HOUR UINT64_C(3600000000000)
#define QUANTILES_MOST 60000
/* Values of a shape: more than ten thousand, so that each quantile has a rank of its own. */
#define QUANTILES_SHAPE 15000

typedef struct quantiles_values {
    size_t count;
    uint64_t value[QUANTILES_MOST];
} quantiles_values;

static uint64_t quantiles_seed;

static uint64_t quantiles_random(void)
{
    return random_next(&quantiles_seed);
}

static double quantiles_uniform(void)
{
    return ((double)(quantiles_random() >> 11) + 0.5) * 0x1p-53;
}

static double quantiles_normal(void)
{
    double radius = sqrt(-2 * log(quantiles_uniform()));
    return radius * cos(6.283185307179586 * quantiles_uniform());
}

/* Values beyond what any record can be are cut to it. */
static void quantiles_add(quantiles_values *v, double value)
{
    assert_true(v->count < QUANTILES_MOST);
    v->value[v->count++] = value < 0 ? 0 : value < 0x1p62 ? (uint64_t)value : UINT64_C(1) << 62;
}

static void make_equal(quantiles_values *v)
{
    for (int i = 0; i < 1000; i++)
        quantiles_add(v, 1234567);
}

static void make_one(quantiles_values *v)
{
    quantiles_add(v, 987654321);
}

static void make_zeros(quantiles_values *v)
{
    for (int i = 0; i < 10; i++)
        quantiles_add(v, 0);
}

static void make_two_points(quantiles_values *v)
{
    for (int i = 0; i < 2000; i++)
        quantiles_add(v, i % 1000 == 999 ? 3e12 : 1);
}

static void make_geometric(quantiles_values *v)
{
    for (double value = 1; value < 4e18; value *= 1.001)
        quantiles_add(v, value);
}

/* Each power of two with its neighbours, which are the edges of blocks. */
static void make_powers(quantiles_values *v)
{
    for (int power = 0; power <= 62; power++)
        for (int off = -1; off <= 1; off++) {
            quantiles_add(v, 0);
            v->value[v->count - 1] = (UINT64_C(1) << power) + (uint64_t)(int64_t)off;
        }
}

static void make_descending(quantiles_values *v)
{
    for (int i = QUANTILES_SHAPE; i > 0; i--)
        quantiles_add(v, i * 77.0);
}

/* Many of the same on both sides of the edges of buckets. */
static void make_ties(quantiles_values *v)
{
    static const double edges[] = {16, 32, 128, 256, 258, 1024, 2048, 2050, 32768, 1 << 20};
    for (size_t e = 0; e < LENGTH(edges); e++)
        for (int i = 0; i < 100; i++)
            quantiles_add(v, edges[e] - i % 2);
}

static void make_highest(quantiles_values *v)
{
    for (int i = 0; i < 100; i++)
        quantiles_add(v, i % 3 == 0 ? 1 : 0x1p42 - 1 - i);
}

static void make_dense(quantiles_values *v)
{
    for (int i = 0; i < QUANTILES_SHAPE; i++)
        quantiles_add(v, i % 5000);
}

static void make_log_normal(quantiles_values *v)
{
    for (int i = 0; i < QUANTILES_SHAPE; i++)
        quantiles_add(v, 100e3 * exp(1.6 * quantiles_normal()));
}

/* A cache: most answers at once, one in twenty from a disk. */
static void make_bimodal(quantiles_values *v)
{
    for (int i = 0; i < QUANTILES_SHAPE; i++)
        quantiles_add(v, i % 20 ? 800 + 90 * quantiles_normal() : 8e6 + 5e5 * quantiles_normal());
}

static void make_pareto(quantiles_values *v)
{
    for (int i = 0; i < QUANTILES_SHAPE; i++)
        quantiles_add(v, 1000 / pow(quantiles_uniform(), 1 / 1.1));
}

static const struct {
    const char *name;
    void (*make)(quantiles_values *v);
} quantiles_shapes[] = {
    {"all equal", make_equal},       {"one", make_one},
    {"zeros", make_zeros},           {"two points", make_two_points},
    {"geometric", make_geometric},   {"powers of two", make_powers},
    {"descending", make_descending}, {"ties at edges", make_ties},
    {"highest", make_highest},       {"dense", make_dense},
    {"log-normal", make_log_normal}, {"bimodal", make_bimodal},
    {"Pareto", make_pareto},
};

static const crest_range quantiles_ranges[] = {
    {1, QUANTILES_HOUR, 1},    {1, QUANTILES_HOUR, 2},    {1, QUANTILES_HOUR, 3},
    {1, QUANTILES_HOUR, 4},    {1, QUANTILES_HOUR, 5},    {1, 100, 2},
    {1000, 60000000000, 2},    {1, UINT64_C(1) << 62, 3}, {UINT64_C(1) << 20, UINT64_C(1) << 62, 1},
    {1, UINT64_C(1) << 62, 0},
};

static int quantiles_order(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static uint64_t quantiles_highest(const crest_range *range)
{
    uint64_t highest = 1;
    while (highest < range->highest)
        highest = 2 * highest + 1;
    return highest;
}

static void quantiles_check(const crest_distribution *d, const crest_range *range,
                            const quantiles_values *sorted, const char *what)
{
    static const double q[] = {0, .001, .01, .1, .25, .5, 1 / 3.0, .75, .9, .99, .999, .9999, 1};
    double precision = pow(10, -(double)range->digits);
    for (size_t i = 0; i < LENGTH(q); i++) {
        double exact_rank = ceil(q[i] * (double)sorted->count);
        size_t rank = exact_rank < 1 ? 1 : (size_t)exact_rank;
        uint64_t exact = sorted->value[rank - 1], said = crest_distribution_quantile(d, q[i]);
        double off = said > exact ? (double)(said - exact) : (double)(exact - said);
        int good = off <= precision * (double)exact || off <= (double)range->lowest;
        if (range->digits == 0)
            good = q[i] == 0 ? said == sorted->value[0] : said == sorted->value[sorted->count - 1];
        else if (range->lowest == 1 && exact < 10)
            good = off < 1;
        if (!good)
            fail_msg("%s, %u digits: %g is %llu instead of %llu", what, range->digits, q[i],
                     (unsigned long long)said, (unsigned long long)exact);
    }
}

static void quantiles_prove(crest_registry *registry, const crest_range *range, unsigned number,
                            size_t shape)
{
    static quantiles_values values;
    const char *what = quantiles_shapes[shape].name;
    values.count = 0;
    quantiles_seed = 88172645463325252u;
    quantiles_shapes[shape].make(&values);
    char name[40];
    snprintf(name, sizeof name, "r%u.s%zu", number, shape);
    crest_metric_options options = {.name = name, .range = range};
    crest_histogram *histogram = crest_histogram_get(registry, &options, NULL);
    crest_distribution *own = crest_distribution_new(range);
    uint64_t highest = quantiles_highest(range);
    __extension__ unsigned __int128 sum = 0;
    for (size_t i = 0; i < values.count; i++) {
        crest_histogram_record(histogram, (int64_t)values.value[i]);
        assert_int_equal(crest_distribution_record(own, (int64_t)values.value[i], 1), CREST_OK);
        if (values.value[i] > highest)
            values.value[i] = highest;
        sum += values.value[i];
    }
    qsort(values.value, values.count, sizeof values.value[0], quantiles_order);
    crest_snapshot *snapshot = fixture_snapshot(registry);
    const crest_distribution *both[] = {fixture_series(snapshot, name, NULL).distribution, own};
    for (size_t i = 0; i < LENGTH(both); i++) {
        const crest_distribution *d = both[i];
        assert_int_equal(crest_distribution_count(d), values.count);
        assert_int_equal(crest_distribution_min(d), values.value[0]);
        assert_int_equal(crest_distribution_max(d), values.value[values.count - 1]);
        uint64_t wanted = sum >> 64 != 0 ? UINT64_MAX : (uint64_t)sum;
        if (range->digits != 0 || wanted != UINT64_MAX)
            assert_int_equal(crest_distribution_sum(d), wanted);
        assert_int_equal(fixture_buckets(d), values.count);
        quantiles_check(d, range, &values, what);
    }
    crest_snapshot_free(snapshot);
    crest_distribution_free(own);
}

static void test_all(void **state)
{
    (void)state;
    for (size_t shape = 0; shape < LENGTH(quantiles_shapes); shape++) {
        crest_registry *registry = fixture_registry(NULL);
        for (unsigned r = 0; r < LENGTH(quantiles_ranges); r++)
            quantiles_prove(registry, &quantiles_ranges[r], r, shape);
        crest_registry_free(registry);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all),
    };
    return cmocka_run_group_tests_name("quantiles", tests, NULL, NULL);
}
