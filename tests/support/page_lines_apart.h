/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What tests ask of every page: each line, without its value, is there once. So no family has two
 * headers and no series two samples. Tests nothing itself.
 */
#ifndef CREST_TESTS_PAGE_LINES_APART_H
#define CREST_TESTS_PAGE_LINES_APART_H

#include "support/core_fixture.h"

#include <crest/page.h>

/* A page as one text, which the caller frees. */
typedef struct page_gathered {
    char *text;
    size_t length, room;
} page_gathered;

static int page_gather(void *context, const void *bytes, size_t length)
{
    page_gathered *page = context;
    if (page->length + length + 1 > page->room) {
        page->room = 2 * (page->length + length + 1);
        page->text = realloc(page->text, page->room);
        fixture_holds(page->text != NULL);
    }
    memcpy(page->text + page->length, bytes, length);
    page->length += length;
    page->text[page->length] = '\0';
    return 0;
}

/* The key of a line: of a header its first three words, of a sample all before its value. A blank
 * may be in a label's value, between quotes. */
static size_t page_line_key(const char *line)
{
    size_t at = 0, words = 0;
    int quoted = 0;
    for (; line[at] != '\n' && line[at] != '\0'; at++) {
        if (line[0] != '#' && line[at] == '"')
            quoted = !quoted;
        if (quoted && line[at] == '\\')
            at++;
        if (!quoted && line[at] == ' ' && (line[0] != '#' || ++words == 3))
            break;
    }
    return at;
}

static int page_compare_lines(const void *a, const void *b)
{
    const char *x = *(const char *const *)a, *y = *(const char *const *)b;
    size_t x_key = page_line_key(x), y_key = page_line_key(y);
    int order = memcmp(x, y, x_key < y_key ? x_key : y_key);
    return order != 0 ? order : (x_key > y_key) - (x_key < y_key);
}

/* Asserts it; returns how many lines the page has. */
static size_t page_assert_lines_apart(const char *text)
{
    size_t count = 0;
    for (const char *at = text; (at = strchr(at, '\n')) != NULL; at++)
        count++;
    const char **lines = calloc(count + 1, sizeof *lines);
    fixture_holds(lines != NULL);
    for (size_t i = 0; i < count; i++, text = strchr(text, '\n') + 1)
        lines[i] = text;
    fixture_holds(text[0] == 0);
    qsort(lines, count, sizeof *lines, page_compare_lines);
    for (size_t i = 1; i < count; i++)
        if (page_compare_lines(&lines[i - 1], &lines[i]) == 0) {
            print_error("twice: %.*s\n", (int)page_line_key(lines[i]), lines[i]);
            fixture_holds(!"the page has two such lines");
        }
    free(lines);
    return count;
}

#endif
