/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Why a metric was refused, in words: which name, of which kinds, where each is declared, what is
 * allowed. They become the text of a case of misuse (base/misuse.h), which the caller counts.
 */
#ifndef CREST_METRIC_REFUSED_H
#define CREST_METRIC_REFUSED_H

#include "metrics/metric_spec.h"

/* Under the lock. `status` is why; `spec` has the keys and the place, and is checked as far as it
 * was valid; `known` is the metric that has the name, or NULL. Any handler. */
void crest_metric_refused(crest_status status, crest_kind kind, const crest_metric_options *options,
                          const crest_metric_spec *spec, const crest_metric *known);

#endif
