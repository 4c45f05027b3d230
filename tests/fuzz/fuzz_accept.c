/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Accept headers: any bytes give one of three formats and its content type, and never more is read
 * than there is.
 *
 * Input: the header, up to a NUL or the end.
 */
#define _GNU_SOURCE
#include "fuzz_input.h"

#include <crest/page.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_input input = {data, data + size};
    char *accept = fuzz_text(&input);
    const char *type = NULL;
    crest_format format = crest_format_negotiate(accept, &type);
    FUZZ_WANTS(format == CREST_FORMAT_PROMETHEUS_TEXT || format == CREST_FORMAT_OPENMETRICS ||
               format == CREST_FORMAT_PROMETHEUS_PROTOBUF);
    const char *plain = crest_format_content_type(format);
    FUZZ_WANTS(type != NULL && strncmp(type, plain, strlen(plain)) == 0);
    FUZZ_WANTS(strcmp(type, plain) == 0 || strstr(accept, "=") != NULL);
    /* nobody gets what he does not name, nor accept by a wildcard */
    if (strchr(accept, '/') == NULL)
        FUZZ_WANTS(format == CREST_FORMAT_PROMETHEUS_TEXT);
    /* protobuf is for those alone that name it */
    if (strcasestr(accept, "io.prometheus.client.MetricFamily") == NULL)
        FUZZ_WANTS(format != CREST_FORMAT_PROMETHEUS_PROTOBUF);
    FUZZ_WANTS(crest_format_negotiate(accept, NULL) == format);
    free(accept);
    return 0;
}
