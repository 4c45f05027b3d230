/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Timing from Java: the cold path of recording a duration, and operations by their ids.
 *
 * An operation is passed as its kind, its length and its four words, so that nothing is allocated.
 */
#include "jvm.h"

#include <crest/lane.h>
#include <crest/stages.h>
#include <stdlib.h>
#include <string.h>

/* Longs of an operation in flight: its words, length, kind, age and stage. */
#define TIMERS_ROW 8
_Static_assert(CREST_OP_U64 == 1 && CREST_OP_U64X2 == 2 && CREST_OP_BYTES == 3 &&
                   CREST_OP_TEXT == 4 && CREST_OP_EXACT_BYTES == 32 && CREST_OP_PREFIX_BYTES == 16,
               "io.crest.Op makes them the same");
_Static_assert(CREST_OUTCOME_OK == 0 && CREST_OUTCOME_ERROR == 1 && CREST_OUTCOME_TIMEOUT == 2 &&
                   CREST_OUTCOME_CANCELLED == 3 && CREST_OUTCOME_COUNT == 4,
               "io.crest.Outcome has their order");

static crest_op timers_op(jint kind, jint length, jlong w0, jlong w1, jlong w2, jlong w3)
{
    crest_op op = {
        {(uint64_t)w0, (uint64_t)w1, (uint64_t)w2, (uint64_t)w3}, (uint32_t)length, (uint32_t)kind};
    return op;
}

static jint jvm_timer_record(JNIEnv *env, jclass type, jint lane, jlong timer, jlong nanos,
                             jint outcome, jint kind, jint length, jlong w0, jlong w1, jlong w2,
                             jlong w3)
{
    (void)env;
    (void)type;
    crest_op op = timers_op(kind, length, w0, w1, w2, w3);
    crest_timer *into = JVM_POINTER(crest_timer, timer);
    if (lane < 0)
        return (jint)crest_timer_record_op(into, nanos, (crest_outcome)outcome, &op);
    return (jint)crest_lane_timer_record((unsigned)lane, into, nanos, (crest_outcome)outcome, &op);
}

static jint jvm_timer_refuse(JNIEnv *env, jclass type, jlong timer, jint status)
{
    (void)env;
    (void)type;
    return (jint)crest_timing_refuse(JVM_POINTER(crest_timer, timer), (crest_status)status);
}

static jint jvm_timer_begin(JNIEnv *env, jclass type, jlong timer, jint kind, jint length, jlong w0,
                            jlong w1, jlong w2, jlong w3)
{
    (void)env;
    (void)type;
    return (jint)crest_timer_begin(JVM_POINTER(crest_timer, timer),
                                   timers_op(kind, length, w0, w1, w2, w3));
}

static jint jvm_timer_end(JNIEnv *env, jclass type, jlong timer, jint outcome, jint kind,
                          jint length, jlong w0, jlong w1, jlong w2, jlong w3)
{
    (void)env;
    (void)type;
    return (jint)crest_timer_end(JVM_POINTER(crest_timer, timer),
                                 timers_op(kind, length, w0, w1, w2, w3), (crest_outcome)outcome);
}

static jint jvm_stages_mark(JNIEnv *env, jclass type, jlong stages, jint stage, jint kind,
                            jint length, jlong w0, jlong w1, jlong w2, jlong w3)
{
    (void)env;
    (void)type;
    return (jint)crest_stages_mark(JVM_POINTER(crest_stages, stages),
                                   timers_op(kind, length, w0, w1, w2, w3), (unsigned)stage);
}

static void jvm_timer_in_flight(JNIEnv *env, jclass type, jlong timer, jlongArray figures)
{
    (void)type;
    crest_in_flight all = crest_timer_in_flight(JVM_POINTER(crest_timer, timer));
    const jlong both[] = {(jlong)all.count, (jlong)all.oldest_ns};
    (*env)->SetLongArrayRegion(env, figures, 0, 2, both);
}

static jint jvm_timer_oldest(JNIEnv *env, jclass type, jlong timer, jlongArray rows)
{
    (void)type;
    size_t max = (size_t)(*env)->GetArrayLength(env, rows) / TIMERS_ROW;
    crest_in_flight_op *ops = malloc(max * sizeof *ops);
    size_t count = ops ? crest_timer_oldest(JVM_POINTER(crest_timer, timer), ops, max) : 0;
    for (size_t i = 0; i < count; i++) {
        const crest_op *op = &ops[i].op;
        const jlong row[TIMERS_ROW] = {(jlong)op->word[0],   (jlong)op->word[1], (jlong)op->word[2],
                                       (jlong)op->word[3],   op->length,         op->kind,
                                       (jlong)ops[i].age_ns, ops[i].stage};
        (*env)->SetLongArrayRegion(env, rows, (jsize)(i * TIMERS_ROW), TIMERS_ROW, row);
    }
    free(ops);
    return (jint)count;
}

/* For bytes and texts alike. */
static void jvm_op_hash(JNIEnv *env, jclass type, jbyteArray id, jint length, jlongArray words)
{
    (void)type;
    jbyte *bytes = (*env)->GetByteArrayElements(env, id, NULL);
    if (bytes == NULL)
        return;
    crest_op op = crest_op_bytes(bytes, (size_t)length);
    (*env)->ReleaseByteArrayElements(env, id, bytes, JNI_ABORT);
    jlong all[4];
    memcpy(all, op.word, sizeof all);
    (*env)->SetLongArrayRegion(env, words, 0, 4, all);
}

static const JNINativeMethod jvm_timers_methods[] = {
    JVM_NATIVE("record", "(IJJIIIJJJJ)I", jvm_timer_record),
    JVM_NATIVE("refuse", "(JI)I", jvm_timer_refuse),
    JVM_NATIVE("begin", "(JIIJJJJ)I", jvm_timer_begin),
    JVM_NATIVE("end", "(JIIIJJJJ)I", jvm_timer_end),
    JVM_NATIVE("mark", "(JIIIJJJJ)I", jvm_stages_mark),
    JVM_NATIVE("inFlight", "(J[J)V", jvm_timer_in_flight),
    JVM_NATIVE("oldest", "(J[J)I", jvm_timer_oldest),
    JVM_NATIVE("hash", "([BI[J)V", jvm_op_hash),
};

const jvm_natives jvm_timers_natives = {"io/crest/TimerNatives", jvm_timers_methods,
                                        JVM_COUNT(jvm_timers_methods)};
