/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What has been sent: of each counter its value and of each distribution its records, as the
 * transport has confirmed them, line by line. Knows series, not lines or sockets.
 *
 * crest_report.previous would not do: it is the snapshot of the last report that went well as a
 * whole, and begins anew when a reporter is attached again. A report that fails after its hundredth
 * packet has delivered a hundred packets.
 *
 *     crest_statsd_sent_begin(&sent, crest_snapshot_size(snapshot));
 *     crest_statsd_entry *entry = crest_statsd_sent_entry(&sent, &series);
 *     ... for each line that is in packets up to byte `end` of all that was handed out:
 *     crest_statsd_sent_mark(&sent, end, entry, done);
 *     ... when the transport has confirmed so many bytes:
 *     crest_statsd_sent_confirm(&sent, bytes);
 *     crest_statsd_sent_end(&sent, form);
 */
#ifndef CREST_REPORTERS_STATSD_SENT_H
#define CREST_REPORTERS_STATSD_SENT_H

#include "statsd/statsd_line.h"

#include <crest/reporter.h>

/* Lines handed out and not confirmed; at this many the report waits for the transport. */
#define CREST_STATSD_MARKS_MAX 262144u

/* One life of a series. */
typedef struct crest_statsd_entry {
    uint64_t life;                    /* crest_series_view.life; 0: a free place */
    uint64_t counter;                 /* sent of it */
    crest_distribution *distribution; /* sent; NULL: nothing yet */
    crest_distribution *next;         /* during a report: what there is */
    uint64_t done;                    /* during a report: the confirmed part of the delta */
    uint32_t report;                  /* the last one that had it */
    int known;                        /* a counter's name has been sent */
    int begun;      /* what a dead run had sent, of totals that go on, is in the above */
    size_t index;   /* in the report under way */
    uint64_t noted; /* what the state file has been told: a counter, or a number of records */
} crest_statsd_entry;

typedef struct crest_statsd_mark {
    uint64_t end;
    crest_statsd_entry *entry;
    uint64_t done;
} crest_statsd_mark;

/* Zeroed before its first begin. */
typedef struct crest_statsd_sent {
    crest_statsd_entry *entries; /* by a hash of their lives, in the first place that was free */
    size_t places;               /* a power of two, twice the entries at least */
    size_t count;
    uint32_t report;
    const crest_report *under_way; /* borrowed; NULL: none, or an earlier one's end is awaited */
    crest_statsd_mark *marks;      /* in the order of `end` */
    size_t mark_places, mark_first, mark_end;
} crest_statsd_sent;

/* Makes room for a report of so many series; entries do not move until the next one. Forgets those
 * that have been absent longest when there are more than CREST_STATSD_ABSENT_MAX.
 * CREST_NO_MEMORY. */
crest_status crest_statsd_sent_begin(crest_statsd_sent *sent, size_t series);

/* The entry of a series; never NULL for as many as begin was told of. */
crest_statsd_entry *crest_statsd_sent_entry(crest_statsd_sent *sent,
                                            const crest_series_view *series);

/* Tells the state file how much of the counter has been sent, unless it knows. Not between reports.
 */
void crest_statsd_sent_note(crest_statsd_sent *sent, crest_statsd_entry *entry, uint64_t counter);
/* The same of a distribution's records. */
void crest_statsd_sent_note_counts(crest_statsd_sent *sent, crest_statsd_entry *entry,
                                   const crest_distribution *counts);

/* Notes the progress to apply once bytes up to `end` are confirmed. CREST_LIMIT: there are
 * CREST_STATSD_MARKS_MAX; CREST_NO_MEMORY. */
crest_status crest_statsd_sent_mark(crest_statsd_sent *sent, uint64_t end,
                                    crest_statsd_entry *entry, uint64_t done);

/* Bytes up to `end` have arrived. */
void crest_statsd_sent_confirm(crest_statsd_sent *sent, uint64_t end);

/* The report is over; what is not confirmed was not sent. */
void crest_statsd_sent_end(crest_statsd_sent *sent, const crest_statsd_form *form);

void crest_statsd_sent_fini(crest_statsd_sent *sent);

#endif
