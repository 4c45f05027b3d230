/* SPDX-License-Identifier: Apache-2.0 */
/* What prepare.h has with CREST_DISABLE; made by scripts/make-off, not by hand. */
#ifndef CREST_PREPARE_OFF_H
#define CREST_PREPARE_OFF_H

#pragma GCC system_header

CREST_BEGIN_C

CREST_API crest_status crest_thread_prepare(void)
{
    return CREST_OK;
}

CREST_API crest_status crest_thread_stack(size_t bytes)
{
    (void)bytes;
    return CREST_OK;
}

CREST_END_C

#endif
