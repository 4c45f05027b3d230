/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sample lines. See page_lines.h.
 */
#include "page/page_lines.h"

/* A form being put together. What does not fit is left out, and the form is not whole. */
typedef struct lines_form_text {
    crest_line_form *form;
    size_t used;
    unsigned part;
} lines_form_text;

static void lines_add(lines_form_text *to, const char *text)
{
    size_t length = strlen(text);
    if (length > CREST_LINE_FORM_BYTES - to->used) {
        to->form->whole = 0;
        return;
    }
    memcpy(to->form->text + to->used, text, length);
    to->used += length;
}

static void lines_add_escaped(lines_form_text *to, const char *text)
{
    size_t room = CREST_LINE_FORM_BYTES - to->used;
    if (room >= CREST_PAGE_ESCAPE_MIN)
        to->used += crest_page_escape(&text, to->form->text + to->used, room, 1);
    if (*text != '\0')
        to->form->whole = 0;
}

/* Ends a part: all that was added since the last one. */
static void lines_part_end(lines_form_text *to)
{
    crest_line_part *part = &to->form->part[to->part];
    part->length = (uint16_t)(to->used - part->at);
    to->part++;
    if (to->part <= to->form->labels)
        to->form->part[to->part].at = (uint16_t)to->used;
}

static void lines_form_make(crest_line_form *form)
{
    const crest_series_view *first = &form->metric->first;
    unsigned constants = form->metric->constants;
    lines_form_text to = {form, 0, 0};
    form->labels = first->label_count - constants;
    form->whole = form->labels <= CREST_PAGE_LABELS_MAX;
    if (!form->whole)
        return;
    form->part[0].at = 0;
    lines_add(&to, form->name);
    lines_add(&to, form->suffix);
    lines_add(&to, form->before);
    for (unsigned i = 0; i < first->label_count; i++) {
        lines_add(&to, i != 0 ? "," : "");
        lines_add(&to, first->label_keys[i]);
        lines_add(&to, "=\"");
        if (i < constants)
            lines_add_escaped(&to, first->label_values[i]);
        else
            lines_part_end(&to);
        lines_add(&to, "\"");
    }
    lines_add(&to, form->after);
    lines_part_end(&to);
    form->fixed = to.used;
}

void crest_line_form_sample(crest_line_form *form, const crest_page_metric *metric,
                            const char *name, const char *suffix)
{
    int labelled = metric->first.label_count != 0;
    form->metric = metric;
    form->name = name;
    form->suffix = suffix;
    form->before = labelled ? "{" : "";
    form->after = labelled ? "} " : " ";
    lines_form_make(form);
}

void crest_line_form_labels(crest_line_form *form, const crest_page_metric *metric)
{
    form->metric = metric;
    form->name = form->suffix = form->before = form->after = "";
    lines_form_make(form);
}

void crest_line_put_labels(crest_buffer *out, const crest_page_metric *metric,
                           const crest_page_row *row)
{
    const crest_series_view *first = &metric->first;
    for (unsigned i = 0; i < first->label_count; i++)
        crest_page_put_label(out, first->label_keys[i],
                             i < metric->constants ? first->label_values[i]
                                                   : row->values[i - metric->constants],
                             i == 0);
}

char *crest_line_begin_long(crest_buffer *out, const crest_line_form *form,
                            const crest_page_row *row)
{
    crest_buffer_put_text(out, form->name);
    crest_buffer_put_text(out, form->suffix);
    crest_buffer_put_text(out, form->before);
    crest_line_put_labels(out, form->metric, row);
    crest_buffer_put_text(out, form->after);
    return crest_buffer_reserve(out, CREST_LINE_VALUE_BYTES);
}
