/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Starting, stopping and pages, for io.crest.RunNatives. Texts are bytes of UTF-8 on both sides,
 * since JNI's own text functions use modified UTF-8. A failure is returned as a byte array: the
 * status, then the message. NULL is success.
 */
#define _GNU_SOURCE
#include "jvm.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The status in one byte, then bytes. NULL with a Java exception when there is no memory. */
static jbyteArray run_bytes(JNIEnv *env, crest_status status, const char *bytes, size_t length)
{
    jbyte code = (jbyte)status;
    jbyteArray answer = (*env)->NewByteArray(env, (jsize)length + 1);
    if (answer == NULL)
        return NULL;
    (*env)->SetByteArrayRegion(env, answer, 0, 1, &code);
    (*env)->SetByteArrayRegion(env, answer, 1, (jsize)length, (const jbyte *)bytes);
    return answer;
}

static jbyteArray run_answer(JNIEnv *env, crest_status status, const crest_error *error)
{
    if (status == CREST_OK)
        return NULL;
    int told = error->status == status && error->message[0] != '\0';
    const char *message = told ? error->message : crest_status_text(status);
    return run_bytes(env, status, message, strlen(message));
}

/* A copy to free(); NULL for null, and when there is no memory, which *status says. */
static char *run_text(JNIEnv *env, jbyteArray bytes, crest_status *status)
{
    *status = CREST_OK;
    if (bytes == NULL)
        return NULL;
    jsize length = (*env)->GetArrayLength(env, bytes);
    char *text = malloc((size_t)length + 1);
    if (text == NULL) {
        *status = CREST_NO_MEMORY;
        return NULL;
    }
    (*env)->GetByteArrayRegion(env, bytes, 0, length, (jbyte *)text);
    text[length] = '\0';
    return text;
}

static jbyteArray run_start(JNIEnv *env, jclass type, jbyteArray options)
{
    (void)type;
    crest_error error = {.status = CREST_OK, .message = ""};
    crest_status status;
    char *text = run_text(env, options, &status), *all = NULL;
    /* the later of two counts, and CREST_OPTS more */
    const char *given = text != NULL ? text : "";
    if (status == CREST_OK &&
        asprintf(&all, "log=stderr%s%s", given[0] != '\0' ? "," : "", given) < 0)
        status = CREST_NO_MEMORY;
    if (status == CREST_OK)
        status = crest_start(all, &error);
    if (status == CREST_ALREADY && text == NULL)
        status = CREST_OK; /* without options of its own a start may be the second */
    free(all);
    free(text);
    /* the library counts this start all the same, but Java's exception says that it does not */
    if (status == CREST_ALREADY)
        (void)crest_stop(0, NULL);
    /* it runs, and the log has been told which reporters do not */
    if (status == CREST_PARTIAL)
        status = CREST_OK;
    return run_answer(env, status, &error);
}

static jbyteArray run_check(JNIEnv *env, jclass type, jbyteArray options)
{
    (void)type;
    crest_error error = {.status = CREST_OK, .message = ""};
    crest_status status;
    char *text = run_text(env, options, &status);
    if (status == CREST_OK)
        status = crest_options_check(text, &error);
    free(text);
    return run_answer(env, status, &error);
}

static jbyteArray run_stop(JNIEnv *env, jclass type, jlong deadline_ms)
{
    (void)type;
    crest_error error = {.status = CREST_OK, .message = ""};
    crest_status status = crest_stop((uint64_t)deadline_ms, &error);
    return run_answer(env, status, &error);
}

/* ---- Java's own options ---- */

/* A growing list of texts, each followed by its NUL. */
typedef struct run_list {
    char *bytes;
    size_t length;
    size_t room;
} run_list;

static int run_list_add(run_list *list, const char *text)
{
    size_t size = strlen(text) + 1;
    if (size > list->room - list->length) {
        size_t room = 2 * (list->room + size);
        char *bytes = realloc(list->bytes, room);
        if (bytes == NULL)
            return 0;
        list->bytes = bytes;
        list->room = room;
    }
    memcpy(list->bytes + list->length, text, size);
    list->length += size;
    return 1;
}

/* jvm and jvm.*, and the options that concern both sides. */
static int run_is_javas(const char *key)
{
    return (strncmp(key, "jvm", 3) == 0 && (key[3] == '\0' || key[3] == '.')) ||
           strcmp(key, "atexit") == 0;
}

/* Key, value and origin of each of Java's options, after the status. */
static jbyteArray run_options(JNIEnv *env, jclass type, jbyteArray bytes)
{
    (void)type;
    crest_error error = {.status = CREST_OK, .message = ""};
    crest_status status;
    crest_options *options = NULL;
    run_list list = {.bytes = NULL};
    char *text = run_text(env, bytes, &status);
    if (status == CREST_OK)
        status = crest_options_read(text, &options, &error);
    const char *key, *value;
    size_t cursor = 0;
    while (status == CREST_OK && crest_option_next(options, "", &cursor, &key, &value))
        if (run_is_javas(key) && !(run_list_add(&list, key) && run_list_add(&list, value) &&
                                   run_list_add(&list, crest_option_origin(options, key))))
            status = CREST_NO_MEMORY;
    const char *found = list.bytes != NULL ? list.bytes : "";
    jbyteArray answer = status == CREST_OK ? run_bytes(env, CREST_OK, found, list.length)
                                           : run_answer(env, status, &error);
    crest_options_free(options);
    free(list.bytes);
    free(text);
    return answer;
}

static jlong run_retire(JNIEnv *env, jclass type, jbyteArray key, jbyteArray value)
{
    (void)type;
    crest_status status[2];
    char *key_text = run_text(env, key, &status[0]), *value_text = run_text(env, value, &status[1]);
    size_t retired = 0;
    if (key_text != NULL && value_text != NULL)
        retired = crest_retire(NULL, key_text, value_text);
    free(key_text);
    free(value_text);
    return (jlong)retired;
}

/* ---- pages ---- */

/* Where a page goes: OutputStream.write(byte[], int, int) of a stream, through one array. */
typedef struct run_output {
    JNIEnv *env;
    jobject stream;
    jmethodID write;
    jbyteArray piece;
} run_output;

/* Stops at the stream's exception, which stays pending for the caller of the native method. */
static int run_write(void *context, const void *bytes, size_t length)
{
    run_output *output = context;
    JNIEnv *env = output->env;
    for (size_t done = 0; done < length;) {
        size_t left = length - done;
        jsize part = (jsize)(left < CREST_PAGE_PIECE_BYTES ? left : CREST_PAGE_PIECE_BYTES);
        (*env)->SetByteArrayRegion(env, output->piece, 0, part, (const jbyte *)bytes + done);
        (*env)->CallVoidMethod(env, output->stream, output->write, output->piece, (jint)0, part);
        if ((*env)->ExceptionCheck(env))
            return -1;
        done += (size_t)part;
    }
    return 0;
}

static jbyteArray run_write_page(JNIEnv *env, jclass type, jint format, jobject stream)
{
    (void)type;
    run_output output = {.env = env, .stream = stream};
    jclass stream_type = (*env)->GetObjectClass(env, stream);
    output.write = (*env)->GetMethodID(env, stream_type, "write", "([BII)V");
    (*env)->DeleteLocalRef(env, stream_type);
    if (output.write == NULL)
        return NULL;
    output.piece = (*env)->NewByteArray(env, CREST_PAGE_PIECE_BYTES);
    if (output.piece == NULL)
        return NULL;
    crest_error error = {.status = CREST_OK, .message = ""};
    crest_status status = crest_page_write(NULL, (crest_format)format, run_write, &output, &error);
    if ((*env)->ExceptionCheck(env))
        return NULL;
    return run_answer(env, status, &error);
}

static jbyteArray run_content_type(JNIEnv *env, jclass type, jint format)
{
    (void)type;
    const char *text = crest_format_content_type((crest_format)format);
    return text != NULL ? run_bytes(env, CREST_OK, text, strlen(text)) : NULL;
}

static jint run_negotiate(JNIEnv *env, jclass type, jbyteArray accept)
{
    (void)type;
    crest_status status;
    char *text = run_text(env, accept, &status);
    crest_format format = crest_format_negotiate(text, NULL);
    free(text);
    return (jint)format;
}

static const JNINativeMethod run_methods[] = {
    JVM_NATIVE("options", "([B)[B", run_options),
    JVM_NATIVE("check", "([B)[B", run_check),
    JVM_NATIVE("start", "([B)[B", run_start),
    JVM_NATIVE("stop", "(J)[B", run_stop),
    JVM_NATIVE("retire", "([B[B)J", run_retire),
    JVM_NATIVE("writePage", "(ILjava/io/OutputStream;)[B", run_write_page),
    JVM_NATIVE("contentType", "(I)[B", run_content_type),
    JVM_NATIVE("negotiate", "([B)I", run_negotiate),
};

const jvm_natives jvm_run_natives = {"io/crest/RunNatives", run_methods, JVM_COUNT(run_methods)};
