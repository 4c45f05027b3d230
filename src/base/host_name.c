/* SPDX-License-Identifier: Apache-2.0 */
/*
 * This machine's name. See host_name.h.
 */
#define _GNU_SOURCE
#include "base/host_name.h"
#include "base/utf8.h"

#include <unistd.h>

void crest_host_name(char name[CREST_HOST_BYTES])
{
    char raw[CREST_HOST_BYTES];
    if (gethostname(raw, sizeof raw) != 0)
        raw[0] = '\0';
    raw[sizeof raw - 1] = '\0';
    crest_utf8_copy(raw[0] != '\0' ? raw : "localhost", name, CREST_HOST_BYTES, NULL);
}
