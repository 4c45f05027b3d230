/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The OTLP reporter of profiles, for the option profile.otlp=on of the room of profiles.
 */
#ifndef CREST_REPORTERS_OTLP_PROFILES_H
#define CREST_REPORTERS_OTLP_PROFILES_H

#include <crest/reporter.h>

/* One that sends where otlp=URL sends, with the same options and environment; without that option,
 * where otlp=on would. NULL and *error: as crest_otlp_http_new, or an option that is wrong. */
crest_reporter *crest_otlp_profiles_new(const crest_options *options, crest_error *error);

#endif
