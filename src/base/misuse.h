/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Misuse: calls that could not do what was asked. Each is counted by cause. The log callback is
 * told each case of a cause once, never from the failing call, which may be in a signal handler.
 *
 * The counts are plain atomic words; instruments/misuse_series makes crest_misuse_total and
 * crest_late_records_total of them.
 */
#ifndef CREST_MISUSE_H
#define CREST_MISUSE_H

#include <crest/status.h>
#include <stdint.h>

/* cause, label value, what to tell about it */
#define CREST_MISUSE_TABLE(X)                                                                      \
    X(NAME, "invalid-name", "a metric was declared with a name that is not valid")                 \
    X(ARGUMENT, "invalid-argument",                                                                \
      "a metric was declared with a unit, range, buckets or description that cannot be")           \
    X(LABEL, "invalid-label", "a label key or value is not valid")                                 \
    X(TEXT, "invalid-text", "a text is not valid UTF-8; bad bytes became U+FFFD")                  \
    X(TYPE_CLASH, "type-clash", "a name was used for two kinds of metric")                         \
    X(NAME_CLASH, "name-clash", "two metrics would be exported under one name")                    \
    X(SPLIT_NAME, "split-name", "two metrics have names that differ only in case or separators")   \
    X(LIMIT, "limit", "a limit was reached; records go to the overflow series or nowhere")         \
    X(NO_MEMORY, "no-memory", "there was no memory for a metric or series")                        \
    X(ABI, "abi-mismatch", "code compiled against other headers records nowhere")                  \
    X(NEGATIVE, "negative-amount", "a negative amount was not applied")                            \
    X(FULL, "counter-full", "a counter got to 2^64 - 1 and stays there")                           \
    X(NOT_A_NUMBER, "not-a-number", "a gauge was given NaN; it was not applied")                   \
    X(OVERFLOW, "overflow", "a range sampler would have left 64 bits; it was not changed")         \
    X(CLAMPED, "clamped", "a value above a histogram's range was counted as its highest")          \
    X(MISMATCH, "timing-mismatch", "a timing was ended for another operation")                     \
    X(NOT_RUNNING, "timing-not-running", "a timing was ended twice or never started")              \
    X(OUTCOME, "invalid-outcome", "a timing was ended with an outcome that there is not")          \
    X(OPERATION, "no-operation", "an operation was begun, marked or ended by an id that is none")  \
    X(STAGE, "invalid-stage", "a stage was marked that there is not")                              \
    X(STAGE_AGAIN, "stage-again", "a stage was marked twice; the first mark stays")                \
    X(BACKWARDS, "negative-duration", "a duration came out negative and was recorded as 0")        \
    X(STAMP, "invalid-stamp", "what was to be a stamp is none, or is another operation's")         \
    X(CONTEXT, "invalid-context", "a traceparent or tracestate is none; what follows is a root")   \
    X(EARLY, "early-stamp", "a message came before it was sent, by the clocks: not recorded")      \
    X(EXCHANGE, "impossible-exchange", "times that cannot have been were given to a peer clock")   \
    X(LATE, "late-record", "a record came after its registry was freed")                           \
    X(OPTIONS, "invalid-options", "crest_start was refused for an option")                         \
    X(PROBE, "invalid-probe", "a probe was asked for that cannot be, or is no more")

#define CREST_MISUSE_ENUM_(name, label, text) CREST_MISUSE_##name,
typedef enum crest_misuse {
    CREST_MISUSE_TABLE(CREST_MISUSE_ENUM_) CREST_MISUSE_COUNT
} crest_misuse;
#undef CREST_MISUSE_ENUM_

/* Different cases of one cause that are told, and 64 of all; further ones are only counted. */
#define CREST_MISUSE_CASES 8u
/* Bytes of an explanation, its NUL included. */
#define CREST_MISUSE_WHY_BYTES 400u

/* Counts one misuse. `what` (a metric's name, an option; may be NULL), cut to 127 bytes, is the
 * case: each is told once. Any thread, any handler, any lock held. */
void crest_misuse_count(crest_misuse cause, const char *what);

/* Says what to tell of a case that is about to be counted, unless it is known: the end of a
 * sentence, cut. Any thread, any handler, any lock held. */
void crest_misuse_explain(crest_misuse cause, const char *what, const char *why);

/* Counts records that came too late to be stored. Any thread, any handler, any lock held. */
void crest_misuse_late(uint64_t records);

/* Counts the cause, or late records, in this word from now on. Earlier counts are added to it at
 * once. Once each; the word must stay. Any thread. */
void crest_misuse_bind(crest_misuse cause, uint64_t *word);
void crest_misuse_late_bind(uint64_t *word);

/* The cause as the value of a label. */
const char *crest_misuse_label(crest_misuse cause);

/* The cause that a status stands for. */
crest_misuse crest_misuse_of(crest_status status);

/* Tells the log, if there is one, the cases that it has not been told. Locks nothing. */
void crest_misuse_tell(void);

/* How often it was counted. */
uint64_t crest_misuse_value(crest_misuse cause);

#endif
