/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The cold paths of recording from Java, and the calling thread's cells.
 */
#include "jvm.h"

#include <crest/lane.h>
#include <stddef.h>

/*
 * All figures that the Java side's arithmetic relies on, in the order of io.crest.Layout, which
 * refuses a library that differs.
 */
static jlongArray jvm_layout(JNIEnv *env, jclass type)
{
    (void)type;
    const jlong layout[] = {
        CREST_ABI,
        CREST_CHUNK_BITS,
        CREST_DISTRIBUTION_BLOCKS,
        (jlong)offsetof(crest_handle, slot),
        (jlong)sizeof(crest_handle),
        (jlong)offsetof(crest_shard, block),
        (jlong)offsetof(crest_shard, sum),
        (jlong)offsetof(crest_shard, max),
        (jlong)offsetof(crest_shard, min),
        (jlong)offsetof(crest_shard, noted),
        (jlong)CREST_BLOCK_SHIFT,
        (jlong)offsetof(crest_timer, outcome),
        (jlong)sizeof(crest_histogram),
        (jlong)offsetof(crest_gauge, cell),
        (jlong)CREST_RECORD_TIMES_INLINE_MAX,
        (jlong)CREST_RECORD_BITS_INLINE_MAX,
    };
    jlongArray result = (*env)->NewLongArray(env, JVM_COUNT(layout));
    if (result != NULL)
        (*env)->SetLongArrayRegion(env, result, 0, JVM_COUNT(layout), layout);
    return result;
}

/* The calling thread's table, lent; 0 if it does not lead to the slot's cell. */
static jlong jvm_table(JNIEnv *env, jclass type, jint slot)
{
    (void)env;
    (void)type;
    return JVM_ADDRESS(crest_lane_own((uint32_t)slot));
}

/* ---- lanes ---- */

static jlongArray jvm_lanes(JNIEnv *env, jclass type, jint processors)
{
    (void)type;
    jlong tables[CREST_LANES_MAX];
    unsigned lanes = crest_lanes_make((unsigned)processors);
    for (unsigned lane = 0; lane < lanes; lane++)
        tables[lane] = JVM_ADDRESS(crest_lane_cells(lane));
    jlongArray result = (*env)->NewLongArray(env, (jsize)lanes);
    if (result != NULL)
        (*env)->SetLongArrayRegion(env, result, 0, (jsize)lanes, tables);
    return result;
}

static void jvm_lane_counter_add(JNIEnv *env, jclass type, jint lane, jlong counter, jlong amount)
{
    (void)env;
    (void)type;
    crest_lane_counter_add((unsigned)lane, JVM_POINTER(crest_counter, counter), amount);
}

/* A negative number of times as in jvm_histogram_record. */
static void jvm_lane_histogram_record(JNIEnv *env, jclass type, jint lane, jlong histogram,
                                      jlong value, jlong times)
{
    (void)env;
    (void)type;
    crest_lane_histogram_record((unsigned)lane, JVM_POINTER(crest_histogram, histogram),
                                times < 0 ? -1 : value, times < 0 ? 1 : (uint64_t)times);
}

/* ---- counters ---- */

static void jvm_counter_add(JNIEnv *env, jclass type, jlong counter, jlong amount)
{
    (void)env;
    (void)type;
    crest_counter_add(JVM_POINTER(crest_counter, counter), amount);
}

static void jvm_counter_full(JNIEnv *env, jclass type, jlong counter)
{
    (void)env;
    (void)type;
    crest_counter_full_slow(JVM_POINTER(crest_counter, counter));
}

static jlong jvm_counter_value(JNIEnv *env, jclass type, jlong counter)
{
    (void)env;
    (void)type;
    return (jlong)crest_counter_value(JVM_POINTER(crest_counter, counter));
}

/* ---- histograms ---- */

/* A negative number of times, which C cannot express, counts as a negative amount: refused. */
static void jvm_histogram_record(JNIEnv *env, jclass type, jlong histogram, jlong value,
                                 jlong times)
{
    (void)env;
    (void)type;
    crest_histogram_record_n(JVM_POINTER(crest_histogram, histogram), times < 0 ? -1 : value,
                             times < 0 ? 1 : (uint64_t)times);
}

/* ---- gauges ---- */

static void jvm_gauge_set(JNIEnv *env, jclass type, jlong gauge, jdouble value)
{
    (void)env;
    (void)type;
    crest_gauge_set(JVM_POINTER(crest_gauge, gauge), value);
}

static void jvm_gauge_add(JNIEnv *env, jclass type, jlong gauge, jdouble delta)
{
    (void)env;
    (void)type;
    crest_gauge_add(JVM_POINTER(crest_gauge, gauge), delta);
}

static void jvm_gauge_set_to_now(JNIEnv *env, jclass type, jlong gauge)
{
    (void)env;
    (void)type;
    crest_gauge_set_to_now(JVM_POINTER(crest_gauge, gauge));
}

static jdouble jvm_gauge_value(JNIEnv *env, jclass type, jlong gauge)
{
    (void)env;
    (void)type;
    return crest_gauge_value(JVM_POINTER(crest_gauge, gauge));
}

/* ---- range samplers ---- */

static void jvm_range_add(JNIEnv *env, jclass type, jlong sampler, jlong delta)
{
    (void)env;
    (void)type;
    crest_range_sampler_add(JVM_POINTER(crest_range_sampler, sampler), delta);
}

static void jvm_range_set(JNIEnv *env, jclass type, jlong sampler, jlong value)
{
    (void)env;
    (void)type;
    crest_range_sampler_set(JVM_POINTER(crest_range_sampler, sampler), value);
}

static jlong jvm_range_value(JNIEnv *env, jclass type, jlong sampler)
{
    (void)env;
    (void)type;
    return crest_range_sampler_value(JVM_POINTER(crest_range_sampler, sampler));
}

static const JNINativeMethod jvm_cells_methods[] = {
    JVM_NATIVE("layout", "()[J", jvm_layout),
    JVM_NATIVE("table", "(I)J", jvm_table),
    JVM_NATIVE("lanes", "(I)[J", jvm_lanes),
    JVM_NATIVE("laneCounterAdd", "(IJJ)V", jvm_lane_counter_add),
    JVM_NATIVE("laneHistogramRecord", "(IJJJ)V", jvm_lane_histogram_record),
    JVM_NATIVE("counterAdd", "(JJ)V", jvm_counter_add),
    JVM_NATIVE("counterFull", "(J)V", jvm_counter_full),
    JVM_NATIVE("counterValue", "(J)J", jvm_counter_value),
    JVM_NATIVE("histogramRecord", "(JJJ)V", jvm_histogram_record),
    JVM_NATIVE("gaugeSet", "(JD)V", jvm_gauge_set),
    JVM_NATIVE("gaugeAdd", "(JD)V", jvm_gauge_add),
    JVM_NATIVE("gaugeSetToNow", "(J)V", jvm_gauge_set_to_now),
    JVM_NATIVE("gaugeValue", "(J)D", jvm_gauge_value),
    JVM_NATIVE("rangeAdd", "(JJ)V", jvm_range_add),
    JVM_NATIVE("rangeSet", "(JJ)V", jvm_range_set),
    JVM_NATIVE("rangeValue", "(J)J", jvm_range_value),
};

const jvm_natives jvm_cells_natives = {"io/crest/CellNatives", jvm_cells_methods,
                                       JVM_COUNT(jvm_cells_methods)};
