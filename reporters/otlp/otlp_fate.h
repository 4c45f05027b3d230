/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a receiver's answer means for a body: taken, to be sent again, refused. Pure.
 *
 *     crest_otlp_fate fate = crest_otlp_judge(&question, &answer, &said, &error);
 *
 * Source: OTLP/HTTP's specification, "Response": 429, 502, 503 and 504 are worth a retry, all other
 * codes of 400 and above are not; a partial success never is.
 */
#ifndef CREST_REPORTERS_OTLP_FATE_H
#define CREST_REPORTERS_OTLP_FATE_H

#include "http/http_transport.h"
#include "otlp/otlp_answer.h"

typedef enum crest_otlp_fate {
    CREST_OTLP_TAKEN,     /* said->rejected of its points or spans were not */
    CREST_OTLP_LATER,     /* 429, 502, 503, 504: may be sent again */
    CREST_OTLP_REFUSED,   /* this body; others may be taken */
    CREST_OTLP_TOO_LARGE, /* 413 */
    CREST_OTLP_NEVER      /* whatever is sent here: wrong address, no permission … */
} crest_otlp_fate;

/* What was sent; borrowed. */
typedef struct crest_otlp_question {
    const char *url; /* as messages show it */
    crest_otlp_encoding encoding;
    const char *things; /* "points" or "spans" */
    size_t count, length;
} crest_otlp_question;

/* *error says what happened unless the fate is TAKEN: CREST_UNREACHABLE for LATER, else
 * CREST_REFUSED. */
crest_otlp_fate crest_otlp_judge(const crest_otlp_question *question,
                                 const crest_http_answer *answer, crest_otlp_answer *said,
                                 crest_error *error);

#endif
