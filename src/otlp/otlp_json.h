/* SPDX-License-Identifier: Apache-2.0 */
/*
 * OTLP as JSON: the same messages by OTLP's JSON encoding. That is protobuf's, with enumerations as
 * numbers. So integers of 64 bits are strings, NaN and the infinities are too, names are
 * lowerCamelCase, and what is 0 or empty may be left out.
 */
#ifndef CREST_OTLP_JSON_H
#define CREST_OTLP_JSON_H

#include "otlp/otlp_inside.h"

extern const crest_otlp_format crest_otlp_format_json;

#endif
