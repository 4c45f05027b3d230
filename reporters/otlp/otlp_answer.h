/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Answers of an OTLP receiver, decoded: how many points it rejected, and its own words. Bytes that
 * come from outside: any of them are read without a fault, and what is cut is read as far as it
 * goes.
 *
 *     crest_otlp_answer said;
 *     if (crest_otlp_answer_decode(bytes, length, encoding, &said)) ... said.rejected ...
 *
 * Sources: opentelemetry-proto, ExportMetricsServiceResponse and ExportMetricsPartialSuccess
 * (fields 1, and in it 1 and 2), and those of traces, which have the same
 * fields; google.rpc.Status (field 2), which is the body of a refusal.
 */
#ifndef CREST_REPORTERS_OTLP_ANSWER_H
#define CREST_REPORTERS_OTLP_ANSWER_H

#include <crest/otlp.h>

/* Bytes of the server's words that are kept, its NUL included. */
#define CREST_OTLP_ANSWER_WORDS_BYTES 320u

typedef struct crest_otlp_answer {
    uint64_t rejected;                         /* points, or spans */
    char words[CREST_OTLP_ANSWER_WORDS_BYTES]; /* fit to show; "": it says nothing */
} crest_otlp_answer;

/* Decodes the body of a success: non-zero when it is an ExportMetricsServiceResponse, which may be
 * empty. `cut`: there is more of it that was not kept. */
int crest_otlp_answer_decode(const void *bytes, size_t length, int cut,
                             crest_otlp_encoding encoding, crest_otlp_answer *answer);

/* Reads a refusal's body into answer->words: the message of a Status in either encoding, or the
 * text as it is. */
void crest_otlp_answer_refusal(const void *bytes, size_t length, crest_otlp_answer *answer);

#endif
