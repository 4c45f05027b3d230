/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loading: registers the native methods, and says which library Java has got.
 */
#define _GNU_SOURCE
#include "jvm.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

/* A longer path to this library is not followed to what lies beside it. */
#define JVM_PATH_BYTES 4096

static jstring jvm_version(JNIEnv *env, jclass type)
{
    (void)type;
    return (*env)->NewStringUTF(env, crest_version());
}

/*
 * By its soname, so that a process that has it already does not get another one; otherwise from
 * beside this library, whose run path the linker does not follow where a sanitizer calls it for us.
 * It is never unloaded, as libcrest: the handle need not be kept.
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
        &jvm_run_natives,
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
    /* whoever starts Crest in this process, jvm=on in CREST_OPTS is no slip of the pen */
    (void)crest_option_name_add("jvm");
    return JNI_VERSION_1_8;
}
