/* SPDX-License-Identifier: Apache-2.0 */
/* What prometheus.h has with CREST_DISABLE; made by scripts/make-off, not by hand. */
#ifndef CREST_PROMETHEUS_OFF_H
#define CREST_PROMETHEUS_OFF_H

#pragma GCC system_header

CREST_BEGIN_C

CREST_API crest_reporter *crest_prometheus_new(const crest_prometheus_options *options,
        crest_error *error)
{
    (void)options;
    crest_off_fine(error);
    return CREST_NOTHING_(crest_reporter);
}

CREST_API unsigned crest_prometheus_port(const crest_reporter *reporter)
{
    (void)reporter;
    return 0;
}

CREST_END_C

#endif
