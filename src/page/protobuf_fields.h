/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Common parts of the messages of a protobuf page: numbers, times and labels. See page_protobuf.h.
 */
#ifndef CREST_PROTOBUF_FIELDS_H
#define CREST_PROTOBUF_FIELDS_H

#include "wire/protobuf.h"

/* Fields of LabelPair. */
enum { CREST_PROTOBUF_LABEL_NAME = 1, CREST_PROTOBUF_LABEL_VALUE = 2 };

/* value / 10^decimals, rounded once. decimals: 0 to 9. */
double crest_protobuf_scaled(uint64_t value, unsigned decimals);
/* A google.protobuf.Timestamp, as the field of this number. */
char *crest_protobuf_time(char *at, unsigned field, uint64_t seconds, uint32_t nanoseconds);
/* A LabelPair, as the field of this number; both texts are valid UTF-8. */
char *crest_protobuf_label(char *at, unsigned field, const char *key, size_t key_bytes,
                           const char *value, size_t value_bytes);

#endif
