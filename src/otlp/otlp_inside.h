/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the walk over a snapshot and the two formats of OTLP share: the body and the point under
 * way, and what a format does. See otlp_encoder.h.
 */
#ifndef CREST_OTLP_INSIDE_H
#define CREST_OTLP_INSIDE_H

#include "otlp/otlp_names.h"
#include "page/page_exemplar.h"
#include <crest/otlp.h>

/* Bytes that close a Metric and a body, at most. */
#define CREST_OTLP_TAIL_BYTES 64u
/* Room that a point needs beside its attributes and what a histogram adds. */
#define CREST_OTLP_POINT_BYTES 512u

/* What a length of two bytes says, at most, and a family up to which one has them. */
#define CREST_OTLP_WIDE_BYTES 16383u

/* What data points a family has. */
typedef enum crest_otlp_shape {
    CREST_OTLP_SHAPE_GAUGE,
    CREST_OTLP_SHAPE_SUM,
    CREST_OTLP_SHAPE_HISTOGRAM,
    CREST_OTLP_SHAPE_EXPONENTIAL
} crest_otlp_shape;

/* The body under way. */
typedef struct crest_otlp_out {
    char *bytes;
    size_t used, room;
    size_t limit; /* bytes of a body */
    size_t head;  /* of these, kept free at the beginning for the envelope */
    size_t points;
    size_t first, end; /* as in crest_otlp_body */
    crest_otlp_body_fn *write;
    void *context;
    int failed;                 /* what the callback returned when it refused; 0: it has not */
    int lacked;                 /* there was no memory */
    uint64_t bodies, delivered; /* bodies and bytes that it has taken */
    size_t refused;             /* bytes of the refused body */
} crest_otlp_out;

/* The point under way: a number, or a histogram. */
typedef struct crest_otlp_point {
    const crest_page_row *row;
    uint64_t start_ns; /* 0: none */
    int is_int;
    int64_t as_int;
    double as_double;
    /* histograms, in the base unit */
    uint64_t count;
    double sum, minimum, maximum;        /* extremes: only if there is a count */
    const crest_page_exemplar *exemplar; /* NULL: none */
} crest_otlp_point;

/* What the histograms of a family share, and the present one. */
typedef struct crest_otlp_histograms_of {
    int schema;     /* the finest schema that is wanted */
    unsigned limit; /* buckets of an exponential one, at most */
    size_t ready;   /* the series that `native` is of; SIZE_MAX: none */
    crest_native native;
    const double *bounds; /* of explicit buckets */
    unsigned bound_count;
    uint64_t limits[CREST_BUCKETS_MAX];
    crest_totals totals;
    crest_page_exemplar exemplar;
} crest_otlp_histograms_of;

struct crest_otlp_encoder;

/* Protobuf or JSON. */
typedef struct crest_otlp_format {
    /* Begins the bodies of a call: prepares what all share, sets out->head. 0 without memory. */
    int (*begin)(struct crest_otlp_encoder *encoder);
    /* Ends them: frees what it has. */
    void (*end)(struct crest_otlp_encoder *encoder);
    /* Begins a family, before it is opened: prepares its labels. */
    void (*labels)(struct crest_otlp_encoder *encoder);
    /* Bytes that opening it takes at most. */
    size_t (*family_bytes)(const struct crest_otlp_encoder *encoder);
    /* Opens it; there is room. */
    void (*family_open)(struct crest_otlp_encoder *encoder);
    /* Closes it; it has points. */
    void (*family_close)(struct crest_otlp_encoder *encoder);
    /* Bytes that the attributes of any row take at most, beside this many for each byte of its
     * values. */
    size_t (*attribute_bytes)(const struct crest_otlp_encoder *encoder);
    unsigned bytes_a_byte;
    /* For a family that has got CREST_OTLP_WIDE_BYTES long: makes room for longer lengths. NULL: it
     * has none. */
    void (*widen)(struct crest_otlp_encoder *encoder);
    /* Puts a point behind others; there is room. */
    void (*point)(struct crest_otlp_encoder *encoder, const crest_otlp_point *point);
    /* Puts the envelope; sets *length, returns where the body begins. */
    const char *(*body)(struct crest_otlp_encoder *encoder, size_t *length);
} crest_otlp_format;

typedef struct crest_otlp_encoder {
    const crest_otlp_options *options;
    const crest_otlp_format *format;
    void *own; /* the format's */
    crest_page page;
    crest_page_options page_options;
    crest_otlp_out out;
    uint64_t time_ns;                     /* of all points */
    const struct crest_otlp_delta *delta; /* delta: where points begin; NULL: cumulative */
    /* the metric under way, and its family */
    crest_page_metric metric;
    crest_page_family family;
    crest_otlp_name name;
    crest_otlp_shape shape;
    unsigned decimals;
    crest_otlp_histograms_of histograms;
    int open;             /* the family is open */
    int wide;             /* it has been widened */
    size_t attributes;    /* the format's attribute_bytes */
    size_t family_at;     /* where it begins in the body */
    size_t family_points; /* of this body */
} crest_otlp_encoder;

/* The parts of a family's description, in their order; returns how many there are. */
static inline unsigned crest_otlp_description(const crest_otlp_encoder *encoder,
                                              const char *parts[3])
{
    const char *description = encoder->metric.first.description;
    int described = description != NULL && description[0] != '\0';
    unsigned count = 0;
    if (encoder->family.computed[0] != '\0')
        parts[count++] = encoder->family.computed;
    if (described && count != 0)
        parts[count++] = ": ";
    if (described)
        parts[count++] = description;
    return count;
}

#endif
