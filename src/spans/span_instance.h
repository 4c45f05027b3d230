/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The instance that ids of this process's spans are made with: `instance` of the options, else the
 * host's name.
 */
#ifndef CREST_SPAN_INSTANCE_H
#define CREST_SPAN_INSTANCE_H

#include <crest/reporter.h>

/* Sets it, cut at CREST_RESOURCE_BYTES_MAX bytes; NULL: the host's name. Copied. One thread at a
 * time. */
void crest_span_instance_set(const char *instance);

/* "" before it was set. Any thread, any handler. */
const char *crest_span_instance(void);

#endif
