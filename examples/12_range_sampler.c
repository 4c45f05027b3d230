/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One queue, seen in three ways: five hundred messages that wait for 5 ms, every 700 ms.
 *
 * - A gauge that is read each second, as a scraper does: it would meet one burst in 140 readings.
 * - Kamon's range sampler: the writers keep minimum and maximum, and every 200 ms it records three
 * values, the current one and those two, into a histogram. It sees each burst, but a burst of 5 ms
 * weighs as much as a third of 200 ms, and the time-weighted mean is lost.
 * - Crest's: the writers keep the extremes, and the area under the value. It has no interval.
 *
 *     12_range_sampler          a minute, on a clock that is moved by hand
 *     12_range_sampler real     seven seconds of the real clock; bursts are as long as sleep makes
 *                               them
 */
#include <crest/crest.h>
#include <crest/testing.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define BURST 500
#define BURST_MS 5
#define BURST_EVERY_MS 700
#define BURST_FIRST_MS 350

CREST_GAUGE(as_gauge, "comm.queue-gauge", "Messages waiting, the last that was set.");
CREST_RANGE_SAMPLER(as_sampler, "comm.queue", "Messages waiting, now and in between.");

/* ---- what was seen ---- */

typedef struct seen {
    long lowest, highest, count;
    double sum;
} seen;

static void see(seen *of, long value)
{
    of->lowest = of->count == 0 || value < of->lowest ? value : of->lowest;
    of->highest = of->count == 0 || value > of->highest ? value : of->highest;
    of->sum += (double)value;
    of->count++;
}

/* ---- Kamon's RangeSampler, as kamon-core 2 has it, for one thread ---- */

typedef struct kamon_sampler {
    long current, minimum, maximum;
    seen histogram;
} kamon_sampler;

static void kamon_add(kamon_sampler *k, long delta)
{
    k->current += delta;
    k->maximum = k->current > k->maximum ? k->current : k->maximum;
    k->minimum = k->current < k->minimum ? k->current : k->minimum;
}

static void kamon_sample(kamon_sampler *k)
{
    see(&k->histogram, k->current);
    see(&k->histogram, k->minimum);
    see(&k->histogram, k->maximum);
    k->minimum = k->maximum = k->current;
}

/* ---- time ---- */

static int real_time;
static uint64_t begin_ns;

static void wait_until_ms(unsigned ms)
{
    uint64_t until_ns = begin_ns + ms * UINT64_C(1000000), now_ns = crest_now();
    if (until_ns <= now_ns)
        return;
    uint64_t left_ns = until_ns - now_ns;
    if (real_time)
        nanosleep(&(struct timespec){(time_t)(left_ns / 1000000000), (long)(left_ns % 1000000000)},
                  NULL);
    else
        crest_testing_clock_advance(left_ns);
}

static void queue_to(kamon_sampler *kamon, long value)
{
    kamon_add(kamon, value - kamon->current);
    crest_gauge_set(&as_gauge, (double)value);
    crest_range_sampler_set(&as_sampler, value);
}

static void row(const char *who, double lowest, double highest, double average)
{
    printf("%-28s %8.0f %8.0f %8.2f\n", who, lowest, highest, average);
}

int main(int argc, char **argv)
{
    real_time = argc > 1 && strcmp(argv[1], "real") == 0;
    const unsigned last_ms = real_time ? 7000 : 60000;
    if (!real_time)
        crest_testing_clock_set(UINT64_C(1000000000));
    begin_ns = crest_now();
    kamon_sampler kamon = {0};
    seen gauge = {0};
    unsigned bursts = 0;
    crest_testing_tick(NULL); /* in a program crest_start's ticker does that, once a second */
    for (unsigned ms = 0; ms <= last_ms; ms += 5) {
        wait_until_ms(ms);
        unsigned phase = (ms + BURST_EVERY_MS - BURST_FIRST_MS) % BURST_EVERY_MS;
        if (phase == 0) {
            queue_to(&kamon, BURST);
            bursts++;
        }
        if (phase == BURST_MS)
            queue_to(&kamon, 0);
        if (ms % 200 == 0 && ms > 0)
            kamon_sample(&kamon);
        if (ms % 1000 == 0 && ms > 0) {
            see(&gauge, (long)crest_gauge_value(&as_gauge));
            crest_testing_tick(NULL);
        }
    }

    crest_window window = crest_range_sampler_window(&as_sampler, CREST_WINDOW_S);
    printf("%u bursts to %d, %d ms each, in %.0f s\n\n", bursts, BURST, BURST_MS, window.covered_s);
    printf("%-28s %8s %8s %8s\n", "seen by", "lowest", "highest", "average");
    row("a gauge, each second", (double)gauge.lowest, (double)gauge.highest,
        gauge.sum / (double)gauge.count);
    row("Kamon's sampler, each 200 ms", (double)kamon.histogram.lowest,
        (double)kamon.histogram.highest, kamon.histogram.sum / (double)kamon.histogram.count);
    row("Crest's range sampler", window.minimum, window.maximum, window.average);
    row("what there was", 0, BURST, (double)bursts * BURST * BURST_MS / last_ms);
    return crest_ticker_detach(NULL) == CREST_OK ? 0 : 1;
}
