/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The instance of spans' ids. See span_instance.h.
 */
#include "spans/span_instance.h"
#include "base/atomic.h"
#include "base/host_name.h"
#include "base/utf8.h"

#include <string.h>

/* Two, written in turn, so that a reader of the one before finds it as it was. */
static char instance_text[2][CREST_RESOURCE_BYTES_MAX + 1];
static const char *instance_now = instance_text[0];

void crest_span_instance_set(const char *instance)
{
    char host[CREST_HOST_BYTES];
    if (instance == NULL || instance[0] == '\0') {
        crest_host_name(host);
        instance = host;
    }
    if (strcmp(instance, crest_span_instance()) == 0)
        return;
    char *next = instance_text[instance_now == instance_text[0]];
    crest_utf8_copy(instance, next, sizeof instance_text[0], NULL);
    crest_atomic_store_ptr_release(CREST_PTR(&instance_now), next);
}

const char *crest_span_instance(void)
{
    /* acquire: partner of the release store above */
    return crest_atomic_load_ptr_acquire(CREST_PTR(&instance_now));
}
