/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Running span timings, from Java. io.crest.SpanTiming keeps a crest_span_timing as an array of
 * longs, which is the caller's memory of <crest/span.h>: each call copies it in, works on the copy
 * and copies it back. So Java's garbage collector owns it, and nothing has to be freed.
 *
 * In front of it are four longs that Java reads: the trace's halves, the span's id and the flags.
 */
#include "jvm.h"

#include <crest/span.h>
#include <stdlib.h>
#include <string.h>

#define SPAN_CONTEXT_LONGS 4
/* Beside a context's flags: it is from another process. */
#define SPAN_REMOTE 256
#define SPAN_TIMING_LONGS ((sizeof(crest_span_timing) + 7) / 8)
/* What a text of Java is cut to before it is copied here; the library cuts it once more. */
#define SPAN_TEXT_BYTES ((jsize)CREST_SPAN_TEXT_BYTES_MAX + 4)

enum { SPAN_NUMBER = 1, SPAN_DECIMAL, SPAN_FLAG, SPAN_TEXT, SPAN_EVENT, SPAN_LINK, SPAN_MESSAGE };

typedef union span_words {
    crest_span_timing timing;
    jlong longs[SPAN_TIMING_LONGS];
} span_words;

static uint64_t span_half(const uint8_t *bytes)
{
    uint64_t half = 0;
    for (int i = 0; i < 8; i++)
        half = half << 8 | bytes[i];
    return half;
}

static crest_span_context span_context(jlong high, jlong low, jlong span, jint flags)
{
    crest_span_context context = {.span = (crest_span_id)span,
                                  .flags = (uint8_t)flags,
                                  .remote = (flags & SPAN_REMOTE) != 0};
    for (unsigned i = 0; i < 8; i++) {
        context.trace.bytes[i] = (uint8_t)((uint64_t)high >> (56 - 8 * i));
        context.trace.bytes[8 + i] = (uint8_t)((uint64_t)low >> (56 - 8 * i));
    }
    return context;
}

static void span_context_longs(const crest_span_context *context, jlong *longs)
{
    longs[0] = (jlong)span_half(context->trace.bytes);
    longs[1] = (jlong)span_half(context->trace.bytes + 8);
    longs[2] = (jlong)context->span;
    longs[3] = context->flags | (context->remote ? SPAN_REMOTE : 0);
}

static void span_load(JNIEnv *env, jlongArray words, span_words *into)
{
    (*env)->GetLongArrayRegion(env, words, SPAN_CONTEXT_LONGS, (jsize)SPAN_TIMING_LONGS,
                               into->longs);
}

static void span_store(JNIEnv *env, jlongArray words, const span_words *from)
{
    (*env)->SetLongArrayRegion(env, words, SPAN_CONTEXT_LONGS, (jsize)SPAN_TIMING_LONGS,
                               from->longs);
}

static jlongArray jvm_span_start(JNIEnv *env, jclass type, jlong timer, jlong high, jlong low,
                                 jlong parent, jint flags, jint kind, jint length, jlong w0,
                                 jlong w1, jlong w2, jlong w3)
{
    (void)type;
    span_words words;
    jlong front[SPAN_CONTEXT_LONGS];
    crest_span_context under = span_context(high, low, parent, flags);
    crest_op op = {
        {(uint64_t)w0, (uint64_t)w1, (uint64_t)w2, (uint64_t)w3}, (uint32_t)length, (uint32_t)kind};
    memset(&words, 0, sizeof words);
    crest_timer_start_under(JVM_POINTER(crest_timer, timer), op, &under, &words.timing);
    if (!words.timing.traced)
        return NULL;
    crest_span_context here = crest_span_timing_context(&words.timing);
    span_context_longs(&here, front);
    jlongArray made = (*env)->NewLongArray(env, (jsize)(SPAN_CONTEXT_LONGS + SPAN_TIMING_LONGS));
    if (made == NULL) { /* without memory it is a timing like any other */
        (*env)->ExceptionClear(env);
        return NULL;
    }
    (*env)->SetLongArrayRegion(env, made, 0, SPAN_CONTEXT_LONGS, front);
    span_store(env, made, &words);
    return made;
}

/* The key that a name has for the life of the process; the caller keeps it. 0 without memory. */
static jlong jvm_span_key(JNIEnv *env, jclass type, jbyteArray name)
{
    (void)type;
    jsize length = (*env)->GetArrayLength(env, name);
    crest_span_key *key = malloc(sizeof *key + (size_t)length);
    if (key == NULL)
        return 0;
    char *text = (char *)(key + 1);
    (*env)->GetByteArrayRegion(env, name, 0, length, (jbyte *)text);
    key->name = text;
    key->id = 0;
    return JVM_ADDRESS(key);
}

static crest_status span_text(JNIEnv *env, span_words *words, crest_span_key *key, jbyteArray text)
{
    char bytes[SPAN_TEXT_BYTES];
    jsize length = (*env)->GetArrayLength(env, text);
    if (length > SPAN_TEXT_BYTES)
        length = SPAN_TEXT_BYTES;
    (*env)->GetByteArrayRegion(env, text, 0, length, (jbyte *)bytes);
    return key != NULL ? crest_span_set_text(&words->timing, key, bytes, (size_t)length)
                       : crest_span_set_message(&words->timing, bytes, (size_t)length);
}

/* One detail; `a`, `b` and `c` are a value, or a link's trace and span. */
static jint jvm_span_detail(JNIEnv *env, jclass type, jlongArray array, jint what, jlong address,
                            jlong a, jlong b, jlong c, jbyteArray text)
{
    (void)type;
    span_words words;
    double decimal;
    crest_span_context link = span_context(a, b, c, 0);
    crest_span_key *key = JVM_POINTER(crest_span_key, address);
    crest_status status = CREST_INVALID_ARGUMENT;
    span_load(env, array, &words);
    memcpy(&decimal, &a, sizeof decimal);
    if (what == SPAN_LINK)
        status = crest_span_add_link(&words.timing, &link);
    else if (what == SPAN_MESSAGE)
        status = span_text(env, &words, NULL, text);
    else if (key == NULL)
        status = CREST_NO_MEMORY;
    else if (what == SPAN_NUMBER)
        status = crest_span_set_i64(&words.timing, key, a);
    else if (what == SPAN_DECIMAL)
        status = crest_span_set_double(&words.timing, key, decimal);
    else if (what == SPAN_FLAG)
        status = crest_span_set_bool(&words.timing, key, a != 0);
    else if (what == SPAN_TEXT)
        status = span_text(env, &words, key, text);
    else if (what == SPAN_EVENT)
        status = crest_span_add_event(&words.timing, key);
    span_store(env, array, &words);
    return (jint)status;
}

/* Ends it, recorded into `timer`; the array is not used afterwards. */
static jint jvm_span_end(JNIEnv *env, jclass type, jlongArray array, jlong timer, jint kind,
                         jint outcome)
{
    (void)type;
    span_words words;
    span_load(env, array, &words);
    (void)crest_span_set_kind(&words.timing, (crest_span_kind)kind);
    words.timing.timing.timer = JVM_POINTER(crest_timer, timer);
    return (jint)crest_span_leave(&words.timing, (crest_outcome)outcome);
}

/* The thread's current span, for native code that Java calls. */
static void jvm_span_current_set(JNIEnv *env, jclass type, jlong high, jlong low, jlong span,
                                 jint flags)
{
    (void)env;
    (void)type;
    crest_span_context context = span_context(high, low, span, flags);
    crest_span_current_set(&context);
}

/* That of native code which has called Java; NULL: it is in none. */
static jlongArray jvm_span_current(JNIEnv *env, jclass type)
{
    (void)type;
    jlong longs[SPAN_CONTEXT_LONGS];
    crest_span_context context = crest_span_current();
    if (!crest_span_context_valid(&context))
        return NULL;
    span_context_longs(&context, longs);
    jlongArray made = (*env)->NewLongArray(env, SPAN_CONTEXT_LONGS);
    if (made != NULL)
        (*env)->SetLongArrayRegion(env, made, 0, SPAN_CONTEXT_LONGS, longs);
    return made;
}

/* The context of a traceparent, or NULL, which is counted as misuse. */
static jlongArray jvm_span_parse(JNIEnv *env, jclass type, jbyteArray text)
{
    (void)type;
    char bytes[4 * CREST_TRACEPARENT_BYTES];
    jlong longs[SPAN_CONTEXT_LONGS];
    crest_span_context context;
    jsize length = (*env)->GetArrayLength(env, text);
    if (length > (jsize)sizeof bytes)
        length = (jsize)sizeof bytes;
    (*env)->GetByteArrayRegion(env, text, 0, length, (jbyte *)bytes);
    if (crest_traceparent_read(bytes, (size_t)length, &context, NULL) != CREST_OK)
        return NULL;
    span_context_longs(&context, longs);
    jlongArray made = (*env)->NewLongArray(env, SPAN_CONTEXT_LONGS);
    if (made != NULL)
        (*env)->SetLongArrayRegion(env, made, 0, SPAN_CONTEXT_LONGS, longs);
    return made;
}

static const JNINativeMethod jvm_span_timings_methods[] = {
    JVM_NATIVE("start", "(JJJJIIIJJJJ)[J", jvm_span_start),
    JVM_NATIVE("key", "([B)J", jvm_span_key),
    JVM_NATIVE("detail", "([JIJJJJ[B)I", jvm_span_detail),
    JVM_NATIVE("end", "([JJII)I", jvm_span_end),
    JVM_NATIVE("setCurrent", "(JJJI)V", jvm_span_current_set),
    JVM_NATIVE("current", "()[J", jvm_span_current),
    JVM_NATIVE("parse", "([B)[J", jvm_span_parse),
};

const jvm_natives jvm_span_timings_natives = {"io/crest/SpanTimingNatives",
                                              jvm_span_timings_methods,
                                              JVM_COUNT(jvm_span_timings_methods)};
