/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A Prometheus page on its way into a textfile: labels are put on every line, and families that
 * node_exporter always has itself are left out, with a comment in their place. Pure: takes pieces
 * of a page and gives pieces on; knows no file.
 *
 *     crest_textfile_page page;
 *     crest_textfile_page_init(&page, "node=\"a\"", write, context);
 *     crest_snapshot_write(snapshot, format, NULL, crest_textfile_page_write, &page, &error);
 */
#ifndef CREST_REPORTERS_TEXTFILE_PAGE_H
#define CREST_REPORTERS_TEXTFILE_PAGE_H

#include <crest/page.h>

/* "# HELP ", a name and a blank fit; a longer line's begin goes on as it is. */
#define CREST_TEXTFILE_PAGE_HEAD_BYTES 512u

typedef struct crest_textfile_page {
    const char *labels; /* as they stand in a line, without braces; "": none. Borrowed */
    crest_write_fn *write;
    void *context;
    int state;
    size_t used;
    char head[CREST_TEXTFILE_PAGE_HEAD_BYTES]; /* the head of a line whose kind is not known yet */
} crest_textfile_page;

void crest_textfile_page_init(crest_textfile_page *page, const char *labels, crest_write_fn *write,
                              void *context);

/* A crest_write_fn: pieces may end anywhere. Returns what `write` returned when it stopped it. */
int crest_textfile_page_write(void *page, const void *bytes, size_t length);

/* Writes key="value", escaped, into `text`; returns its length, and writes nothing when `text` is
 * NULL. */
size_t crest_textfile_page_label(const char *key, const char *value, char *text);

#endif
