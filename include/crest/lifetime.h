/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The end of a series. Label values come and go, peers above all. A series that is over should not
 * be exported for ever, nor cost anything.
 *
 *     crest_counter_release(sent);                   the holder of one handle is done with it
 *     crest_retire(NULL, "peer", "10.0.0.7");        everything about this peer is over
 *
 * Released: the series is exported once more, and then goes. There is no reference count: a record
 * through a handle that another part of the program still holds, or resolving the same values
 * again, brings it back. A series that comes back before it went keeps its value; after that it
 * begins at zero.
 *
 * Retired: exported once more too, but no record brings it back. Records through old handles are
 * counted in crest_late_records_total and nowhere else. Resolving the same values makes a new
 * series that begins at zero. If that happens before the old series has gone, the old one is
 * dropped at once, so that no page has both; what it recorded since its last export is lost. Its
 * keyed operations in flight (in_flight.h) are recorded as `cancelled`, before its last export.
 *
 * "Once more" lasts until all of these hold. A snapshot was taken, and every attached reporter of
 * the registry has delivered one, since the series' value last changed. A minute has passed, or
 * twice the longest interval of these reporters if that is longer. A reporter that does not succeed
 * is waited for an hour, or two of its intervals.
 *
 * A series that has gone leaves its memory to the next: slots, cells and counts are used again a
 * minute later (quarantine). Its handle and label values are remembered, because the program may
 * still hold the handle: up to CREST_GONE_SERIES_MAX in a registry. Past that, new label values
 * share their family's overflow series. Resolving remembered label values again returns the old
 * handle, also of a retired series.
 *
 * The ticker (window.h) does all this once a second, and so does a family that gets a new series;
 * in a process where neither happens nothing goes. Metrics without labels are there for good, and
 * so are the series of crest_misuse_total, which are neither released nor retired.
 */
#ifndef CREST_LIFETIME_H
#define CREST_LIFETIME_H

#include <crest/family.h>

/* Gone series of a registry whose handles are remembered. */
#define CREST_GONE_SERIES_MAX 200000u

CREST_BEGIN_C

/*
 * Releases the series of a family that the handle leads to; of a timer, those of all outcomes, and
 * of stages all that they consist of. Returns CREST_OK, also when it was released before;
 * CREST_INVALID_ARGUMENT for NULL and for a metric without labels; CREST_LATE when the series was
 * retired, CREST_NOT_FOUND when its registry was freed, or the reason why the handle records
 * nowhere; CREST_NO_MEMORY, and nothing was done. Thread-safe; not for signal handlers. Cost:
 * locks.
 */
CREST_API crest_status crest_counter_release(crest_counter *counter);
CREST_API crest_status crest_gauge_release(crest_gauge *gauge);
CREST_API crest_status crest_histogram_release(crest_histogram *histogram);
CREST_API crest_status crest_timer_release(crest_timer *timer);
CREST_API crest_status crest_range_sampler_release(crest_range_sampler *sampler);
CREST_API crest_status crest_stages_release(crest_stages *stages);

/*
 * Retires every series whose label `key` has this value, in all families of the registry (NULL: the
 * default one). The value is compared as exported, that is made valid and cut. Returns how many
 * combinations of label values were retired, 0 if none has the label. A timer's outcomes count as
 * one; the two histograms of each stage of stages count by themselves. Constant labels of the
 * registry, and `outcome`, are not looked at. Thread-safe; not for signal handlers. Cost: a look at
 * every series of the registry, locking family by family; if one of them is keyed, also at all that
 * is in flight.
 */
CREST_API size_t crest_retire(crest_registry *registry, const char *key, const char *value);

CREST_END_C

#ifdef CREST_DISABLE
#include <crest/off/lifetime_off.h>
#endif

#endif
