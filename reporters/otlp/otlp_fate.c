/* SPDX-License-Identifier: Apache-2.0 */
/* What answers mean. See otlp_fate.h. */
#include "otlp/otlp_fate.h"
#include "common/shown_text.h"

#include <stdio.h>
#include <string.h>

static int otlp_fate_is_later(unsigned code)
{
    return code == 429 || code == 502 || code == 503 || code == 504;
}

static const char *otlp_fate_advice(unsigned code)
{
    switch (code) {
    case 400: return "The receiver's log may say more";
    case 401:
    case 403:
        return "Give what it wants by otlp.headers-file, otlp.bearer-file, or otlp.user and "
               "otlp.password-file";
    case 404:
        return "Is this an OTLP receiver, and its path right? A Collector is "
               "otlp=http://HOST:4318; "
               "Prometheus 3 is otlp=http://HOST:9090/api/v1/otlp, with its flag "
               "--web.enable-otlp-receiver; VictoriaMetrics is otlp=http://HOST:8428/opentelemetry";
    case 405: return "Is this an OTLP receiver, and its path right? One takes POST here";
    case 407:
        return "Put the user and password that the proxy wants into otlp.proxy: "
               "http://user:password@host:port";
    case 413: return "Something on the way limits how large a body may be; set otlp.body lower";
    case 415:
        return "It does not take this encoding or compression: try otlp.encoding=protobuf and "
               "otlp.compression=none";
    default: break;
    }
    return code >= 500 ? "The receiver, or a proxy before it, has a problem of its own; its log "
                         "says more"
                       : "An OTLP receiver answers 200";
}

/* A success, if it is a receiver's. */
static crest_otlp_fate otlp_fate_success(const crest_otlp_question *question,
                                         const crest_http_answer *answer, crest_otlp_answer *said,
                                         crest_error *error)
{
    if (answer->cut) {
        crest_error_set(error, CREST_REFUSED,
                        "POST %s: answered with code %u and more than %u bytes, which no OTLP "
                        "receiver does; is the URL right?",
                        question->url, answer->code, CREST_HTTP_ANSWER_BYTES_MAX);
        return CREST_OTLP_NEVER;
    }
    crest_otlp_encoding encoding = question->encoding;
    if (strncmp(answer->type, "application/json", 16) == 0)
        encoding = CREST_OTLP_JSON;
    else if (strncmp(answer->type, "application/x-protobuf", 22) == 0)
        encoding = CREST_OTLP_PROTOBUF;
    /* all that came may have been more than is kept */
    int cut = answer->length == sizeof answer->words;
    if (crest_otlp_answer_decode(answer->words, answer->length, cut, encoding, said))
        return CREST_OTLP_TAKEN;
    char words[CREST_OTLP_ANSWER_WORDS_BYTES];
    crest_push_text_show(answer->words, answer->length, words, sizeof words);
    crest_error_set(error, CREST_REFUSED,
                    "POST %s: answered with code %u, but with %s and no OTLP answer: another "
                    "server, or a login page? Check host, port and path. Its words: %s",
                    question->url, answer->code,
                    answer->type[0] != '\0' ? answer->type : "no content type", words);
    return CREST_OTLP_NEVER;
}

static crest_otlp_fate otlp_fate_later(const crest_otlp_question *question,
                                       const crest_http_answer *answer,
                                       const crest_otlp_answer *said, crest_error *error)
{
    char when[64] = "soon";
    if (answer->retry_after_s > 0)
        snprintf(when, sizeof when, "in %llu s, as it asks",
                 (unsigned long long)answer->retry_after_s);
    crest_error_set(error, CREST_UNREACHABLE,
                    "POST %s: not now, with code %u: %s. It is tried again %s", question->url,
                    answer->code, said->words, when);
    return CREST_OTLP_LATER;
}

static crest_otlp_fate otlp_fate_refusal(const crest_otlp_question *question,
                                         const crest_http_answer *answer,
                                         const crest_otlp_answer *said, crest_error *error)
{
    crest_error_set(error, CREST_REFUSED,
                    "POST %s: a body of %zu %s and %zu bytes was refused with code %u: %s. %s",
                    question->url, question->count, question->things, question->length,
                    answer->code, said->words, otlp_fate_advice(answer->code));
    return answer->code == 413   ? CREST_OTLP_TOO_LARGE
           : answer->code == 400 ? CREST_OTLP_REFUSED
                                 : CREST_OTLP_NEVER;
}

crest_otlp_fate crest_otlp_judge(const crest_otlp_question *question,
                                 const crest_http_answer *answer, crest_otlp_answer *said,
                                 crest_error *error)
{
    *said = (crest_otlp_answer){.rejected = 0};
    if (answer->code >= 200 && answer->code < 300)
        return otlp_fate_success(question, answer, said, error);
    if (answer->code >= 300 && answer->code < 400) {
        crest_error_set(error, CREST_REFUSED,
                        "POST %s: answered with code %u, a redirect to \"%s\", which is not "
                        "followed, because that server would get the headers and secrets. If it "
                        "is the receiver, give its address",
                        question->url, answer->code,
                        answer->location[0] ? answer->location : "(it does not say where)");
        return CREST_OTLP_NEVER;
    }
    crest_otlp_answer_refusal(answer->words, answer->length, said);
    if (said->words[0] == '\0')
        strcpy(said->words, "(it says nothing)");
    return otlp_fate_is_later(answer->code) ? otlp_fate_later(question, answer, said, error)
                                            : otlp_fate_refusal(question, answer, said, error);
}
