/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Histograms of HdrHistogram from any bytes: what is read is written, and read again as it was.
 */
#include "fuzz_input.h"

#include <crest/hdr.h>

#include <stdlib.h>
#include <string.h>

static unsigned char *fuzz_encode(const crest_distribution *d, size_t *length)
{
    crest_status status = crest_distribution_encode(d, NULL, 0, length);
    FUZZ_WANTS(status == CREST_LIMIT);
    if (*length == 0)
        return NULL; /* 0 digits: cells that came together are more than the format holds */
    unsigned char *bytes = malloc(*length);
    FUZZ_WANTS(bytes != NULL);
    FUZZ_WANTS(crest_distribution_encode(d, bytes, *length, length) == CREST_OK);
    return bytes;
}

/* `whole`: sum and extremes too, which 0 digits do not keep. */
static void fuzz_same(const crest_distribution *a, const crest_distribution *b, int whole)
{
    crest_bucket x, y;
    size_t at = 0, beside = 0;
    while (crest_distribution_next(a, &at, &x)) {
        FUZZ_WANTS(crest_distribution_next(b, &beside, &y));
        FUZZ_WANTS(x.lowest == y.lowest && x.count == y.count);
    }
    FUZZ_WANTS(!crest_distribution_next(b, &beside, &y));
    FUZZ_WANTS(crest_distribution_count(a) == crest_distribution_count(b));
    if (!whole)
        return;
    FUZZ_WANTS(crest_distribution_sum(a) == crest_distribution_sum(b));
    FUZZ_WANTS(crest_distribution_min(a) == crest_distribution_min(b));
    FUZZ_WANTS(crest_distribution_max(a) == crest_distribution_max(b));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    crest_error error = {0};
    crest_distribution *d = crest_distribution_decode(data, size, &error);
    FUZZ_WANTS((d != NULL) == (error.message[0] == '\0'));
    size_t length, again;
    unsigned char *bytes = d != NULL ? fuzz_encode(d, &length) : NULL;
    if (bytes != NULL) {
        crest_distribution *same = crest_distribution_decode(bytes, length, NULL);
        FUZZ_WANTS(same != NULL);
        fuzz_same(same, d, data[15] != 0);
        unsigned char *anew = fuzz_encode(same, &again);
        FUZZ_WANTS(again == length && memcmp(anew, bytes, length) == 0);
        free(anew);
        crest_distribution_free(same);
    }
    free(bytes);
    crest_distribution_free(d);
    return 0;
}
