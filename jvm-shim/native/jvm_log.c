/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the library tells its log callback, on its way to Java: kept here until a Java thread takes
 * it (io.crest.Log). So no thread of the library ever runs Java code, whatever a listener does, and
 * none is in the way when the JVM ends.
 */
#define _GNU_SOURCE
#include "jvm.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

/* As many messages wait; of what comes on top, the number is told. */
#define LOG_WAITING_MAX 64u

typedef struct log_message {
    crest_log_level level;
    char text[CREST_ERROR_BYTES];
} log_message;

/* Guards all that follows. */
static pthread_mutex_t log_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t log_changed = PTHREAD_COND_INITIALIZER;
static log_message log_waiting[LOG_WAITING_MAX];
static unsigned log_first, log_count;
static unsigned long log_dropped;
static jlong log_taker; /* whose messages they are; another one's take comes back empty */

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
        pthread_cond_broadcast(&log_changed);
    }
    pthread_mutex_unlock(&log_lock);
}

/* A class loader that goes may take this library with it, but not while the library above may be
 * about to call log_receive, and nobody can tell when it is not: so from then on it stays. */
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

/* From now on the messages are `taker`'s; 0: nobody's. */
static void log_serve(JNIEnv *env, jclass type, jlong taker)
{
    (void)env;
    (void)type;
    pthread_mutex_lock(&log_lock);
    log_taker = taker;
    pthread_cond_broadcast(&log_changed);
    pthread_mutex_unlock(&log_lock);
}

/* Under the lock: the next message, or how many there was no room for. Zero when there is none. */
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

/* The level in one byte and the text, once there is a message. NULL once they are another taker's,
 * and, if they are nobody's, there is none left. */
static jbyteArray log_take(JNIEnv *env, jclass type, jlong taker)
{
    (void)type;
    log_message message;
    pthread_mutex_lock(&log_lock);
    int found;
    while (!(found = (log_taker == taker || log_taker == 0) && log_next(&message)) &&
           log_taker == taker)
        pthread_cond_wait(&log_changed, &log_lock);
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

/* A message of the Java side's own, which goes where the library's go. */
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
    JVM_NATIVE("serve", "(J)V", log_serve),
    JVM_NATIVE("take", "(J)[B", log_take),
    JVM_NATIVE("write", "(I[B)V", log_write),
};

const jvm_natives jvm_log_natives = {"io/crest/LogNatives", log_methods, JVM_COUNT(log_methods)};
