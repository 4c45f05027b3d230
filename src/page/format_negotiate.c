/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which format an HTTP client wants, by its Accept header. See crest_format_negotiate in
 * <crest/page.h>.
 *
 * The header is a list of media ranges, each with parameters:
 *
 *     application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.6, text/plain;q=0.5
 *
 * It is read from left to right, once. A malformed part ends only the range that it is in. Of the
 * ranges that accept a format, the most specific says how welcome it is (its q).
 */
#include <crest/page.h>

#include <stddef.h>
#include <string.h>

/* A part of the header. */
typedef struct negotiate_text {
    const char *at, *end;
} negotiate_text;

/* Escaping schemes of names with other characters than letters, digits and _. Our names have none.
 * `dots` changes even those, so it is never promised. */
static const char *const negotiate_escapings[] = {"allow-utf-8", "underscores", "values"};
#define NEGOTIATE_ESCAPINGS (sizeof negotiate_escapings / sizeof negotiate_escapings[0])

#define NEGOTIATE_TEXT "text/plain; version=0.0.4; charset=utf-8"
#define NEGOTIATE_OPENMETRICS "application/openmetrics-text; version=1.0.0; charset=utf-8"
#define NEGOTIATE_PROTO "io.prometheus.client.MetricFamily"
#define NEGOTIATE_PROTOBUF                                                                         \
    "application/vnd.google.protobuf; proto=" NEGOTIATE_PROTO "; encoding=delimited"

/* An offer with the escaping that the client asked for, and without one. Text 0.0.4 knows none. */
#define NEGOTIATE_ESCAPED(type)                                                                    \
    {                                                                                              \
        type "; escaping=allow-utf-8", type "; escaping=underscores", type "; escaping=values",    \
            type                                                                                   \
    }
static const char *const negotiate_types[][NEGOTIATE_ESCAPINGS + 1] = {
    [CREST_FORMAT_PROMETHEUS_TEXT] = {NEGOTIATE_TEXT, NEGOTIATE_TEXT, NEGOTIATE_TEXT,
                                      NEGOTIATE_TEXT},
    [CREST_FORMAT_OPENMETRICS] = NEGOTIATE_ESCAPED(NEGOTIATE_OPENMETRICS),
    [CREST_FORMAT_PROMETHEUS_PROTOBUF] = NEGOTIATE_ESCAPED(NEGOTIATE_PROTOBUF),
};

typedef struct negotiate_offer {
    const char *type, *subtype, *version;
    const char *proto; /* not NULL: only for a client that names it, and encoding=delimited */
} negotiate_offer;

static const negotiate_offer negotiate_offers[] = {
    [CREST_FORMAT_PROMETHEUS_TEXT] = {"text", "plain", "0.0.4", NULL},
    [CREST_FORMAT_OPENMETRICS] = {"application", "openmetrics-text", "1.0.0", NULL},
    [CREST_FORMAT_PROMETHEUS_PROTOBUF] = {"application", "vnd.google.protobuf", "",
                                          "io.prometheus.client.metricfamily"},
};
#define NEGOTIATE_OFFERS (sizeof negotiate_offers / sizeof negotiate_offers[0])

/* How exactly a range names a type, least first. */
enum { NEGOTIATE_NOT, NEGOTIATE_ANY, NEGOTIATE_ANY_SUBTYPE, NEGOTIATE_TYPE, NEGOTIATE_VERSION };

/* One media range. */
typedef struct negotiate_range {
    /* at NULL: the range names none */
    negotiate_text type, subtype, version, proto, encoding;
    unsigned thousandths; /* its q */
    size_t escaping;      /* index; NEGOTIATE_ESCAPINGS: none known here */
} negotiate_range;

/* The best range found so far for a format. */
typedef struct negotiate_answer {
    int exactness; /* of that range */
    unsigned thousandths;
    unsigned place; /* its place in the header */
    size_t escaping;
} negotiate_answer;

const char *crest_format_content_type(crest_format format)
{
    switch (format) {
    case CREST_FORMAT_PROMETHEUS_TEXT: return NEGOTIATE_TEXT;
    case CREST_FORMAT_OPENMETRICS: return NEGOTIATE_OPENMETRICS;
    case CREST_FORMAT_PROMETHEUS_PROTOBUF: return NEGOTIATE_PROTOBUF;
    }
    return NULL;
}

static int negotiate_token_byte(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           (c != '\0' && strchr("!#$%&'*+-.^_`|~", c) != NULL);
}

static void negotiate_skip_blanks(negotiate_text *rest)
{
    while (rest->at < rest->end && (*rest->at == ' ' || *rest->at == '\t'))
        rest->at++;
}

static int negotiate_take(negotiate_text *rest, char c)
{
    if (rest->at == rest->end || *rest->at != c)
        return 0;
    rest->at++;
    return 1;
}

/* Takes a token off; 0 if there is none. */
static int negotiate_take_token(negotiate_text *rest, negotiate_text *token)
{
    token->at = rest->at;
    while (rest->at < rest->end && negotiate_token_byte(*rest->at))
        rest->at++;
    token->end = rest->at;
    return token->end != token->at;
}

/* Takes a token or a quoted string off, without its quotes. An escape in it stays; such a value
 * matches none that matter here. */
static int negotiate_take_value(negotiate_text *rest, negotiate_text *value)
{
    if (!negotiate_take(rest, '"'))
        return negotiate_take_token(rest, value);
    value->at = rest->at;
    while (rest->at < rest->end && *rest->at != '"')
        rest->at += *rest->at == '\\' && rest->end - rest->at > 1 ? 2 : 1;
    value->end = rest->at;
    return negotiate_take(rest, '"');
}

/* ASCII only: tolower asks the locale. */
static char negotiate_lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/* Whether the text is this lower-case word, in any case. */
static int negotiate_is(negotiate_text text, const char *word)
{
    for (; text.at < text.end && *word != '\0'; text.at++, word++)
        if (negotiate_lower(*text.at) != *word)
            return 0;
    return text.at == text.end && *word == '\0';
}

/* Reads a q: 0 to 1 with at most three decimals, in thousandths; 0 if malformed. */
static int negotiate_quality(negotiate_text text, unsigned *thousandths)
{
    static const unsigned scale[] = {100, 10, 1};
    size_t length = (size_t)(text.end - text.at);
    if (length == 0 || length > 5 || (text.at[0] != '0' && text.at[0] != '1') ||
        (length > 1 && text.at[1] != '.'))
        return 0;
    *thousandths = text.at[0] == '1' ? 1000 : 0;
    for (size_t i = 2; i < length; i++) {
        if (text.at[i] < '0' || text.at[i] > '9')
            return 0;
        *thousandths += (unsigned)(text.at[i] - '0') * scale[i - 2];
    }
    return *thousandths <= 1000;
}

/* Reads a parameter, behind the ; of the range. 0 if malformed. */
static int negotiate_parameter(negotiate_text *rest, negotiate_range *range)
{
    negotiate_text key, value = {NULL, NULL};
    negotiate_skip_blanks(rest);
    if (!negotiate_take_token(rest, &key))
        return rest->at == rest->end || *rest->at == ';' || *rest->at == ','; /* empty */
    negotiate_skip_blanks(rest);
    if (!negotiate_take(rest, '='))
        return !negotiate_is(key, "q");
    negotiate_skip_blanks(rest);
    if (!negotiate_take_value(rest, &value))
        return 0;
    if (negotiate_is(key, "q"))
        return negotiate_quality(value, &range->thousandths);
    if (negotiate_is(key, "version"))
        range->version = value;
    if (negotiate_is(key, "proto"))
        range->proto = value;
    if (negotiate_is(key, "encoding"))
        range->encoding = value;
    for (size_t i = 0; i < NEGOTIATE_ESCAPINGS && negotiate_is(key, "escaping"); i++)
        if (negotiate_is(value, negotiate_escapings[i]))
            range->escaping = i;
    return 1;
}

/* Reads one range and the comma behind it. 0 if malformed. */
static int negotiate_take_range(negotiate_text *rest, negotiate_range *range)
{
    *range = (negotiate_range){.thousandths = 1000, .escaping = NEGOTIATE_ESCAPINGS};
    negotiate_skip_blanks(rest);
    int good = negotiate_take_token(rest, &range->type) && negotiate_take(rest, '/') &&
               negotiate_take_token(rest, &range->subtype);
    negotiate_skip_blanks(rest);
    while (good && negotiate_take(rest, ';')) {
        good = negotiate_parameter(rest, range);
        negotiate_skip_blanks(rest);
    }
    if (negotiate_take(rest, ',') || rest->at == rest->end)
        return good;
    /* skips to the next comma that is not in quotes */
    for (negotiate_text quoted; rest->at < rest->end && *rest->at != ',';)
        if (*rest->at != '"' || !negotiate_take_value(rest, &quoted))
            rest->at += rest->at < rest->end;
    negotiate_take(rest, ',');
    return 0;
}

static int negotiate_exactness(const negotiate_range *range, const negotiate_offer *offer)
{
    /* no wildcard offers protobuf: a Prometheus that did not ask for it fails the whole scrape */
    if (offer->proto != NULL)
        return negotiate_is(range->type, offer->type) &&
                       negotiate_is(range->subtype, offer->subtype) &&
                       negotiate_is(range->proto, offer->proto) &&
                       negotiate_is(range->encoding, "delimited")
                   ? NEGOTIATE_VERSION
                   : NEGOTIATE_NOT;
    if (negotiate_is(range->type, "*"))
        return negotiate_is(range->subtype, "*") ? NEGOTIATE_ANY : NEGOTIATE_NOT;
    if (!negotiate_is(range->type, offer->type))
        return NEGOTIATE_NOT;
    if (negotiate_is(range->subtype, "*"))
        return NEGOTIATE_ANY_SUBTYPE;
    if (!negotiate_is(range->subtype, offer->subtype))
        return NEGOTIATE_NOT;
    if (range->version.at == NULL)
        return NEGOTIATE_TYPE;
    return negotiate_is(range->version, offer->version) ? NEGOTIATE_VERSION : NEGOTIATE_NOT;
}

/* Whether the client prefers a to b. */
static int negotiate_better(const negotiate_answer *a, const negotiate_answer *b)
{
    int a_named = a->exactness >= NEGOTIATE_TYPE, b_named = b->exactness >= NEGOTIATE_TYPE;
    if (a->thousandths != b->thousandths)
        return a->thousandths > b->thousandths;
    if (a_named != b_named)
        return a_named;
    return a_named && a->place < b->place;
}

crest_format crest_format_negotiate(const char *accept, const char **content_type)
{
    negotiate_answer answers[NEGOTIATE_OFFERS];
    for (size_t i = 0; i < NEGOTIATE_OFFERS; i++)
        answers[i] = (negotiate_answer){NEGOTIATE_NOT, 0, 0, NEGOTIATE_ESCAPINGS};
    negotiate_text rest = {accept, accept};
    if (accept != NULL)
        rest.end += strnlen(accept, CREST_ACCEPT_BYTES_MAX);
    for (unsigned place = 0; rest.at < rest.end; place++) {
        negotiate_range range;
        if (!negotiate_take_range(&rest, &range))
            continue;
        for (size_t i = 0; i < NEGOTIATE_OFFERS; i++) {
            int exactness = negotiate_exactness(&range, &negotiate_offers[i]);
            if (exactness > answers[i].exactness)
                answers[i] =
                    (negotiate_answer){exactness, range.thousandths, place, range.escaping};
        }
    }
    size_t format = CREST_FORMAT_PROMETHEUS_TEXT;
    for (size_t i = 0; i < NEGOTIATE_OFFERS; i++)
        if (answers[i].thousandths != 0 && negotiate_better(&answers[i], &answers[format]))
            format = i;
    if (content_type != NULL)
        *content_type = negotiate_types[format][answers[format].escaping];
    return (crest_format)format;
}
