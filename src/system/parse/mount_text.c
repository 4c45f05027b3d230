/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rows of /proc/self/mountinfo. See mount_text.h.
 */
#include "system/parse/mount_text.h"

/* The byte that \ooo stands for; -1 if there is no such escape here. */
static int mount_text_octal(const char *at, const char *end)
{
    if (end - at < 4 || at[0] != '\\')
        return -1;
    int value = 0;
    for (int i = 1; i <= 3; i++) {
        if (at[i] < '0' || at[i] > '7')
            return -1;
        value = value * 8 + (at[i] - '0');
    }
    return value <= 0xff ? value : -1;
}

int crest_mount_path(crest_text escaped, char *path, size_t size)
{
    size_t length = 0;
    for (const char *at = escaped.at; at < escaped.end;) {
        int octal = mount_text_octal(at, escaped.end);
        char c = octal >= 0 ? (char)octal : *at;
        at += octal >= 0 ? 4 : 1;
        if (c == '\0' || length + 1 >= size) {
            path[0] = '\0';
            return 0;
        }
        path[length++] = c;
    }
    path[length] = '\0';
    return 1;
}

static int mount_text_device(crest_text word, crest_mount_row *row)
{
    crest_text major;
    return crest_text_until(&word, ':', &major) && crest_table_number(major, &row->major) &&
           crest_table_number(word, &row->minor);
}

/* Whether the option is among these, which commas separate. */
static int mount_text_option(crest_text options, const char *option)
{
    crest_text one;
    while (crest_text_until(&options, ',', &one))
        if (crest_text_is(one, option))
            return 1;
    return crest_text_is(options, option);
}

/* Reads what follows the optional fields, which a lone dash ends. */
static int mount_text_type(crest_text *rest, crest_mount_row *row)
{
    crest_text word;
    while (crest_text_word(rest, &word)) {
        if (!crest_text_is(word, "-"))
            continue;
        return crest_text_word(rest, &word) && crest_text_copy(word, row->type, sizeof row->type);
    }
    return 0;
}

int crest_mountinfo_next(crest_text *text, crest_mount_row *row, crest_fault *fault)
{
    crest_text line, word;
    uint64_t ids[2];
    while (crest_text_line(text, &line)) {
        crest_text rest = line;
        if (!crest_text_word(&rest, &word))
            continue;
        rest = line;
        if (crest_table_u64s(&rest, ids, 2) == 2 && crest_text_word(&rest, &word) &&
            mount_text_device(word, row) && crest_text_word(&rest, &word) &&
            crest_mount_path(word, row->root, sizeof row->root) && crest_text_word(&rest, &word) &&
            crest_mount_path(word, row->point, sizeof row->point) &&
            crest_text_word(&rest, &word)) {
            row->read_only = mount_text_option(word, "ro");
            if (mount_text_type(&rest, row))
                return 1;
        }
        crest_fault_set(fault,
                        "a mount with numbers, paths, options, a dash and a type was "
                        "expected",
                        line);
    }
    return 0;
}
