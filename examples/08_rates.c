/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Moving averages without a server: the ticker reads the counters once a second, and a rate is a
 * difference of two readings over the measured time between them. A burst between two readings is
 * in the rate, and in its peak.
 */
#include <crest/crest.h>
#include <stdio.h>
#include <time.h>

CREST_COUNTER(deploys, "casper.deploys", "Deploys accepted.");
CREST_HISTOGRAM(deploy_size, "casper.deploy-size", "Serialised deploy.", .unit = CREST_BYTES);

int main(void)
{
    if (crest_ticker_attach(NULL) != CREST_OK)
        return 1;
    for (int i = 0; i < 25; i++) {
        int burst = i == 12 ? 500 : 1; /* five hundred at once, then quiet again */
        crest_counter_add(&deploys, burst);
        crest_histogram_record_n(&deploy_size, i == 12 ? 9000 : 200, (uint64_t)burst);
        nanosleep(&(struct timespec){0, 100000000L}, NULL);
    }

    crest_rate rate; /* as of the last tick, which has read all of this */
    do {
        nanosleep(&(struct timespec){0, 100000000L}, NULL);
        rate = crest_counter_rate(&deploys, CREST_WINDOW_S);
    } while (rate.covered_s < 3);
    crest_window size = crest_histogram_window(&deploy_size, CREST_WINDOW_S);
    fprintf(stderr, "%.1f deploys/s over %.2f s, peak %.1f/s, average size %.0f bytes\n",
            rate.per_second, rate.covered_s, rate.peak, size.average);
    printf("the peak shows the burst: %s\n", rate.peak > 2 * rate.per_second / 1.5 ? "yes" : "no");
    printf("largest deploy of the window: %.0f bytes\n", size.maximum);
    return crest_ticker_detach(NULL) == CREST_OK ? 0 : 1;
}
