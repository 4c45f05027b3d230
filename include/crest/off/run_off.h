/* SPDX-License-Identifier: Apache-2.0 */
/* What run.h has with CREST_DISABLE; made by scripts/make-off, not by hand. */
#ifndef CREST_RUN_OFF_H
#define CREST_RUN_OFF_H

#pragma GCC system_header

CREST_BEGIN_C

CREST_API const char *crest_version(void)
{
    return "disabled";
}

CREST_API crest_status crest_start(const char *options, crest_error *error)
{
    (void)options;
    crest_off_fine(error);
    return CREST_OK;
}

CREST_API crest_status crest_options_check(const char *options, crest_error *error)
{
    (void)options;
    crest_off_fine(error);
    return CREST_OK;
}

CREST_API crest_status crest_stop(uint64_t deadline_ms, crest_error *error)
{
    (void)deadline_ms;
    crest_off_fine(error);
    return CREST_OK;
}

CREST_END_C

#endif
