/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Explains InfluxDB's answers. See influx_answer.h.
 */
#include "influxdb/influx_answer.h"
#include "common/shown_text.h"

#include <stdio.h>
#include <string.h>

#define INFLUX_ANSWER_ADVICE_BYTES 320u

/* Where the answer first contains this text behind `from`; NULL if it does not. It may hold NULs.
 */
static const char *influx_answer_find(const crest_http_answer *answer, const char *from,
                                      const char *text)
{
    size_t length = strlen(text), left = (size_t)(answer->words + answer->length - from);
    for (; left >= length; from++, left--)
        if (memcmp(from, text, length) == 0)
            return from;
    return NULL;
}

/* The number behind the last "dropped=", or 1. */
static uint64_t influx_answer_dropped(const crest_http_answer *answer)
{
    static const char lead[] = "dropped=";
    const char *end = answer->words + answer->length, *at = answer->words, *last = NULL;
    while ((at = influx_answer_find(answer, at, lead)) != NULL)
        last = at += sizeof lead - 1;
    uint64_t dropped = 0;
    for (at = last; at != NULL && at < end && *at >= '0' && *at <= '9'; at++)
        dropped = dropped > UINT32_MAX ? dropped : dropped * 10 + (uint64_t)(*at - '0');
    return dropped != 0 ? dropped : 1;
}

/* What is in {"error":"…"}, else all of it. */
static void influx_answer_words(const crest_http_answer *answer, char *words, size_t size)
{
    static const char lead[] = "{\"error\":\"";
    const char *from = answer->words, *end = from + answer->length;
    const char *found = influx_answer_find(answer, from, lead);
    if (found != NULL) {
        from = found + sizeof lead - 1;
        while (end > from && end[-1] != '"')
            end--;
        if (end > from)
            end--;
        else
            end = answer->words + answer->length;
    }
    if (crest_push_text_show(from, (size_t)(end - from), words, size) == 0)
        snprintf(words, size, "(it says nothing)");
}

static void influx_answer_advise(const crest_http_answer *answer, const char *database,
                                 char advice[INFLUX_ANSWER_ADVICE_BYTES])
{
    const char *says = "";
    if (answer->code == 401 || answer->code == 403)
        says = "Set influxdb.user and influxdb.password-file to a user who may write there";
    else if (answer->code == 404 &&
             influx_answer_find(answer, answer->words, "database not found") != NULL) {
        snprintf(advice, INFLUX_ANSWER_ADVICE_BYTES,
                 "Create it: CREATE DATABASE \"%s\", or name another behind the URL's last slash",
                 database);
        return;
    } else if (answer->code == 404 || answer->code == 405)
        says = "Is there an InfluxDB 1.x, or what takes its /write, at this address?";
    else if (answer->code == 413)
        says = "Its max-body-size is less than 4 MiB; raise it";
    else if (answer->code == 429 || answer->code >= 500)
        says = "The next report makes up for it";
    else
        says = "The next report tries again; the server's log may say more";
    snprintf(advice, INFLUX_ANSWER_ADVICE_BYTES, "%s", says);
}

/* Of 200 InfluxDB answers only an empty body; a page is another server's. */
static int influx_answer_is_success(const crest_http_answer *answer)
{
    return answer->code == 204 || (answer->code == 200 && answer->length == 0 && !answer->cut);
}

crest_status crest_influx_answer_check(const crest_http_answer *answer, const char *shown,
                                       const char *database, crest_influx_answer *meant,
                                       crest_error *error)
{
    memset(meant, 0, sizeof *meant);
    if (influx_answer_is_success(answer))
        return CREST_OK;
    influx_answer_words(answer, meant->words, sizeof meant->words);
    if (answer->code == 400 && influx_answer_find(answer, answer->words, "partial write") != NULL) {
        meant->partial = 1;
        meant->dropped = influx_answer_dropped(answer);
        return CREST_OK;
    }
    if (answer->code == 200)
        return crest_error_set(error, CREST_REFUSED,
                               "POST %s: answered with code 200 and \"%s\", which InfluxDB never "
                               "does; is the URL right?",
                               shown, meant->words);
    if (answer->code >= 300 && answer->code < 400)
        return crest_error_set(error, CREST_REFUSED,
                               "POST %s: answered with code %u, a redirect to \"%s\", which is not "
                               "followed. If that is where InfluxDB is, give that address",
                               shown, answer->code,
                               answer->location[0] ? answer->location : "(it does not say where)");
    char advice[INFLUX_ANSWER_ADVICE_BYTES];
    influx_answer_advise(answer, database, advice);
    if (answer->code >= 500 || answer->code == 429)
        return crest_error_set(error, CREST_UNREACHABLE, "POST %s: failed with code %u: %s. %s",
                               shown, answer->code, meant->words, advice);
    return crest_error_set(error, CREST_REFUSED, "POST %s: refused with code %u: %s. %s", shown,
                           answer->code, meant->words, advice);
}
