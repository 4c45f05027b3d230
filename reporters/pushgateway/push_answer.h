/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a Pushgateway's answer means, in words an operator can act on. Pure.
 *
 * Source of the gateway's texts: prometheus/client_golang prometheus/registry.go and
 * prometheus/pushgateway storage/diskmetricstore.go; tried with 1.5.1.
 */
#ifndef CREST_REPORTERS_PUSH_ANSWER_H
#define CREST_REPORTERS_PUSH_ANSWER_H

#include "http/http_transport.h"

/* What was asked; all texts without password, borrowed for the call. */
typedef struct crest_push_question {
    const char *method;   /* PUT, POST or DELETE */
    const char *url;      /* of the gateway */
    const char *group;    /* of the group */
    const char *job;      /* the group's */
    const char *instance; /* the group's */
} crest_push_question;

/* CREST_OK for 200 and 202, which a Pushgateway answers on success; CREST_UNREACHABLE
 * for 500 and above, where another try may succeed; else CREST_REFUSED. The message has the
 * gateway's text and what to do. */
crest_status crest_push_answer_check(const crest_push_question *question,
                                     const crest_http_answer *answer, crest_error *error);

#endif
