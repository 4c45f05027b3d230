/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The filter in front of a textfile. See textfile_page.h.
 *
 * Of each line the begin is gathered until its name is known; the rest goes through as it comes.
 */
#include "textfile/textfile_page.h"

#include <stdio.h>
#include <string.h>

enum { TEXTFILE_PAGE_HEAD, TEXTFILE_PAGE_COPY, TEXTFILE_PAGE_SKIP };

/* Families that node_exporter always exports of itself, with any set of collectors: those of its Go
 * client library, of this collector and of the running of all. */
static const char *const textfile_page_foreign[] = {
    "go_", "process_", "promhttp_", "node_textfile_", "node_scrape_", "node_exporter_",
};

static int textfile_page_is_foreign(const char *name)
{
    for (size_t i = 0; i < sizeof textfile_page_foreign / sizeof *textfile_page_foreign; i++)
        if (strncmp(name, textfile_page_foreign[i], strlen(textfile_page_foreign[i])) == 0)
            return 1;
    return 0;
}

void crest_textfile_page_init(crest_textfile_page *page, const char *labels, crest_write_fn *write,
                              void *context)
{
    page->labels = labels;
    page->write = write;
    page->context = context;
    page->state = TEXTFILE_PAGE_HEAD;
    page->used = 0;
}

static int textfile_page_put(crest_textfile_page *page, const char *bytes, size_t length)
{
    return length > 0 ? page->write(page->context, bytes, length) : 0;
}

static int textfile_page_put_text(crest_textfile_page *page, const char *text)
{
    return textfile_page_put(page, text, strlen(text));
}

/* The head is complete: "name{", "name ", "# HELP name " or a whole line; decides about the line.
 */
static int textfile_page_decide(crest_textfile_page *page)
{
    size_t used = page->used;
    char *head = page->head, last = head[used - 1];
    head[used] = '\0';
    page->used = 0;
    page->state = last == '\n' ? TEXTFILE_PAGE_HEAD : TEXTFILE_PAGE_COPY;
    int help = strncmp(head, "# HELP ", 7) == 0, type = strncmp(head, "# TYPE ", 7) == 0;
    const char *name = help || type ? head + 7 : head;
    if (textfile_page_is_foreign(name)) {
        page->state = last == '\n' ? TEXTFILE_PAGE_HEAD : TEXTFILE_PAGE_SKIP;
        if (!help)
            return 0;
        char note[CREST_TEXTFILE_PAGE_HEAD_BYTES + 64];
        snprintf(note, sizeof note, "# %.*s left out: node_exporter has its own\n",
                 (int)strcspn(name, " \n"), name);
        return textfile_page_put_text(page, note);
    }
    if (head[0] == '#' || page->labels[0] == '\0' || (last != '{' && last != ' '))
        return textfile_page_put(page, head, used);
    int stopped = textfile_page_put(page, head, used - 1);
    stopped = stopped ? stopped : textfile_page_put(page, "{", 1);
    stopped = stopped ? stopped : textfile_page_put_text(page, page->labels);
    return stopped ? stopped : textfile_page_put_text(page, last == '{' ? "," : "} ");
}

/* Whether the head, with this byte, decides the kind of line. */
static int textfile_page_knows(const crest_textfile_page *page, char c)
{
    if (c == '\n' || page->used + 1 == sizeof page->head)
        return 1;
    if (page->head[0] != '#')
        return c == '{' || c == ' ';
    /* behind "# HELP " and the name */
    return c == ' ' && page->used > 7;
}

int crest_textfile_page_write(void *context, const void *bytes, size_t length)
{
    crest_textfile_page *page = context;
    const char *at = bytes, *end = at + length;
    while (at < end) {
        int stopped = 0;
        if (page->state == TEXTFILE_PAGE_HEAD) {
            char c = *at++;
            page->head[page->used++] = c;
            if (textfile_page_knows(page, c))
                stopped = textfile_page_decide(page);
        } else {
            const char *feed = memchr(at, '\n', (size_t)(end - at));
            size_t rest = (size_t)((feed != NULL ? feed + 1 : end) - at);
            if (page->state == TEXTFILE_PAGE_COPY)
                stopped = textfile_page_put(page, at, rest);
            if (feed != NULL)
                page->state = TEXTFILE_PAGE_HEAD;
            at += rest;
        }
        if (stopped)
            return stopped;
    }
    return 0;
}

size_t crest_textfile_page_label(const char *key, const char *value, char *text)
{
    size_t length = strlen(key);
    if (text != NULL)
        memcpy(text, key, length);
    if (text != NULL)
        memcpy(text + length, "=\"", 2);
    length += 2;
    for (; *value != '\0'; value++) {
        char escaped = *value == '\n' ? 'n' : *value;
        int escape = *value == '\n' || *value == '"' || *value == '\\';
        if (text != NULL && escape)
            text[length] = '\\';
        length += (size_t)escape;
        if (text != NULL)
            text[length] = escaped;
        length++;
    }
    if (text != NULL)
        text[length] = '"';
    return length + 1;
}
