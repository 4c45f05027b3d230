/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The options `spans=…`: read with the plan, carried out before reporters are attached.
 */
#ifndef CREST_SPANS_RUN_H
#define CREST_SPANS_RUN_H

#include "run/options.h"
#include <crest/span.h>

/* Reads them into *settings, whose text lies in the options; without `spans`, or with spans=off,
 * settings->spans is NULL. CREST_INVALID_OPTIONS with a message. */
crest_status crest_spans_options_read(const crest_options *options, crest_spans_settings *settings,
                                      crest_error *error);

/* Traces what they ask for, with ids of this instance; nothing if they ask for none. */
crest_status crest_spans_start(const crest_spans_settings *settings, const char *instance,
                               crest_error *error);

#endif
