/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The encoder of pages, in text 0.0.4, OpenMetrics or protobuf: a snapshot in, bytes out, and
 * nothing else; no clock, no locale, no registry. These are Prometheus' text format 0.0.4,
 * OpenMetrics 1.0, and Prometheus' protobuf format (page_protobuf.h). The public way to it is
 * <crest/page.h>.
 *
 *     exposition.c          the page: metric after metric, the target, the end
 *     page_families.c       names and headers of families, and which are wanted
 *     page_values.c         samples of counters, gauges and range samplers
 *     page_distributions.c  those of histograms and timers, with exemplars
 *     page_windows.c        what windows compute
 *     page_lines.c          how a line is put together
 *     page_escape.c         text that has to be escaped
 *     page_rows.c           the snapshot as it is read; page_source.h
 *
 * The formats differ in their headers, in the name of a counter's family, and in escaping HELP.
 * OpenMetrics has besides: units, times of creation, exemplars, an end. All else is the same.
 *
 * Sources: prometheus.io/docs/instrumenting/exposition_formats, and, where that is silent, what
 * Prometheus 2.42 and Pushgateway 1.5.1 accept: each family in one piece under one HELP and TYPE,
 * no timestamps, valid UTF-8 everywhere, a line feed at the end of every line. OpenMetrics 1.0.0,
 * and what the parser of Prometheus' Python client accepts.
 */
#ifndef CREST_EXPOSITION_H
#define CREST_EXPOSITION_H

#include "page/page_families.h"
#include <crest/page.h>

/* As crest_snapshot_write, for valid formats. `snapshot` is only handed to the source. */
crest_status crest_exposition_write(const crest_page_source *source, const crest_snapshot *snapshot,
                                    crest_format format, const crest_page_options *options,
                                    crest_write_fn *write, void *context, crest_error *error);

#endif
