/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Samples of Java code for the library's profiles, as io.crest.JavaSamples has them of the JVM.
 */
#include "jvm.h"

#include <crest/profile.h>

static jboolean jvm_profile_runs(JNIEnv *env, jclass type)
{
    (void)env;
    (void)type;
    return crest_profiler_status().running ? JNI_TRUE : JNI_FALSE;
}

static jlong jvm_profile_frame(JNIEnv *env, jclass type, jbyteArray name)
{
    (void)type;
    char text[CREST_PROFILE_NAME_BYTES_MAX];
    jsize length = (*env)->GetArrayLength(env, name);
    if (length > (jsize)sizeof text)
        length = (jsize)sizeof text;
    (*env)->GetByteArrayRegion(env, name, 0, length, (jbyte *)text);
    text[sizeof text - 1] = '\0'; /* a longer one is cut */
    return (jlong)crest_profile_frame(text);
}

static jint jvm_profile_add(JNIEnv *env, jclass type, jlongArray frames, jint depth, jlong timer,
                            jlong nanos)
{
    (void)type;
    jlong all[CREST_PROFILE_FRAMES_MAX];
    if (depth < 0 || depth > (jint)CREST_PROFILE_FRAMES_MAX)
        return (jint)CREST_INVALID_ARGUMENT;
    (*env)->GetLongArrayRegion(env, frames, 0, depth, all);
    return (jint)crest_profile_add((const uint64_t *)all, (size_t)depth,
                                   JVM_POINTER(const crest_timer, timer), (uint64_t)nanos);
}

static void jvm_profile_cover(JNIEnv *env, jclass type, jboolean covered)
{
    (void)env;
    (void)type;
    crest_profile_cover(covered == JNI_TRUE);
}

static const JNINativeMethod jvm_profile_methods[] = {
    JVM_NATIVE("runs", "()Z", jvm_profile_runs),
    JVM_NATIVE("frame", "([B)J", jvm_profile_frame),
    JVM_NATIVE("add", "([JIJJ)I", jvm_profile_add),
    JVM_NATIVE("cover", "(Z)V", jvm_profile_cover),
};

const jvm_natives jvm_profile_natives = {"io/crest/ProfileNatives", jvm_profile_methods,
                                         JVM_COUNT(jvm_profile_methods)};
