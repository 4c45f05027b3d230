/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writing to an output that may be slow or gone: a terminal that was stopped, a pipe without a
 * reader, a file, a stdio stream that the host prints to as well. The writer waits for room until a
 * deadline, raises no signal, and holds a stream's lock only while there is room. So a host that
 * prints never waits for our output's reader. Knows bytes and deadlines, not metrics.
 *
 *     crest_patient_output_begin(output, stderr, -1, deadline_ns);
 *     crest_patient_output_write(output, bytes, length);
 *     int failed = crest_patient_output_end(output);
 *
 * Buffered bytes are written at the end of a line. So lines of several writers mix only when a line
 * is longer than the buffer, or a slow reader makes the writer wait in the middle of one.
 */
#ifndef CREST_REPORTERS_PATIENT_OUTPUT_H
#define CREST_REPORTERS_PATIENT_OUTPUT_H

#include "common/write_signals.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define CREST_PATIENT_OUTPUT_BYTES 65536u

typedef struct crest_patient_output {
    FILE *stream; /* NULL: only a descriptor */
    int file;     /* -1: a stream without one, as in memory */
    int locked;   /* the stream's lock is held */
    int failed;   /* errno of the first failure; 0: none */
    uint64_t deadline_ns;
    size_t piece; /* what may be written at once without waiting */
    uint64_t written;
    crest_quiet_signals quiet;
    size_t used;
    char buffer[CREST_PATIENT_OUTPUT_BYTES];
} crest_patient_output;

/* Either a stream, or a descriptor with stream NULL; both are borrowed until end. */
void crest_patient_output_begin(crest_patient_output *output, FILE *stream, int file,
                                uint64_t deadline_ns);
/* A crest_write_fn. 0, or the errno of the first failure; ETIMEDOUT: the deadline has passed. */
int crest_patient_output_write(void *output, const void *bytes, size_t length);
/* Writes out what is left; 0 or the errno of the first failure. Every begin needs its end. */
int crest_patient_output_end(crest_patient_output *output);

#endif
