/* SPDX-License-Identifier: Apache-2.0 */
/* What metric.h has with CREST_DISABLE; made by scripts/make-off, not by hand. */
#ifndef CREST_METRIC_OFF_H
#define CREST_METRIC_OFF_H

#pragma GCC system_header

CREST_BEGIN_C

CREST_API crest_status crest_handle_register(crest_handle *handle)
{
    (void)handle;
    return CREST_OK;
}

CREST_END_C

#endif
