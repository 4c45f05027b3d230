/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every function that the libraries import and that can fail, failed in turn under a public call:
 * once, at its first calls and at its last, and from its first call on. The linker leads the
 * libraries' calls here (--wrap, from the rows of fault_wrappers.c).
 *
 *     static crest_status take(fault_run *run, crest_error *error) {…}
 *     static const fault_scenario scenarios[] = {{"snapshot", begin, take, end, FAULT_TELLS}};
 *     int main(int argc, char **argv) { return faults_main(argc, argv, scenarios, 1); }
 *
 * After each failure: the call said CREST_OK, or a status with a sentence; nothing crashed or hung;
 * what was recorded before is there, to the unit; no descriptor, thread or block of memory is left;
 * and the same call works.
 *
 *   test_faults_core                       the quick form: of each function up to four calls
 *   test_faults_core --full                every call, up to FAULT_CALLS_MAX
 *   test_faults_core SCENARIO [FUNCTION [CALL]]   these alone, each with what it said
 */
#ifndef CREST_TESTS_FAULTS_H
#define CREST_TESTS_FAULTS_H

#include <crest/crest.h>

#include <stdio.h>

#define FAULT_CALLS_MAX 300
#define FAULT_SLOTS 24

typedef struct fault_function {
    const char *name;
    long calls; /* while a scenario's call runs */
} fault_function;

/* A row of fault_wrappers.c is one of these; the linker makes an array of them. */
#define FAULT_ROW __attribute__((section("fault_functions"), used, aligned(8)))

/* Whether this call of the function is to fail. Any thread. */
int faults_now(fault_function *function);
/* Notes that the libraries have so many objects more. Any thread. */
void faults_live(long more);

/* What the test itself does in the calling thread fails never: non-zero from here on. */
void faults_spare(int spared);

/* What one run of a scenario works with; all zero when it begins. */
typedef struct fault_run {
    crest_registry *registry; /* made before `begin`, freed after `end` */
    unsigned number;          /* of the run: differs from every other's */
    const char *folder;       /* of the test's own, empty at its start */
    void *slot[FAULT_SLOTS];
    int fd[4];
    char text[256];
} fault_run;

enum {
    FAULT_TELLS = 1, /* a failure has a sentence in *error */
    FAULT_SLOW = 2   /* takes milliseconds: fewer calls of each function */
};

typedef struct fault_scenario {
    const char *name;
    void (*begin)(fault_run *run); /* may be NULL */
    /* the public calls; CREST_OK only when what they did was found to be right */
    crest_status (*call)(fault_run *run, crest_error *error);
    void (*end)(fault_run *run); /* takes back what `call` made, also after a failure; or NULL */
    unsigned flags;
    const char *never; /* functions that this scenario leaves out, with blanks around each */
} fault_scenario;

/* How long a call may take: `failing` while a function is made to fail, and much longer when all is
 * well, since a busy machine is no fault. In milliseconds. */
unsigned faults_patience_ms(unsigned failing);

/* Fails the run with a sentence. */
void faults_wrong(const char *format, ...) __attribute__((format(printf, 1, 2)));
#define FAULT_HOLDS(condition)                                                                     \
    do {                                                                                           \
        if (!(condition))                                                                          \
            faults_wrong("%s:%d: not so: %s", __FILE__, __LINE__, #condition);                     \
    } while (0)

int faults_main(int argc, char **argv, const fault_scenario *scenarios, size_t count);

#endif
