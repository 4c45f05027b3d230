/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The encoder of the StatsD reporter: a series and what happened to it in, lines out. Pure; knows
 * neither packets nor sockets.
 *
 * Grammar: NAME:VALUE|TYPE[|@RATE], in the datadog dialect
 * NAME:VALUE[:VALUE...]|TYPE[|@RATE][|#TAGS]. See <crest/statsd.h> for sources and what is
 * promised.
 */
#ifndef CREST_REPORTERS_STATSD_LINE_H
#define CREST_REPORTERS_STATSD_LINE_H

#include <crest/statsd.h>

/* A name with its folded labels, and all tags: eight labels and eight of the registry, whole. */
#define CREST_STATSD_NAME_BYTES_MAX 20480u
#define CREST_STATSD_TAGS_BYTES_MAX 24576u
/* Datadog keeps so many characters of KEY:VALUE, and so many of a name. */
#define CREST_STATSD_TAG_CHARACTERS_MAX 200u
/* The most of a counter in one line: a double still holds it exactly. */
#define CREST_STATSD_STEP_MAX (UINT64_C(1) << 53)

/* How lines look; what is borrowed stays while it is used. */
typedef struct crest_statsd_form {
    crest_statsd_dialect dialect;
    const char *prefix;    /* "" or one that crest_statsd_prefix_is_valid */
    const char *tags;      /* datadog: of every line, as crest_statsd_tag makes them; "": none */
    size_t line_bytes_max; /* several values go into a line only if it is not longer */
    uint64_t samples;      /* lines of a distribution, about; 0: one for each record */
    int host_histograms;   /* h instead of d */
    int whole_seconds;     /* counters of time have no fractions */
    int unpacked;          /* a value a line */
    int no_rates;          /* a value for each record, whatever `samples` says */
} crest_statsd_form;

/*
 * Takes a line, or the two of a negative gauge, which belong together; without a line feed at the
 * end. `done` is how much of what was given has been said when this line has been sent: of the
 * counter's amount, or of the distribution's records, the smallest first. Non-zero stops.
 */
typedef int crest_statsd_line_fn(void *context, const char *line, size_t length, uint64_t done);

/* One series' name and tags as they stand on its lines; large, so not for the stack. */
typedef struct crest_statsd_identity {
    size_t name_length, labels_length, tags_length;
    char name[CREST_STATSD_NAME_BYTES_MAX];   /* prefix and canonical name */
    char labels[CREST_STATSD_NAME_BYTES_MAX]; /* etsy: .KEY.VALUE... */
    char tags[CREST_STATSD_TAGS_BYTES_MAX];   /* datadog: |#KEY:VALUE,... */
    char line[CREST_STATSD_PACKET_BYTES_MAX + 1];
} crest_statsd_identity;

/* Whether it can stand before names: not too long, and only letters, digits, dots, - and _. */
int crest_statsd_prefix_is_valid(const char *prefix);

/* Appends KEY:VALUE to a list of tags of `length` bytes, with a comma before it if there is one
 * already; returns the new length. Nothing is appended for an empty or missing value, or when it
 * does not fit into `size`. */
size_t crest_statsd_tag(char *tags, size_t length, size_t size, const char *key, const char *value);

/* Name and labels of a series. */
void crest_statsd_identify(const crest_statsd_form *form, const crest_series_view *series,
                           crest_statsd_identity *identity);

/* The part of a counter's growth that can be sent: all of it, or the whole seconds. */
uint64_t crest_statsd_amount(const crest_statsd_form *form, const crest_series_view *series,
                             uint64_t grown);

/* A counter that grew by `amount` (0 makes a line too): all of it, whole seconds and the rest in
 * lines of their own where they are asked for. Returns what the function returned. */
int crest_statsd_put_counter(const crest_statsd_form *form, const crest_series_view *series,
                             crest_statsd_identity *identity, uint64_t amount,
                             crest_statsd_line_fn *put, void *context);

/* A gauge named as the series and `suffix` ("" or ".rate1m"), in the base unit; below zero it takes
 * two lines, for a sign means a change. NaN and infinities put no line. */
int crest_statsd_put_gauge(const crest_statsd_form *form, crest_statsd_identity *identity,
                           const char *suffix, double value, crest_statsd_line_fn *put,
                           void *context);

/* The records of a distribution; `grown` has those not sent yet. */
int crest_statsd_put_distribution(const crest_statsd_form *form, const crest_series_view *series,
                                  crest_statsd_identity *identity, const crest_distribution *grown,
                                  crest_statsd_line_fn *put, void *context);

/* Adds to `to` the records of `grown` that the lines up to `done` carry, to the precision of their
 * buckets. CREST_NO_MEMORY. */
crest_status crest_statsd_said(const crest_statsd_form *form, const crest_distribution *grown,
                               uint64_t done, crest_distribution *to);

/* ---- of the encoder's two files only: a line in the making, in the identity's `line` ---- */

typedef struct crest_statsd_text {
    crest_statsd_identity *identity;
    size_t length;
    int over; /* it did not fit */
} crest_statsd_text;

void crest_statsd_begin(crest_statsd_text *text, crest_statsd_identity *identity);
void crest_statsd_put(crest_statsd_text *text, const char *bytes, size_t length);
void crest_statsd_put_name(crest_statsd_text *text, const char *suffix);
/* The type, the rate of a weight above 1, and the tags. */
void crest_statsd_put_type(crest_statsd_text *text, const char *type, uint64_t weight);
int crest_statsd_end(const crest_statsd_text *text, uint64_t done, crest_statsd_line_fn *put,
                     void *context);

#endif
