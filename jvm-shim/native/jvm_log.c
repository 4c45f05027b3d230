/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The library's log messages on their way to Java: a bounded queue, emptied by a Java thread
 * (io.crest.Log). So no thread of the library ever runs Java code, whatever a listener does, and
 * none delays the JVM's end.
 */
#define _GNU_SOURCE
#include "jvm.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

/* Messages that wait at most; of further ones only the number is told. */
#define LOG_WAITING_MAX 64u

typedef struct log_message {
    crest_log_level level;
    char text[CREST_ERROR_BYTES];
} log_message;

/* Guards all that follows. */
static pthread_mutex_t log_lock = PTHREAD_MUTEX_INITIALIZER;
static log_message log_waiting[LOG_WAITING_MAX];
static unsigned log_first, log_count;
static unsigned long log_dropped;

static void log_receive(crest_log_level level, const char *text, void *context)
{
    (void)context;
    pthread_mutex_lock(&log_lock);
    if (log_count == LOG_WAITING_MAX) {
        log_dropped++;
    } else {
        log_message *message = &log_waiting[(log_first + log_count++) % LOG_WAITING_MAX];
        message->level = level;
        snprintf(message->text, sizeof message->text, "%s", text);
    }
    pthread_mutex_unlock(&log_lock);
}

/* Pins this library in memory. A class loader that is collected may unload it, but a thread of the
 * library may be about to call log_receive at any later time. */
static int log_stay(void)
{
    Dl_info here;
    return dladdr((void *)(uintptr_t)&log_receive, &here) != 0 &&
           dlopen(here.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE) != NULL;
}

static jboolean log_listen(JNIEnv *env, jclass type, jboolean on)
{
    (void)env;
    (void)type;
    if (on && !log_stay())
        return JNI_FALSE;
    crest_log_to(on ? log_receive : NULL, NULL);
    return JNI_TRUE;
}

/* Under the lock: the next message, or the number of dropped ones. Zero when there is none. */
static int log_next(log_message *message)
{
    if (log_count > 0) {
        *message = log_waiting[log_first];
        log_first = (log_first + 1) % LOG_WAITING_MAX;
        log_count--;
        return 1;
    }
    if (log_dropped == 0)
        return 0;
    message->level = CREST_LOG_WARNING;
    snprintf(
        message->text, sizeof message->text,
        "crest: %lu further messages came faster than the listener took them, and were dropped",
        log_dropped);
    log_dropped = 0;
    return 1;
}

/* The next message: its level in one byte and the text. NULL when there is none. Never waits: a
 * thread that waits in native code holds up the JVM's exit. */
static jbyteArray log_take(JNIEnv *env, jclass type)
{
    (void)type;
    log_message message;
    pthread_mutex_lock(&log_lock);
    int found = log_next(&message);
    pthread_mutex_unlock(&log_lock);
    if (!found)
        return NULL;
    jbyte level = (jbyte)message.level;
    jsize length = (jsize)strlen(message.text);
    jbyteArray taken = (*env)->NewByteArray(env, length + 1);
    if (taken == NULL)
        return NULL;
    (*env)->SetByteArrayRegion(env, taken, 0, 1, &level);
    (*env)->SetByteArrayRegion(env, taken, 1, length, (const jbyte *)message.text);
    return taken;
}

/* A message of the Java side's, to the same log callback as the library's. */
static void log_write(JNIEnv *env, jclass type, jint level, jbyteArray text)
{
    (void)type;
    char message[CREST_ERROR_BYTES];
    jsize length = (*env)->GetArrayLength(env, text);
    if (length > (jsize)sizeof message - 1)
        length = (jsize)sizeof message - 1;
    (*env)->GetByteArrayRegion(env, text, 0, length, (jbyte *)message);
    message[length] = '\0';
    crest_log_write((crest_log_level)level, "%s", message);
}

static const JNINativeMethod log_methods[] = {
    JVM_NATIVE("listen", "(Z)Z", log_listen),
    JVM_NATIVE("take", "()[B", log_take),
    JVM_NATIVE("write", "(I[B)V", log_write),
};

const jvm_natives jvm_log_natives = {"io/crest/LogNatives", log_methods, JVM_COUNT(log_methods)};
