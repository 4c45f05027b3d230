/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stages: one operation with several marks between its begin and its end, as a block that is
 * proposed, supported by a third, and final.
 *
 *     CREST_STAGES(consensus, "casper.consensus", "From proposal on.",
 *                  .stages = {"0", "1/3", "1"}, .deadline_ms = 60000);
 *     crest_op block = crest_op_bytes(hash, 32);
 *     crest_stages_begin(&consensus, block);
 *     crest_stages_mark(&consensus, block, 1);
 *     crest_stages_end(&consensus, block, CREST_OUTCOME_OK);
 *
 * Exported are the operation as a whole, a timer by the metric's name, and two histograms with the
 * label `stage`: `X_stage_seconds`, from the previous mark (or the begin) to this mark, and
 * `X_since_start_seconds`. Each mark is recorded when it is made. The previous mark is the last one
 * made, whatever the order in the declaration: stages may be skipped and come in any order. What is
 * in flight is exported from the start, as for timers with a deadline (in_flight.h).
 */
#ifndef CREST_STAGES_H
#define CREST_STAGES_H

#include <crest/in_flight.h>

/* A union, because C99, which a host may be compiled as, has no unnamed members. */
typedef union crest_stages {
    crest_timer timer; /* the operation as a whole */
    crest_handle handle;
} crest_stages;

#define CREST_STAGES_INIT_(declaration)                                                            \
    {                                                                                              \
        CREST_TIMER_INIT_(declaration)                                                             \
    }

/*
 * CREST_STAGES(variable, name, description, .stages = {"a", "b"}[, .deadline_ms = …]): as
 * CREST_COUNTER. One to CREST_STAGES_MAX stages, distinct and not empty, in the order of
 * crest_stages_mark's index.
 */
#define CREST_STAGES(variable, name, ...)                                                          \
    CREST_DECLARE_(static, crest_stages, CREST_KIND_STAGES, CREST_STAGES_INIT_, variable, name,    \
                   __VA_ARGS__, )
#define CREST_STAGES_DECLARE(variable) extern crest_stages variable
#define CREST_STAGES_DEFINE(variable, name, ...)                                                   \
    CREST_DECLARE_(, crest_stages, CREST_KIND_STAGES, CREST_STAGES_INIT_, variable, name,          \
                   __VA_ARGS__, )

CREST_BEGIN_C

/* Begins the operation; as crest_timer_begin. */
CREST_API crest_status crest_stages_begin(crest_stages *stages, crest_op op);

/* The same of an operation that belongs to `owner`; as crest_timer_begin_owned. */
CREST_API crest_status crest_stages_begin_owned(crest_stages *stages, crest_op op, crest_op owner);

/*
 * Marks that the operation has reached stage `index`, from 0. Returns CREST_OK; CREST_ALREADY when
 * this stage was marked before: the first mark stays, and this one is counted in
 * crest_misuse_total; CREST_NOT_FOUND and CREST_TIMED_OUT as crest_timer_end does, normal answers;
 * and CREST_INVALID_ARGUMENT, counted, for an index out of range or no op. Otherwise as
 * crest_timer_begin.
 */
CREST_API crest_status crest_stages_mark(crest_stages *stages, crest_op op, unsigned index);

/* Ends the operation and records it as a whole under the outcome; as crest_timer_end. Stages that
 * were not marked are not recorded. */
CREST_API crest_status crest_stages_end(crest_stages *stages, crest_op op, crest_outcome outcome);

/* As crest_timer_in_flight and crest_timer_oldest. */
CREST_API crest_in_flight crest_stages_in_flight(const crest_stages *stages);
CREST_API size_t crest_stages_oldest(const crest_stages *stages, crest_in_flight_op *ops,
                                     size_t max);

CREST_END_C

#ifdef CREST_DISABLE
#include <crest/off/stages_off.h>
#endif

#endif
