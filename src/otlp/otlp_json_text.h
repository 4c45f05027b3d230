/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Texts and numbers of OTLP's JSON, into memory that the caller has reserved; each function returns
 * their end. 64-bit integers are in quotes, as protobuf's JSON has them.
 *
 *     at = crest_otlp_json_text(crest_otlp_json_put(at, "{\"name\":"), name);
 *     at = crest_otlp_json_u64(at, ",\"count\":", 12);
 */
#ifndef CREST_OTLP_JSON_TEXT_H
#define CREST_OTLP_JSON_TEXT_H

#include <stdint.h>

/* Bytes that a byte of a text takes at most: an escape such as a control character's. */
#define CREST_OTLP_JSON_BYTES_MAX 6u
/* Bytes around an attribute's key and value. */
#define CREST_OTLP_JSON_AROUND 48u

/* As it is. */
char *crest_otlp_json_put(char *at, const char *text);

/* A text in quotes, as valid UTF-8 with what JSON wants escaped; what had to be replaced is counted
 * as misuse. */
char *crest_otlp_json_text(char *at, const char *text);

/* `name`, a text such as ",\"count\":", and a number. */
char *crest_otlp_json_u64(char *at, const char *name, uint64_t value);
char *crest_otlp_json_i64(char *at, const char *name, int64_t value);
char *crest_otlp_json_i32(char *at, const char *name, int value);
char *crest_otlp_json_double(char *at, const char *name, double value);

/* An attribute with a text, behind a comma if it is not the first. */
char *crest_otlp_json_attribute(char *at, const char *key, const char *value, int *first);

#endif
