/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loading: registers the native methods, and tells Java the library's version.
 */
#define _GNU_SOURCE
#include "jvm.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

/* A longer path of this library is not used to find the reporters beside it. */
#define JVM_PATH_BYTES 4096

static jstring jvm_version(JNIEnv *env, jclass type)
{
    (void)type;
    return (*env)->NewStringUTF(env, crest_version());
}

/*
 * Opens the reporters by their soname, so that a process that has loaded them does not get a second
 * copy; otherwise from beside this library. (The linker ignores this library's run path where a
 * sanitizer intercepts dlopen.) They are never unloaded, as libcrest, so the handle is not kept.
 */
static jstring jvm_open_reporters(JNIEnv *env, jclass type)
{
    (void)type;
    static const char name[] = "libcrest-reporters.so.0";
    Dl_info self;
    char beside[JVM_PATH_BYTES];
    if (dlopen(name, RTLD_NOW) != NULL)
        return NULL;
    if (dladdr(name, &self) != 0) {
        const char *slash = strrchr(self.dli_fname, '/');
        int folder = slash != NULL ? (int)(slash - self.dli_fname) : 0;
        int bytes = snprintf(beside, sizeof beside, "%.*s/%s", folder, self.dli_fname, name);
        if (bytes < (int)sizeof beside && dlopen(beside, RTLD_NOW) != NULL)
            return NULL;
    }
    const char *said = dlerror();
    return (*env)->NewStringUTF(env, said != NULL ? said : "the linker does not say why");
}

static const JNINativeMethod jvm_loading_methods[] = {
    JVM_NATIVE("version", "()Ljava/lang/String;", jvm_version),
    JVM_NATIVE("openReporters", "()Ljava/lang/String;", jvm_open_reporters),
};

static const jvm_natives jvm_loading_natives = {"io/crest/LibraryNatives", jvm_loading_methods,
                                                JVM_COUNT(jvm_loading_methods)};

JNIEXPORT jint JNICALL JNI_OnLoad(JavaVM *vm, void *reserved)
{
    (void)reserved;
    static const jvm_natives *const tables[] = {
        &jvm_loading_natives,
        &jvm_cells_natives,
        &jvm_metrics_natives,
        &jvm_names_natives,
        &jvm_log_natives,
        &jvm_profile_natives,
        &jvm_run_natives,
        &jvm_span_timings_natives,
        &jvm_spans_natives,
        &jvm_testing_natives,
        &jvm_timers_natives,
    };
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
    /* in this process jvm=on in CREST_OPTS is a valid option, also for a native caller's start */
    (void)crest_option_name_add("jvm");
    return JNI_VERSION_1_8;
}
