/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The native half of a Java program: JNI functions of somebody else's, which count with libcrest as
 * any C program does. NativeHalfMain of the JUnit tests is the other half.
 */
#include <crest/crest.h>
#include <jni.h>

CREST_COUNTER(native_blocks, "mixed.native-blocks", "Blocks that the native half made.");
CREST_COUNTER(native_both, "mixed.both", "Counted by both halves.");

JNIEXPORT void JNICALL Java_io_crest_NativeHalfMain_count(JNIEnv *env, jclass type, jint times)
{
    (void)env;
    (void)type;
    for (jint i = 0; i < times; i++) {
        crest_counter_inc(&native_blocks);
        crest_counter_inc(&native_both);
    }
}

/* The page as the native half gets it: the value of Java's counter, by its name. */
JNIEXPORT jlong JNICALL Java_io_crest_NativeHalfMain_seen(JNIEnv *env, jclass type)
{
    (void)env;
    (void)type;
    crest_counter *counter =
        crest_counter_get(NULL, &(crest_metric_options){.name = "mixed.java-blocks"}, NULL);
    return (jlong)crest_counter_value(counter);
}
