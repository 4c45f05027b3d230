/* SPDX-License-Identifier: Apache-2.0 */
/*
 * By name: what io.crest.Source calls at the first use of a name, or for a name without a handle.
 * From then on Java has the handle.
 */
#include "jvm.h"

#include <crest/by_name.h>
#include <string.h>

/* A valid name and one character more, each of the longest encoding. */
#define JVM_NAME_CHARS_MAX ((jsize)CREST_NAME_BYTES_MAX + 1)
#define JVM_NAME_BYTES (3 * JVM_NAME_CHARS_MAX + 1)

/* The name in UTF-8, cut where it is too long to be valid; NULL for null. U+0000 takes two bytes in
 * JNI's UTF-8, so that none cuts a name to a valid one. Throws nothing and allocates nothing. */
static const char *jvm_name(JNIEnv *env, jstring name, char text[JVM_NAME_BYTES])
{
    if (name == NULL)
        return NULL;
    jsize length = (*env)->GetStringLength(env, name);
    memset(text, 0, JVM_NAME_BYTES); /* not every JVM terminates what it copies */
    (*env)->GetStringUTFRegion(env, name, 0,
                               length < JVM_NAME_CHARS_MAX ? length : JVM_NAME_CHARS_MAX, text);
    return text;
}

/* The source with this text, which is not null; throws if the text is not valid. */
static jlong jvm_source(JNIEnv *env, jclass type, jstring name)
{
    (void)type;
    char text[JVM_NAME_BYTES];
    crest_error error;
    if (crest_source_check(jvm_name(env, name, text), &error) == CREST_OK)
        return JVM_ADDRESS(crest_source_get(text));
    jclass exception = (*env)->FindClass(env, "java/lang/IllegalArgumentException");
    if (exception != NULL)
        (*env)->ThrowNew(env, exception, error.message);
    return 0;
}

/* The handle of this kind, made if need be; 0 if there is none, which has been counted as misuse.
 * A handle that records nowhere has no slot. */
static jlong jvm_handle(JNIEnv *env, jclass type, jlong in, jstring name, jint kind)
{
    (void)type;
    char text[JVM_NAME_BYTES];
    crest_source *source = JVM_POINTER(crest_source, in);
    const char *known = jvm_name(env, name, text);
    const crest_handle *handle = NULL;
    switch ((crest_kind)kind) {
    case CREST_KIND_COUNTER: handle = &crest_counter_by_name_in(source, known)->handle; break;
    case CREST_KIND_GAUGE: handle = &crest_gauge_by_name_in(source, known)->handle; break;
    case CREST_KIND_HISTOGRAM: handle = &crest_histogram_by_name_in(source, known)->handle; break;
    case CREST_KIND_TIMER: handle = &crest_timer_by_name_in(source, known)->handle; break;
    case CREST_KIND_RANGE_SAMPLER:
        handle = &crest_range_sampler_by_name_in(source, known)->handle;
        break;
    case CREST_KIND_STAGES:
    case CREST_KIND_NONE: break;
    }
    if (handle == NULL || __atomic_load_n(&handle->slot, __ATOMIC_RELAXED) == 0)
        return 0;
    return JVM_ADDRESS(handle);
}

static const JNINativeMethod jvm_names_methods[] = {
    JVM_NATIVE("source", "(Ljava/lang/String;)J", jvm_source),
    JVM_NATIVE("handle", "(JLjava/lang/String;I)J", jvm_handle),
};

const jvm_natives jvm_names_natives = {"io/crest/Names", jvm_names_methods,
                                       JVM_COUNT(jvm_names_methods)};
