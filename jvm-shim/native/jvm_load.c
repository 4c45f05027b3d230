/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loading: registers the native methods, and says which library and which layouts Java has got.
 */
#include "jvm.h"

#include <stddef.h>

/*
 * Everything that the Java side's arithmetic relies on, in the order of io.crest.Layout, which
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
    };
    jlongArray result = (*env)->NewLongArray(env, JVM_COUNT(layout));
    if (result != NULL)
        (*env)->SetLongArrayRegion(env, result, 0, JVM_COUNT(layout), layout);
    return result;
}

static const JNINativeMethod jvm_library_methods[] = {
    JVM_NATIVE("layout", "()[J", jvm_layout),
};

const jvm_natives jvm_library_natives = {"io/crest/Native", jvm_library_methods,
                                         JVM_COUNT(jvm_library_methods)};

JNIEXPORT jint JNICALL JNI_OnLoad(JavaVM *vm, void *reserved)
{
    (void)reserved;
    static const jvm_natives *const tables[] = {&jvm_library_natives, &jvm_cells_natives,
                                                &jvm_metrics_natives};
    JNIEnv *env;
    if ((*vm)->GetEnv(vm, (void **)&env, JNI_VERSION_1_8) != JNI_OK)
        return JNI_ERR;
    for (int i = 0; i < JVM_COUNT(tables); i++) {
        jclass type = (*env)->FindClass(env, tables[i]->class_name);
        if (type == NULL ||
            (*env)->RegisterNatives(env, type, tables[i]->methods, tables[i]->count) != 0)
            return JNI_ERR;
        (*env)->DeleteLocalRef(env, type);
    }
    return JNI_VERSION_1_8;
}
