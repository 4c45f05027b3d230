/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lines of HdrHistogram's logs from any bytes: read, or a sentence; and the same bytes as a
 * compressed histogram.
 */
#include "fuzz_input.h"

#include <crest/hlog.h>

#include <string.h>

static void fuzz_compressed(const void *bytes, size_t length)
{
    crest_error error = {0};
    crest_distribution *d = crest_distribution_decode_compressed(bytes, length, &error);
    FUZZ_WANTS((d != NULL) == (error.message[0] == '\0'));
    crest_distribution_free(d);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    crest_hlog_log log = {0, 0, 0};
    const char *line = (const char *)data, *end = line + size;
    while (line < end) {
        const char *feed = memchr(line, '\n', (size_t)(end - line)), *stop = feed ? feed : end;
        crest_hlog_interval interval;
        crest_error error = {0};
        crest_status status =
            crest_hlog_parse(&log, line, (size_t)(stop - line), &interval, &error);
        FUZZ_WANTS((status == CREST_OK) == (error.message[0] == '\0'));
        FUZZ_WANTS(status == CREST_OK || interval.distribution == NULL);
        FUZZ_WANTS(interval.tag >= line && interval.tag + interval.tag_length <= stop);
        crest_distribution_free(interval.distribution);
        line = stop + 1;
    }
    fuzz_compressed(data, size);
    return 0;
}
