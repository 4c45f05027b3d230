/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Columns of characters. See console_columns.h.
 */
#include "console/console_columns.h"
#include "common/shown_text.h"

typedef struct console_range {
    unsigned first, last;
} console_range;

static const console_range console_columns_none[] = {
    {0x0300, 0x036f}, {0x0483, 0x0489}, {0x0591, 0x05bd}, {0x05bf, 0x05bf},   {0x05c1, 0x05c7},
    {0x0610, 0x061a}, {0x064b, 0x065f}, {0x0670, 0x0670}, {0x06d6, 0x06dc},   {0x06df, 0x06e4},
    {0x0900, 0x0902}, {0x093a, 0x093a}, {0x093c, 0x093c}, {0x0941, 0x0948},   {0x094d, 0x094d},
    {0x0e31, 0x0e31}, {0x0e34, 0x0e3a}, {0x0e47, 0x0e4e}, {0x1ab0, 0x1aff},   {0x1dc0, 0x1dff},
    {0x200b, 0x200d}, {0x2060, 0x2064}, {0x20d0, 0x20ff}, {0x302a, 0x302d},   {0x3099, 0x309a},
    {0xfe00, 0xfe0f}, {0xfe20, 0xfe2f}, {0xfeff, 0xfeff}, {0x1f3fb, 0x1f3ff}, {0xe0000, 0xe01ef},
};
static const console_range console_columns_two[] = {
    {0x1100, 0x115f},   {0x231a, 0x231b},   {0x23e9, 0x23ec},   {0x25fd, 0x25fe},
    {0x2614, 0x2615},   {0x2648, 0x2653},   {0x26a1, 0x26a1},   {0x26bd, 0x26be},
    {0x2705, 0x2705},   {0x270a, 0x270b},   {0x2728, 0x2728},   {0x274c, 0x274c},
    {0x2753, 0x2755},   {0x2757, 0x2757},   {0x2795, 0x2797},   {0x2b1b, 0x2b1c},
    {0x2b50, 0x2b50},   {0x2b55, 0x2b55},   {0x2e80, 0x303e},   {0x3041, 0x33ff},
    {0x3400, 0x4dbf},   {0x4e00, 0xa4cf},   {0xa960, 0xa97f},   {0xac00, 0xd7a3},
    {0xf900, 0xfaff},   {0xfe30, 0xfe6f},   {0xff00, 0xff60},   {0xffe0, 0xffe6},
    {0x16fe0, 0x18aff}, {0x1b000, 0x1b2ff}, {0x1f004, 0x1f004}, {0x1f0cf, 0x1f0cf},
    {0x1f18e, 0x1f18e}, {0x1f191, 0x1f19a}, {0x1f200, 0x1f320}, {0x1f32d, 0x1f64f},
    {0x1f680, 0x1f6ff}, {0x1f7e0, 0x1f7eb}, {0x1f900, 0x1f9ff}, {0x1fa70, 0x1faff},
    {0x20000, 0x3fffd},
};

static int console_columns_in(const console_range *ranges, size_t count, unsigned code)
{
    for (size_t i = 0; i < count && ranges[i].first <= code; i++)
        if (code <= ranges[i].last)
            return 1;
    return 0;
}

unsigned crest_console_code(const char *text, size_t length, size_t *bytes)
{
    static const unsigned char masks[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
    size_t step = crest_push_text_step(text, length);
    *bytes = step > 0 ? step : 1;
    if (step == 0)
        return 0xfffd;
    unsigned code = (unsigned char)text[0] & masks[step];
    for (size_t i = 1; i < step; i++)
        code = code << 6 | ((unsigned char)text[i] & 0x3f);
    return code;
}

size_t crest_console_columns(const char *text, size_t length)
{
    size_t columns = 0, bytes;
    for (size_t at = 0; at < length; at += bytes) {
        unsigned code = crest_console_code(text + at, length - at, &bytes);
        if (code < 0x300)
            columns++;
        else if (console_columns_in(console_columns_two,
                                    sizeof console_columns_two / sizeof *console_columns_two, code))
            columns += 2;
        else if (!console_columns_in(console_columns_none,
                                     sizeof console_columns_none / sizeof *console_columns_none,
                                     code))
            columns++;
    }
    return columns;
}

int crest_console_is_control(unsigned code)
{
    return code < ' ' || (code >= 0x7f && code < 0xa0) || code == 0x061c ||
           (code >= 0x200e && code <= 0x200f) || (code >= 0x2028 && code <= 0x202e) ||
           (code >= 0x2066 && code <= 0x2069);
}
