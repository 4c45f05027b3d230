/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The glue between the JVM and the library: what the files of this folder share. Each file has a
 * table of native methods of one Java class, which JNI_OnLoad registers; nothing else is exported.
 *
 * A class with native methods has no other static state, because JNI_OnLoad initialises it.
 *
 * No function of libcrest-reporters is called directly: a process may lack the libraries that it
 * needs and still record. jvm_load.c opens it, and its reporters register themselves.
 *
 * Java code records in memory by itself (io.crest.Memory, io.crest.Lane). It calls here for the
 * cold paths only.
 */
#ifndef CREST_JVM_H
#define CREST_JVM_H

#include <crest/crest.h>
#include <jni.h>
#include <stdint.h>

typedef struct jvm_natives {
    const char *class_name;
    const JNINativeMethod *methods;
    int count;
} jvm_natives;

extern const jvm_natives jvm_cells_natives;
extern const jvm_natives jvm_metrics_natives;
extern const jvm_natives jvm_names_natives;
extern const jvm_natives jvm_log_natives;
extern const jvm_natives jvm_profile_natives;
extern const jvm_natives jvm_run_natives;
extern const jvm_natives jvm_span_timings_natives;
extern const jvm_natives jvm_spans_natives;
extern const jvm_natives jvm_testing_natives;
extern const jvm_natives jvm_timers_natives;

/* A handle as Java holds it. */
#define JVM_POINTER(type, address) ((type *)(uintptr_t)(address))
#define JVM_ADDRESS(pointer) ((jlong)(uintptr_t)(pointer))

#define JVM_COUNT(array) ((int)(sizeof(array) / sizeof *(array)))
/* A row of a table of native methods. */
#define JVM_NATIVE(name, signature, function)                                                      \
    {                                                                                              \
        (char *)(uintptr_t)(name), (char *)(uintptr_t)(signature), (void *)(uintptr_t)(function)   \
    }

#endif
