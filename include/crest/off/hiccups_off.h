/* SPDX-License-Identifier: Apache-2.0 */
/* What hiccups.h has with CREST_DISABLE; made by scripts/make-off, not by hand. */
#ifndef CREST_HICCUPS_OFF_H
#define CREST_HICCUPS_OFF_H

#pragma GCC system_header

CREST_BEGIN_C

CREST_API crest_status crest_hiccups_start(const crest_hiccups_options *options,
        crest_error *error)
{
    (void)options;
    crest_off_fine(error);
    return CREST_OK;
}

CREST_API crest_status crest_hiccups_stop(void)
{
    return CREST_OK;
}

CREST_END_C

#endif
