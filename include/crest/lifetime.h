/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The end of a series. Label values come and go, peers above all; what is gone should not be
 * exported for ever, nor cost anything.
 *
 *     crest_counter_release(sent);                   the holder of one handle is done with it
 *     crest_retire(NULL, "peer", "10.0.0.7");        everything about this peer is over
 *
 * Released: the series is exported once more, and then goes. Nobody counts references: a record
 * through a handle that somebody else still holds, or resolving the same values again, brings it
 * back. While it was still there it goes on with the value it had; after that it begins at zero.
 *
 * Retired: exported once more too, but no record brings it back. Records through old handles are
 * counted in crest_late_records_total and nowhere else, and resolving the same values makes a new
 * series that begins at zero. If that happens at once, the old one is dropped at once, so that no
 * page has both, and what it recorded since its last export is not exported any more. Keyed
 * operations in flight (in_flight.h) end with it: they are recorded as `cancelled`, before its last
 * export.
 *
 * "Once more" is: until a snapshot was taken and every attached reporter of the registry has
 * delivered one since the series' value last changed, and for at least a minute, or twice the
 * longest interval of these reporters. A reporter that does not succeed is given an hour, or
 * two of its intervals.
 *
 * What has gone leaves its memory for the next series: slots, cells and counts are used again a
 * minute later. Its handle and label values are remembered, because the program may still hold the
 * handle: up to CREST_GONE_SERIES_MAX in a registry, after which new label values share their
 * family's overflow series. Label values that are resolved again find what is remembered of them,
 * of a retired series too: its old handle is then the new one.
 *
 * All this is done once a second by the ticker (window.h), and when families get new series; in a
 * process where neither happens nothing goes. Metrics without labels are there for good, and so are
 * the series of crest_misuse_total, which are neither released nor retired.
 */
#ifndef CREST_LIFETIME_H
#define CREST_LIFETIME_H

#include <crest/family.h>

/* Series of a registry that have gone and whose handles are remembered. */
#define CREST_GONE_SERIES_MAX 200000u

CREST_BEGIN_C

/*
 * Releases the series of a family that the handle leads to; of a timer, those of all outcomes, and
 * of stages all that they consist of.
 * Returns CREST_OK, also when it was released before; CREST_INVALID_ARGUMENT for NULL and for a
 * metric without labels; CREST_LATE when the series was retired, CREST_NOT_FOUND when its registry
 * was freed, or whatever else the handle is dead of; CREST_NO_MEMORY, and nothing was done.
 * Thread-safe; not for signal handlers. Cost: locks.
 */
CREST_API crest_status crest_counter_release(crest_counter *counter);
CREST_API crest_status crest_gauge_release(crest_gauge *gauge);
CREST_API crest_status crest_histogram_release(crest_histogram *histogram);
CREST_API crest_status crest_timer_release(crest_timer *timer);
CREST_API crest_status crest_range_sampler_release(crest_range_sampler *sampler);
CREST_API crest_status crest_stages_release(crest_stages *stages);

/*
 * Retires every series whose label `key` has this value, in all families of the registry (NULL: the
 * default one); a value counts as it is exported, that is made valid and cut. Returns how many
 * combinations of label values were retired, 0 if none has the label; a timer's outcomes are one,
 * but the two histograms that belong to each stage of stages count by themselves.
 * Constant labels of the registry, and `outcome`, are not looked at. Thread-safe; not for signal
 * handlers. Cost: a look at every series of the registry, locking family by family; if one of them
 * is keyed, also at all that is in flight.
 */
CREST_API size_t crest_retire(crest_registry *registry, const char *key, const char *value);

CREST_END_C

#ifdef CREST_DISABLE
#include <crest/off/lifetime_off.h>
#endif

#endif
