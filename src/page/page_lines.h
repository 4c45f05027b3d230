/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sample lines of a page. The common text of a family's lines is put together once, in a form. A
 * line is the form's parts with the values of its labels between them, and a number:
 *
 *     comm_messages_total{peer="    10.0.0.7    ",kind="    ping    "}     12
 *     part 0                                    part 1             part 2
 *
 *     char *at = crest_line_begin(out, &form, &row);
 *     at += crest_number_u64(at, row.counter);
 *     crest_line_end(out, at);
 *
 * Where values need escaping, or labels are very long, lines are put together the long way.
 */
#ifndef CREST_PAGE_LINES_H
#define CREST_PAGE_LINES_H

#include "base/copy.h"
#include "base/number.h"
#include "page/page_escape.h"
#include "page/page_source.h"

/* Bytes of a form's parts together. With longer parts, as long constant labels make them, lines are
 * put together the long way. */
#define CREST_LINE_FORM_BYTES 2048u
/* Room that crest_line_begin leaves: for a number and what may follow it. */
#define CREST_LINE_VALUE_BYTES 64u

typedef struct crest_line_part {
    uint16_t at, length;
} crest_line_part;

typedef struct crest_line_form {
    const crest_page_metric *metric;
    const char *before, *name, *suffix, *after; /* after: text behind the labels */
    size_t fixed;                               /* bytes of all parts */
    unsigned labels;                            /* labels of a row */
    int whole;                                  /* the parts fit */
    crest_line_part part[CREST_PAGE_LABELS_MAX + 1];
    char text[CREST_LINE_FORM_BYTES + CREST_COPY_PAD];
} crest_line_form;

/* The form of samples: name and suffix, {, the labels, } and a space. `name`, `suffix` and `metric`
 * are borrowed as long as the form is used. */
void crest_line_form_sample(crest_line_form *form, const crest_page_metric *metric,
                            const char *name, const char *suffix);
/* The form of the labels alone. */
void crest_line_form_labels(crest_line_form *form, const crest_page_metric *metric);

/* Bytes of a row in this form; 0: the row has to go the long way. */
static inline size_t crest_line_bytes(const crest_line_form *form, const crest_page_row *row)
{
    return form->whole && row->plain ? form->fixed + row->bytes : 0;
}

/* Writes those bytes and returns their end. Touches up to CREST_COPY_PAD bytes behind it. */
static inline char *crest_line_fill(char *at, const crest_line_form *form,
                                    const crest_page_row *row)
{
    at = crest_copy_padded(at, form->text, form->part[0].length);
    for (unsigned i = 0; i < form->labels; i++) {
        at = crest_copy_short(at, row->values[i], row->lengths[i]);
        at = crest_copy_padded(at, form->text + form->part[i + 1].at, form->part[i + 1].length);
    }
    return at;
}

/* Puts the labels of a row, escaped piece by piece, with commas between them and nothing else. */
void crest_line_put_labels(crest_buffer *out, const crest_page_metric *metric,
                           const crest_page_row *row);
/* The long way of crest_line_begin. */
char *crest_line_begin_long(crest_buffer *out, const crest_line_form *form,
                            const crest_page_row *row);

/* Begins a line, up to its value; leaves room for CREST_LINE_VALUE_BYTES. */
static inline char *crest_line_begin(crest_buffer *out, const crest_line_form *form,
                                     const crest_page_row *row)
{
    size_t bytes = crest_line_bytes(form, row);
    if (bytes == 0 || bytes > CREST_BUFFER_BYTES - CREST_LINE_VALUE_BYTES)
        return crest_line_begin_long(out, form, row);
    return crest_line_fill(crest_buffer_reserve(out, bytes + CREST_LINE_VALUE_BYTES), form, row);
}

/* Ends the line behind its value. */
static inline void crest_line_end(crest_buffer *out, char *at)
{
    *at++ = '\n';
    out->used = (size_t)(at - out->bytes);
}

#endif
