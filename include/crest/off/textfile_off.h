/* SPDX-License-Identifier: Apache-2.0 */
/* What textfile.h has with CREST_DISABLE; made by scripts/make-off, not by hand. */
#ifndef CREST_TEXTFILE_OFF_H
#define CREST_TEXTFILE_OFF_H

#pragma GCC system_header

CREST_BEGIN_C

CREST_API crest_reporter *crest_textfile_new(const crest_textfile_options *options,
        crest_error *error)
{
    (void)options;
    crest_off_fine(error);
    return CREST_NOTHING_(crest_reporter);
}

CREST_END_C

#endif
