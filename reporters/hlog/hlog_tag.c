/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tags of series. See hlog_tag.h.
 */
#include "hlog/hlog_tag.h"

#include <string.h>

/* HdrHistogram takes no comma, blank or line feed in a tag; the others are ours. */
static int hlog_tag_is_plain(unsigned char byte)
{
    return byte > ' ' && byte != 0x7f && strchr(",;=%\"", byte) == NULL;
}

static int hlog_tag_part(const char *text, crest_write_fn *write, void *context)
{
    static const char digits[] = "0123456789ABCDEF";
    while (*text != '\0') {
        size_t plain = 0;
        while (text[plain] != '\0' && hlog_tag_is_plain((unsigned char)text[plain]))
            plain++;
        int stopped = plain > 0 ? write(context, text, plain) : 0;
        text += plain;
        if (stopped == 0 && *text != '\0') {
            unsigned char byte = (unsigned char)*text++;
            const char escaped[3] = {'%', digits[byte >> 4], digits[byte & 15]};
            stopped = write(context, escaped, sizeof escaped);
        }
        if (stopped != 0)
            return stopped;
    }
    return 0;
}

int crest_hlog_tag_write(const crest_series_view *series, crest_write_fn *write, void *context)
{
    int stopped = hlog_tag_part(series->name, write, context);
    for (unsigned i = 0; stopped == 0 && i < series->label_count; i++) {
        if (series->label_values[i][0] == '\0')
            continue;
        const char *const parts[] = {series->label_keys[i], series->label_values[i]};
        for (unsigned p = 0; stopped == 0 && p < 2; p++) {
            stopped = write(context, p == 0 ? ";" : "=", 1);
            if (stopped == 0)
                stopped = hlog_tag_part(parts[p], write, context);
        }
    }
    return stopped;
}
