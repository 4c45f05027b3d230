/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Text for a terminal. See console_text.h.
 */
#include "console/console_text.h"
#include "console/console_columns.h"

#include <stdio.h>
#include <string.h>

#define CONSOLE_TEXT_LEVELS 8

/* ---- putting ---- */

static void console_text_raw(crest_console_text *text, const char *bytes, size_t length)
{
    if (text->write != NULL && text->stopped == 0 && length > 0)
        text->stopped = text->write(text->context, bytes, length);
}

/* Blanks wait until something follows them. */
static void console_text_settle(crest_console_text *text)
{
    static const char blanks[] = "                                ";
    for (; text->blanks >= sizeof blanks; text->blanks -= sizeof blanks - 1)
        console_text_raw(text, blanks, sizeof blanks - 1);
    console_text_raw(text, blanks, text->blanks);
    text->blanks = 0;
}

void crest_console_put(crest_console_text *text, const char *bytes, size_t length)
{
    if (length == 0)
        return;
    console_text_settle(text);
    console_text_raw(text, bytes, length);
    text->columns += crest_console_columns(bytes, length);
}

void crest_console_put_text(crest_console_text *text, const char *bytes)
{
    crest_console_put(text, bytes, strlen(bytes));
}

void crest_console_put_blanks(crest_console_text *text, size_t count)
{
    text->blanks += count;
    text->columns += count;
}

void crest_console_end_line(crest_console_text *text)
{
    text->blanks = 0;
    if (text->redraw)
        console_text_raw(text, "\x1b[K", 3);
    console_text_raw(text, "\n", 1);
    text->columns = 0;
    text->lines++;
}

/* ---- what comes from outside ---- */

/* How a character is shown instead of itself; "": as it is. Of what is no UTF-8 each byte. */
static void console_text_escape(const crest_console_text *text, const char *at, unsigned code,
                                size_t bytes, char escape[16])
{
    escape[0] = '\0';
    if (bytes == 1 && code == 0xfffd)
        snprintf(escape, 16, "%s", "?");
    else if (code == '"' || code == '\\')
        snprintf(escape, 16, "\\%c", *at);
    else if (code == '\n')
        snprintf(escape, 16, "\\n");
    else if (code < 0x80 && crest_console_is_control(code))
        snprintf(escape, 16, "\\x%02x", code);
    else if (crest_console_is_control(code) || (text->ascii && code >= 0x80))
        snprintf(escape, 16, code > 0xffff ? "\\U%06x" : "\\u%04x", code);
}

void crest_console_put_quoted(crest_console_text *text, const char *quoted)
{
    crest_console_put(text, "\"", 1);
    const char *plain = quoted, *at = quoted;
    size_t bytes;
    for (size_t left = strlen(quoted); left > 0; left -= bytes, at += bytes) {
        char escape[16];
        unsigned code = crest_console_code(at, left, &bytes);
        console_text_escape(text, at, code, bytes, escape);
        if (escape[0] == '\0')
            continue;
        crest_console_put(text, plain, (size_t)(at - plain));
        crest_console_put_text(text, escape);
        plain = at + bytes;
    }
    crest_console_put_text(text, plain);
    crest_console_put(text, "\"", 1);
}

void crest_console_put_op(crest_console_text *text, const crest_op *op)
{
    char id[CREST_OP_TEXT_BYTES];
    crest_op_format(op, id, sizeof id);
    if (op->kind == CREST_OP_TEXT)
        crest_console_put_quoted(text, id);
    else
        crest_console_put_text(text, id);
}

/* ---- trends, styles and the cursor ---- */

void crest_console_put_trend(crest_console_text *text, const float *points, unsigned count)
{
    static const char ramp[CONSOLE_TEXT_LEVELS + 1] = "_.:-=+*#";
    float highest = 0;
    for (unsigned i = 0; i < count; i++)
        highest = points[i] > highest ? points[i] : highest;
    for (unsigned i = 0; i < count; i++) {
        /* what is not zero is never shown as zero */
        unsigned level = 0;
        if (points[i] > 0)
            level =
                1 + (unsigned)((double)points[i] / (double)highest * (CONSOLE_TEXT_LEVELS - 1.001));
        if (text->ascii) {
            crest_console_put(text, &ramp[level], 1);
        } else {
            const char block[] = {'\xe2', '\x96', (char)(0x81 + level)};
            crest_console_put(text, block, sizeof block);
        }
    }
}

void crest_console_style_as(crest_console_text *text, crest_console_style style)
{
    static const char *const sequences[] = {"\x1b[0m", "\x1b[1m", "\x1b[36m", "\x1b[31m"};
    if (!text->colour)
        return;
    console_text_settle(text);
    console_text_raw(text, sequences[style], strlen(sequences[style]));
}

void crest_console_to_top(crest_console_text *text)
{
    console_text_raw(text, "\x1b[H", 3);
}

void crest_console_clear_below(crest_console_text *text)
{
    console_text_raw(text, "\x1b[J", 3);
}
