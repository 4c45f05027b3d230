/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Making instruments: finds or makes metrics, resolves label values, releases series.
 */
#include "jvm.h"

#include <crest/lifetime.h>
#include <stdlib.h>
#include <string.h>

/* The numbers that Java passes for a metric, in the order of io.crest.MetricNatives. */
typedef enum jvm_wish {
    WISH_STATUS, /* goes back */
    WISH_UNIT,
    WISH_BUCKETS, /* 1 and up: a preset */
    WISH_BOUND_COUNT,
    WISH_RANGE, /* 1 and up: a preset */
    WISH_LOWEST,
    WISH_HIGHEST,
    WISH_DIGITS,
    WISH_DEADLINE_MS,
    WISH_IDLE_S,
    WISH_NO_WINDOWS,
    WISH_QUANTILE_COUNT,
    WISH_STAGE_COUNT,
    WISH_KEY_COUNT,
    WISH_OPEN_LABELS, /* 0, or one more than the labels of a series of an open family */
    WISH_NUMBERS
} jvm_wish;

_Static_assert(CREST_RATIO == 6 && CREST_KIND_COUNTER == 1 && CREST_KIND_STAGES == 6,
               "io.crest.Unit and io.crest.Kind have the order of these");

/* How a kind is made, resolved and released. */
typedef struct jvm_maker {
    void *(*get)(const crest_metric_options *options, crest_status *status);
    struct crest_metric *(*family)(const crest_metric_options *options, const char *const *keys,
                                   unsigned count, crest_status *status);
    void *(*with)(struct crest_metric *metric, const char *const *values, unsigned count);
    crest_status (*release)(void *handle);
} jvm_maker;

/* A family is its metric: the struct around it is rebuilt for each call. */
#define JVM_MAKER(type)                                                                            \
    static void *metrics_get_##type(const crest_metric_options *options, crest_status *status)     \
    {                                                                                              \
        return crest_##type##_get(NULL, options, status);                                          \
    }                                                                                              \
    static struct crest_metric *metrics_family_##type(const crest_metric_options *options,         \
                                                      const char *const *keys, unsigned count,     \
                                                      crest_status *status)                        \
    {                                                                                              \
        return crest_##type##_family_new(NULL, options, keys, count, status).family.metric;        \
    }                                                                                              \
    static void *metrics_with_##type(struct crest_metric *metric, const char *const *values,       \
                                     unsigned count)                                               \
    {                                                                                              \
        crest_##type##_family family = {{metric, CREST_ABI, 0, NULL}};                             \
        return crest_##type##_family_get(&family, values, count);                                  \
    }                                                                                              \
    static crest_status metrics_release_##type(void *handle)                                       \
    {                                                                                              \
        return crest_##type##_release(handle);                                                     \
    }

#define JVM_MAKER_ROW(type)                                                                        \
    {                                                                                              \
        metrics_get_##type, metrics_family_##type, metrics_with_##type, metrics_release_##type     \
    }

JVM_MAKER(counter)
JVM_MAKER(gauge)
JVM_MAKER(histogram)
JVM_MAKER(timer)
JVM_MAKER(range_sampler)
JVM_MAKER(stages)

static const jvm_maker metrics_makers[] = {
    [CREST_KIND_COUNTER] = JVM_MAKER_ROW(counter),
    [CREST_KIND_GAUGE] = JVM_MAKER_ROW(gauge),
    [CREST_KIND_HISTOGRAM] = JVM_MAKER_ROW(histogram),
    [CREST_KIND_TIMER] = JVM_MAKER_ROW(timer),
    [CREST_KIND_RANGE_SAMPLER] = JVM_MAKER_ROW(range_sampler),
    [CREST_KIND_STAGES] = JVM_MAKER_ROW(stages),
};

/* `count` texts from here on, each followed by a NUL; returns what follows them. */
static const char *metrics_texts(const char *from, const char **texts, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        texts[i] = from;
        from += strlen(from) + 1;
    }
    return from;
}

/* The library's buckets, which Java names by number, or the passed ones. */
static const crest_buckets *metrics_buckets(const jlong *numbers, const crest_buckets *passed)
{
    static const crest_buckets *const presets[] = {
        NULL,
        CREST_BUCKETS_DEFAULT,
        CREST_BUCKETS_FAST,
        CREST_BUCKETS_SLOW,
        &crest_buckets_bytes,
        &crest_buckets_ratio,
        &crest_buckets_magnitudes,
    };
    return passed->count != 0 ? passed : presets[numbers[WISH_BUCKETS]];
}

static const crest_range *metrics_range(const jlong *numbers, crest_range *passed)
{
    static const crest_range *const presets[] = {
        NULL,
        CREST_RANGE_LOOSE,
        CREST_RANGE_DEFAULT,
        CREST_RANGE_FINE,
        CREST_RANGE_PERCENTAGE,
        CREST_RANGE_NONE,
    };
    passed->lowest = (uint64_t)numbers[WISH_LOWEST];
    passed->highest = (uint64_t)numbers[WISH_HIGHEST];
    passed->digits = (unsigned)numbers[WISH_DIGITS];
    return passed->lowest != 0 ? passed : presets[numbers[WISH_RANGE]];
}

/* A series of an open family; keys and values come in turn. */
static void *metrics_open(jint kind, const char *texts, const crest_metric_options *options,
                          unsigned count, crest_status *status)
{
    const char *pairs[2 * CREST_OPEN_LABELS_MAX];
    crest_label labels[CREST_OPEN_LABELS_MAX];
    metrics_texts(texts, pairs, 2 * count);
    for (unsigned i = 0; i < count; i++)
        labels[i] = (crest_label){pairs[2 * i], pairs[2 * i + 1]};
    switch (kind) {
    case CREST_KIND_GAUGE: return crest_gauge_labelled(NULL, options, labels, count, status);
    case CREST_KIND_HISTOGRAM:
        return crest_histogram_labelled(NULL, options, labels, count, status);
    case CREST_KIND_RANGE_SAMPLER:
        return crest_range_sampler_labelled(NULL, options, labels, count, status);
    default: return crest_counter_labelled(NULL, options, labels, count, status);
    }
}

/* Java has checked the counts. */
static jlong metrics_make(jint kind, const char *texts, jlong *numbers, const double *doubles)
{
    crest_range range;
    crest_status status = CREST_OK;
    const char *keys[CREST_LABELS_MAX + 1];
    unsigned key_count = (unsigned)numbers[WISH_KEY_COUNT];
    crest_buckets passed = {doubles, (unsigned)numbers[WISH_BOUND_COUNT]};
    crest_metric_options options = {
        .unit = (crest_unit)numbers[WISH_UNIT],
        .buckets = metrics_buckets(numbers, &passed),
        .range = metrics_range(numbers, &range),
        .deadline_ms = (uint32_t)numbers[WISH_DEADLINE_MS],
        .idle_s = (uint32_t)numbers[WISH_IDLE_S],
        .no_windows = (int)numbers[WISH_NO_WINDOWS],
    };
    texts = metrics_texts(texts, &options.name, 1);
    texts = metrics_texts(texts, &options.description, 1);
    texts = metrics_texts(texts, options.stages, (unsigned)numbers[WISH_STAGE_COUNT]);
    for (int i = 0; i < (int)numbers[WISH_QUANTILE_COUNT]; i++)
        options.quantiles[i] = doubles[passed.count + (unsigned)i];
    const jvm_maker *maker = &metrics_makers[kind];
    void *made;
    if (numbers[WISH_OPEN_LABELS] != 0) {
        unsigned count = (unsigned)numbers[WISH_OPEN_LABELS] - 1;
        made = metrics_open(kind, texts, &options, count, &status);
    } else {
        metrics_texts(texts, keys, key_count);
        made = key_count == 0 ? maker->get(&options, &status)
                              : maker->family(&options, keys, key_count, &status);
    }
    numbers[WISH_STATUS] = status;
    return JVM_ADDRESS(made);
}

static jlong jvm_make(JNIEnv *env, jclass type, jint kind, jbyteArray texts, jlongArray numbers,
                      jdoubleArray doubles)
{
    (void)type;
    jlong made = 0, wish[WISH_NUMBERS];
    (*env)->GetLongArrayRegion(env, numbers, 0, WISH_NUMBERS, wish);
    jbyte *bytes = (*env)->GetByteArrayElements(env, texts, NULL);
    jdouble *values = bytes ? (*env)->GetDoubleArrayElements(env, doubles, NULL) : NULL;
    if (values != NULL) {
        made = metrics_make(kind, (const char *)bytes, wish, values);
        (*env)->SetLongArrayRegion(env, numbers, WISH_STATUS, 1, &wish[WISH_STATUS]);
        (*env)->ReleaseDoubleArrayElements(env, doubles, values, JNI_ABORT);
    }
    if (bytes != NULL)
        (*env)->ReleaseByteArrayElements(env, texts, bytes, JNI_ABORT);
    return made;
}

/* The metric of a family that could not be made is 0: its series record nowhere. */
static jlong jvm_resolve(JNIEnv *env, jclass type, jint kind, jlong metric, jbyteArray values,
                         jint count)
{
    (void)type;
    const char *texts[CREST_LABELS_MAX];
    jbyte *bytes = (*env)->GetByteArrayElements(env, values, NULL);
    if (bytes == NULL)
        return 0;
    metrics_texts((const char *)bytes, texts, (unsigned)count);
    void *handle =
        metrics_makers[kind].with(JVM_POINTER(struct crest_metric, metric), texts, (unsigned)count);
    (*env)->ReleaseByteArrayElements(env, values, bytes, JNI_ABORT);
    return JVM_ADDRESS(handle);
}

static jint jvm_release(JNIEnv *env, jclass type, jint kind, jlong handle)
{
    (void)env;
    (void)type;
    return (jint)metrics_makers[kind].release(JVM_POINTER(void, handle));
}

static jobjectArray jvm_statuses(JNIEnv *env, jclass type)
{
    (void)type;
#define METRICS_STATUS_ROW(name, text) #name ": " text,
    static const char *const rows[] = {CREST_STATUS_TABLE(METRICS_STATUS_ROW)};
#undef METRICS_STATUS_ROW
    jclass string = (*env)->FindClass(env, "java/lang/String");
    jobjectArray result =
        string ? (*env)->NewObjectArray(env, JVM_COUNT(rows), string, NULL) : NULL;
    for (int i = 0; result != NULL && i < JVM_COUNT(rows); i++) {
        jstring row = (*env)->NewStringUTF(env, rows[i]); /* ASCII */
        if (row == NULL)
            return NULL;
        (*env)->SetObjectArrayElement(env, result, i, row);
        (*env)->DeleteLocalRef(env, row);
    }
    return result;
}

static const JNINativeMethod jvm_metrics_methods[] = {
    JVM_NATIVE("make", "(I[B[J[D)J", jvm_make),
    JVM_NATIVE("resolve", "(IJ[BI)J", jvm_resolve),
    JVM_NATIVE("release", "(IJ)I", jvm_release),
    JVM_NATIVE("statuses", "()[Ljava/lang/String;", jvm_statuses),
};

const jvm_natives jvm_metrics_natives = {"io/crest/MetricNatives", jvm_metrics_methods,
                                         JVM_COUNT(jvm_metrics_methods)};
