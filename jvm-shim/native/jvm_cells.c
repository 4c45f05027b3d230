/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The cold paths of recording from Java, and the way to the cells of the thread that asks.
 */
#include "jvm.h"

/* The table of this thread's cells if it leads to the slot's, else 0: then nobody may keep it. */
static jlong jvm_table(JNIEnv *env, jclass type, jint slot)
{
    (void)env;
    (void)type;
    crest_cells *cells = crest_thread_cells;
    return cells->chunk[(uint32_t)slot >> CREST_CHUNK_BITS] != NULL ? JVM_ADDRESS(cells) : 0;
}

static void jvm_counter_add(JNIEnv *env, jclass type, jlong counter, jlong amount)
{
    (void)env;
    (void)type;
    crest_counter_add(JVM_POINTER(crest_counter, counter), amount);
}

static jlong jvm_counter_value(JNIEnv *env, jclass type, jlong counter)
{
    (void)env;
    (void)type;
    return (jlong)crest_counter_value(JVM_POINTER(crest_counter, counter));
}

static const JNINativeMethod jvm_cells_methods[] = {
    JVM_NATIVE("table", "(I)J", jvm_table),
    JVM_NATIVE("counterAdd", "(JJ)V", jvm_counter_add),
    JVM_NATIVE("counterValue", "(J)J", jvm_counter_value),
};

const jvm_natives jvm_cells_natives = {"io/crest/Native", jvm_cells_methods,
                                       JVM_COUNT(jvm_cells_methods)};
