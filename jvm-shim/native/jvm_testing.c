/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Values of a series, as io.crest.Reading gives them to tests.
 */
#include "jvm.h"

#include <crest/testing.h>
#include <string.h>

/* A name, then a key and a value for each label: the eight of a metric and its outcome. */
#define TESTING_TEXTS_MAX 19

/* The call's texts by their number; those that are not there end the list. */
#define TESTING_LABELS(t)                                                                          \
    (t)[0], (t)[1], (t)[2], (t)[3], (t)[4], (t)[5], (t)[6], (t)[7], (t)[8], (t)[9], (t)[10],       \
        (t)[11], (t)[12], (t)[13], (t)[14], (t)[15], (t)[16], (t)[17], (t)[18], NULL

/* Numbers in the order of io.crest.Reading. */
static crest_status testing_read(const char *const *texts, jlong numbers[7], double *gauge,
                                 crest_error *error)
{
    crest_testing_reading reading;
    crest_status status = crest_testing_read(NULL, NULL, &reading, error, TESTING_LABELS(texts));
    const jlong found[] = {(jlong)reading.kind,   (jlong)reading.counter, reading.current,
                           (jlong)reading.count,  (jlong)reading.sum,     (jlong)reading.minimum,
                           (jlong)reading.maximum};
    for (int i = 0; i < JVM_COUNT(found); i++)
        numbers[i] = found[i];
    *gauge = reading.gauge;
    return status;
}

/* Where each text begins; the last ones NULL. */
static void testing_texts(const char *all, jsize bytes, const char *texts[TESTING_TEXTS_MAX])
{
    int count = 0;
    for (jsize at = 0; at < bytes && count < TESTING_TEXTS_MAX; at++)
        if (at == 0 || all[at - 1] == '\0')
            texts[count++] = &all[at];
    while (count < TESTING_TEXTS_MAX)
        texts[count++] = NULL;
}

/* As UTF-8: JNI's own conversion takes less. */
static jbyteArray testing_bytes(JNIEnv *env, const char *text)
{
    jsize length = (jsize)strlen(text);
    jbyteArray bytes = (*env)->NewByteArray(env, length);
    if (bytes != NULL)
        (*env)->SetByteArrayRegion(env, bytes, 0, length, (const jbyte *)text);
    return bytes;
}

/* Fills numbers and the gauge's value; returns what is wrong, or null. The texts end with a NUL
 * each, and are a name and pairs, TESTING_TEXTS_MAX at most. */
static jbyteArray jvm_testing_read(JNIEnv *env, jclass type, jbyteArray joined, jlongArray numbers,
                                   jdoubleArray gauge)
{
    (void)type;
    const char *texts[TESTING_TEXTS_MAX];
    jlong found[7] = {0};
    double value = 0;
    crest_error error;
    jbyte *bytes = (*env)->GetByteArrayElements(env, joined, NULL);
    if (bytes == NULL)
        return NULL; /* an OutOfMemoryError is under way */
    testing_texts((const char *)bytes, (*env)->GetArrayLength(env, joined), texts);
    crest_status status = testing_read(texts, found, &value, &error);
    (*env)->ReleaseByteArrayElements(env, joined, bytes, JNI_ABORT);
    if (status != CREST_OK)
        return testing_bytes(env, error.message);
    (*env)->SetLongArrayRegion(env, numbers, 0, JVM_COUNT(found), found);
    (*env)->SetDoubleArrayRegion(env, gauge, 0, 1, &value);
    return NULL;
}

static const JNINativeMethod jvm_testing_methods[] = {
    JVM_NATIVE("read", "([B[J[D)[B", jvm_testing_read),
};

const jvm_natives jvm_testing_natives = {"io/crest/TestingNatives", jvm_testing_methods,
                                         JVM_COUNT(jvm_testing_methods)};
