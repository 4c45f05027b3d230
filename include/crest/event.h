/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events: what happened, when, on which thread, with typed values. They go into a ring of the
 * thread that emits them, oldest overwritten first. Another process reads the rings, of a process
 * that runs or was killed, and reading costs the writer nothing.
 *
 *     CREST_EVENT(block_proposed, "casper.block-proposed", CREST_INFO, "A block was proposed.",
 *                 (u64, height), (bytes, hash, 32), (text, proposer, 64));
 *     ...
 *     CREST_EMIT(block_proposed, block->height, crest_bytes(block->hash, 32), name);
 *
 * While an event is off, which it is unless `events=` is among the options, a call site loads one
 * word, and its values are not evaluated. docs/events.md has the options and the reader.
 *
 * An event may be declared in a header: declarations of the same name, settings and fields are one
 * event. Values have these types:
 *
 *     u64, i64, double, bool      a word each
 *     text                        const char *, NUL-terminated, UTF-8; NULL is the empty text
 *     bytes                       crest_bytes(data, length)
 *     op                          crest_op
 *
 * Texts and bytes are cut to the bound behind their name, CREST_EVENT_BOUND_DEFAULT without one.
 */
#ifndef CREST_EVENT_H
#define CREST_EVENT_H

#include <crest/op.h>
#include <crest/status.h>
#include <crest/trace_context.h>

/* Fields of an event; bytes of its name, of its text in words, of a field's name. */
#define CREST_EVENT_FIELDS_MAX 16u
#define CREST_EVENT_NAME_BYTES_MAX 200u
#define CREST_EVENT_DOC_BYTES_MAX 1000u
#define CREST_EVENT_FIELD_BYTES_MAX 63u
/* Bytes of a text or of bytes: a bound's least, default and most. */
#define CREST_EVENT_BOUND_DEFAULT 128u
#define CREST_EVENT_BOUND_MAX 1000u
/* Bytes of all values of an event, as they lie in the ring: a word a number, six an op, one more
 * than its bound a text. */
#define CREST_EVENT_PAYLOAD_BYTES_MAX 1024u
/* Events of a process. */
#define CREST_EVENTS_MAX 65535u

/* How important an event is, and how much detail it adds: docs/events.md. */
typedef enum crest_severity {
    CREST_DEBUG,
    CREST_INFO,
    CREST_NOTICE,
    CREST_WARNING,
    CREST_ERROR,
    CREST_CRITICAL,
    CREST_ALERT,
    CREST_EMERGENCY,
    CREST_SEVERITY_COUNT
} crest_severity;

typedef enum crest_detail {
    CREST_MINIMAL,
    CREST_NORMAL,
    CREST_DETAILED,
    CREST_MAXIMUM,
    CREST_DETAIL_COUNT
} crest_detail;

/* CREST_CONFIDENTIAL: readers never let it leave the machine. */
typedef enum crest_privacy { CREST_PUBLIC, CREST_CONFIDENTIAL } crest_privacy;

typedef enum crest_event_type {
    CREST_EVENT_NONE,
    CREST_EVENT_U64,
    CREST_EVENT_I64,
    CREST_EVENT_DOUBLE,
    CREST_EVENT_BOOL,
    CREST_EVENT_TEXT,
    CREST_EVENT_BYTES,
    CREST_EVENT_OP,
    CREST_EVENT_TYPE_COUNT
} crest_event_type;

typedef struct crest_event_field {
    const char *name; /* letters, digits and _ */
    uint16_t type;    /* crest_event_type */
    uint16_t bound;   /* bytes of a text or of bytes; otherwise 0 */
} crest_event_field;

/* What an event is: constant, in the declaring object, for as long as that object is loaded. */
typedef struct crest_event_declaration {
    const char *name; /* as a metric's: words of letters, digits and _, joined by . and - */
    const char *doc;  /* UTF-8 */
    uint8_t severity, detail, privacy;
    uint8_t field_count;
    const crest_event_field *fields;
    const char *note; /* the same in the section crest_events, for tools that read the object */
} crest_event_declaration;

/* A declared event: what its call sites read. Zeroed but for abi and declaration it is valid. */
typedef struct crest_event {
    uint32_t word; /* 0: off; otherwise what an emission does. Relaxed; the library writes it */
    uint32_t abi;
    const crest_event_declaration *declaration;
    struct crest_event_known *known; /* the library's */
    struct crest_event *next;        /* the library's */
} crest_event;

/* Borrowed bytes, for a value of type bytes. */
typedef struct crest_event_bytes {
    const void *data;
    size_t length;
} crest_event_bytes;

/* A double's bits. */
typedef union crest_event_bits {
    double d;
    uint64_t u;
} crest_event_bits;

/* The version of what is inlined here. */
#define CREST_EVENT_ABI 1u

/*
 * CREST_EVENT(variable, name, severity, doc, fields …): declares an event at file scope, static.
 * name and doc are literals. A field is (type, name) or (type, name, bound); up to
 * CREST_EVENT_FIELDS_MAX. _WITH has its detail and privacy too, which are CREST_NORMAL and
 * CREST_PUBLIC otherwise. A declaration that is not valid, as one whose values do not fit in
 * CREST_EVENT_PAYLOAD_BYTES_MAX, is refused at load, counted as misuse; the event stays off.
 */
#define CREST_EVENT(variable, name, severity, ...)                                                 \
    CREST_EVENT_WITH(variable, name, severity, CREST_NORMAL, CREST_PUBLIC, __VA_ARGS__)
#define CREST_EVENT_WITH(variable, name, severity, detail, privacy, ...)                           \
    CREST_EVENT_DECLARE_(variable, name, severity, detail, privacy,                                \
                         CREST_EVENT_FIRST_(__VA_ARGS__, ), CREST_EVENT_COUNT_(__VA_ARGS__),       \
                         __VA_ARGS__)

/* CREST_EMIT(variable, values …): emits it, its values in the order of the fields. Any thread, any
 * handler; no lock, no allocation, no call of the C library. Cost: off, a load and a branch; on, a
 * call and a reading of the clock. A thread's first emission makes its ring: two system calls. */
#ifndef CREST_DISABLE
#define CREST_EMIT(...)                                                                            \
    CREST_EVENT_CALL_(CREST_EVENT_NAMED_(CREST_EMIT_, CREST_EVENT_ALONE_(__VA_ARGS__)), __VA_ARGS__)
#else
#define CREST_EMIT(...) ((void)0)
#endif

CREST_BEGIN_C

/* Non-zero while it is on. For values that are costly to make before CREST_EMIT. Cost: inline. */
CREST_INLINE int crest_event_on(const crest_event *event)
{
    return (int)CREST_UNLIKELY(__atomic_load_n(&event->word, __ATOMIC_RELAXED) != 0);
}

CREST_INLINE crest_event_bytes crest_bytes(const void *data, size_t length)
{
    crest_event_bytes bytes = {data, length};
    return bytes;
}

/* Makes it known; constructors of CREST_EVENT call it. CREST_OK, or why it stays off:
 * CREST_INVALID_ARGUMENT, CREST_INVALID_NAME, CREST_INVALID_TEXT, CREST_TYPE_CLASH (the name has
 * other fields or settings), CREST_LIMIT, CREST_NO_MEMORY, CREST_ABI_MISMATCH; counted as misuse.
 * Thread-safe; locks, not for handlers. */
CREST_API crest_status crest_event_register(crest_event *event);

/* Its object is unloaded; destructors of CREST_EVENT call it. What was emitted stays readable. */
CREST_API void crest_event_unregister(crest_event *event);

/*
 * Emits it, if it is on; CREST_EMIT calls it, and other languages may. `values` has a word for each
 * field in order: the number, the double's bits, 0 or 1, the address of a text or of a crest_op; of
 * bytes two words, address and length. As CREST_EMIT.
 */
CREST_API void crest_event_write(crest_event *event, const uint64_t *values);

/* Events of this process since its events began. */
typedef struct crest_event_totals {
    uint64_t written, written_bytes; /* into rings, those overwritten since included */
    uint64_t refused, refused_bytes; /* by threads without a ring, and by handlers in excess */
    uint64_t rings, rings_refused;   /* threads at a time that had one; that got none */
    uint64_t declared;               /* events that are known */
} crest_event_totals;

/* Any thread. Cost: a few loads a ring. */
CREST_API void crest_event_totals_read(crest_event_totals *totals);

CREST_END_C

/* ---- what CREST_EVENT is made of ---- */

/* Three of one kind, for one may not be used inside of itself. */
#define CREST_EVENT_CALL_(macro, ...) macro(__VA_ARGS__)
#define CREST_EVENT_CALL_EACH_(macro, ...) macro(__VA_ARGS__)
#define CREST_EVENT_CALL_OF_(macro, ...) macro(__VA_ARGS__)
#define CREST_EVENT_NAMED_(a, b) CREST_EVENT_NAMED_NOW_(a, b)
#define CREST_EVENT_NAMED_NOW_(a, b) a##b##_
#define CREST_EVENT_UNWRAP_(...) __VA_ARGS__
#define CREST_EVENT_FIRST_(first, ...) first
/* ONE or MORE, by the number of arguments. */
#define CREST_EVENT_ALONE_(...)                                                                    \
    CREST_EVENT_PICK_(__VA_ARGS__, MORE, MORE, MORE, MORE, MORE, MORE, MORE, MORE, MORE, MORE,     \
                      MORE, MORE, MORE, MORE, MORE, MORE, ONE, )
/* How many fields follow the first argument. */
#define CREST_EVENT_COUNT_(...)                                                                    \
    CREST_EVENT_PICK_(__VA_ARGS__, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0, )
#define CREST_EVENT_PICK_(z, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, pick, ...) pick

#define CREST_EMIT_ONE_(variable)                                                                  \
    do {                                                                                           \
        if (crest_event_on(&variable))                                                             \
            variable##_crest_emit(&variable);                                                      \
    } while (0)
#define CREST_EMIT_MORE_(variable, ...)                                                            \
    do {                                                                                           \
        if (crest_event_on(&variable))                                                             \
            variable##_crest_emit(&variable, __VA_ARGS__);                                         \
    } while (0)

/* Calls of `macro` for each field, after the first argument. */
#define CREST_EVENT_EACH_(macro, count, ...)                                                       \
    CREST_EVENT_CALL_EACH_(CREST_EVENT_NAMED_(CREST_EVENT_EACH_, count), macro, __VA_ARGS__, )
#define CREST_EVENT_EACH_0_(macro, x, ...)
#define CREST_EVENT_EACH_1_(macro, x, f, ...) macro(f)
#define CREST_EVENT_EACH_2_(macro, x, f, ...) macro(f) CREST_EVENT_EACH_1_(macro, x, __VA_ARGS__)
#define CREST_EVENT_EACH_3_(macro, x, f, ...) macro(f) CREST_EVENT_EACH_2_(macro, x, __VA_ARGS__)
#define CREST_EVENT_EACH_4_(macro, x, f, ...) macro(f) CREST_EVENT_EACH_3_(macro, x, __VA_ARGS__)
#define CREST_EVENT_EACH_5_(macro, x, f, ...) macro(f) CREST_EVENT_EACH_4_(macro, x, __VA_ARGS__)
#define CREST_EVENT_EACH_6_(macro, x, f, ...) macro(f) CREST_EVENT_EACH_5_(macro, x, __VA_ARGS__)
#define CREST_EVENT_EACH_7_(macro, x, f, ...) macro(f) CREST_EVENT_EACH_6_(macro, x, __VA_ARGS__)
#define CREST_EVENT_EACH_8_(macro, x, f, ...) macro(f) CREST_EVENT_EACH_7_(macro, x, __VA_ARGS__)
#define CREST_EVENT_EACH_9_(macro, x, f, ...) macro(f) CREST_EVENT_EACH_8_(macro, x, __VA_ARGS__)
#define CREST_EVENT_EACH_10_(macro, x, f, ...) macro(f) CREST_EVENT_EACH_9_(macro, x, __VA_ARGS__)
#define CREST_EVENT_EACH_11_(macro, x, f, ...) macro(f) CREST_EVENT_EACH_10_(macro, x, __VA_ARGS__)
#define CREST_EVENT_EACH_12_(macro, x, f, ...) macro(f) CREST_EVENT_EACH_11_(macro, x, __VA_ARGS__)
#define CREST_EVENT_EACH_13_(macro, x, f, ...) macro(f) CREST_EVENT_EACH_12_(macro, x, __VA_ARGS__)
#define CREST_EVENT_EACH_14_(macro, x, f, ...) macro(f) CREST_EVENT_EACH_13_(macro, x, __VA_ARGS__)
#define CREST_EVENT_EACH_15_(macro, x, f, ...) macro(f) CREST_EVENT_EACH_14_(macro, x, __VA_ARGS__)
#define CREST_EVENT_EACH_16_(macro, x, f, ...) macro(f) CREST_EVENT_EACH_15_(macro, x, __VA_ARGS__)

/* Of a field's type: the parameter's type, the number, the words of a value, its bound. `bool` may
 * be a macro of <stdbool.h>. */
#define CREST_EVENT_C_u64 uint64_t
#define CREST_EVENT_C_i64 int64_t
#define CREST_EVENT_C_double double
#define CREST_EVENT_C_bool int
#define CREST_EVENT_C__Bool int
#define CREST_EVENT_C_text const char *
#define CREST_EVENT_C_bytes crest_event_bytes
#define CREST_EVENT_C_op crest_op
#define CREST_EVENT_N_u64 CREST_EVENT_U64
#define CREST_EVENT_N_i64 CREST_EVENT_I64
#define CREST_EVENT_N_double CREST_EVENT_DOUBLE
#define CREST_EVENT_N_bool CREST_EVENT_BOOL
#define CREST_EVENT_N__Bool CREST_EVENT_BOOL
#define CREST_EVENT_N_text CREST_EVENT_TEXT
#define CREST_EVENT_N_bytes CREST_EVENT_BYTES
#define CREST_EVENT_N_op CREST_EVENT_OP
#define CREST_EVENT_BITS_(value) (__extension__((crest_event_bits){value}).u)
#define CREST_EVENT_W_u64_(value) value,
#define CREST_EVENT_W_i64_(value) (uint64_t) value,
#define CREST_EVENT_W_double_(value) CREST_EVENT_BITS_(value),
#define CREST_EVENT_W_bool_(value) (uint64_t)(value != 0),
#define CREST_EVENT_W__Bool_(value) (uint64_t)(value != 0),
#define CREST_EVENT_W_text_(value) (uint64_t)(uintptr_t) value,
#define CREST_EVENT_W_bytes_(value) (uint64_t)(uintptr_t) value.data, (uint64_t)value.length,
#define CREST_EVENT_W_op_(value) (uint64_t)(uintptr_t) & value,

#define CREST_EVENT_PARAMETER_(field)                                                              \
    CREST_EVENT_CALL_OF_(CREST_EVENT_PARAMETER_OF_, CREST_EVENT_UNWRAP_ field, 0, 0)
#define CREST_EVENT_PARAMETER_OF_(type, name, bound, ...) , CREST_EVENT_C_##type crest_##name##_
#define CREST_EVENT_WORDS_(field)                                                                  \
    CREST_EVENT_CALL_OF_(CREST_EVENT_WORDS_OF_, CREST_EVENT_UNWRAP_ field, 0, 0)
#define CREST_EVENT_WORDS_OF_(type, name, bound, ...) CREST_EVENT_W_##type##_(crest_##name##_)
#define CREST_EVENT_FIELD_(field)                                                                  \
    CREST_EVENT_CALL_OF_(CREST_EVENT_FIELD_OF_, CREST_EVENT_UNWRAP_ field, 0, 0)
#define CREST_EVENT_FIELD_OF_(type, name, bound, ...) {#name, CREST_EVENT_N_##type, bound},
#define CREST_EVENT_NOTE_(field)                                                                   \
    CREST_EVENT_CALL_OF_(CREST_EVENT_NOTE_OF_, CREST_EVENT_UNWRAP_ field, 0, 0)
#define CREST_EVENT_NOTE_OF_(type, name, bound, ...) #type " " #name " " #bound "\0"

#ifndef CREST_DISABLE
#define CREST_EVENT_REGISTER_(variable)                                                            \
    __attribute__((constructor)) static void variable##_crest_register(void)                       \
    {                                                                                              \
        crest_event_register(&variable);                                                           \
    }                                                                                              \
    __attribute__((destructor)) static void variable##_crest_unregister(void)                      \
    {                                                                                              \
        crest_event_unregister(&variable);                                                         \
    }
#else
#define CREST_EVENT_REGISTER_(variable)
#endif

/* The note is a run of texts: crest-event, name, severity, detail, privacy, doc, a field each as
 * "type name bound", and an empty one. */
#define CREST_EVENT_DECLARE_(variable, name_, severity_, detail_, privacy_, doc_, count_, ...)     \
    static const char variable##_crest_note[]                                                      \
        __attribute__((section("crest_events"), used, aligned(1))) =                               \
            "crest-event\0" name_ "\0" #severity_ "\0" #detail_ "\0" #privacy_ "\0" doc_           \
            "\0" CREST_EVENT_EACH_(CREST_EVENT_NOTE_, count_, __VA_ARGS__);                        \
    static const crest_event_field variable##_crest_fields[] = {                                   \
        CREST_EVENT_EACH_(CREST_EVENT_FIELD_, count_, __VA_ARGS__){NULL, CREST_EVENT_NONE, 0}};    \
    static const crest_event_declaration variable##_crest_declaration = {name_,                    \
                                                                         doc_,                     \
                                                                         severity_,                \
                                                                         detail_,                  \
                                                                         privacy_,                 \
                                                                         count_,                   \
                                                                         variable##_crest_fields,  \
                                                                         variable##_crest_note};   \
    static crest_event variable                                                                    \
        __attribute__((unused)) = {0, CREST_EVENT_ABI, &variable##_crest_declaration, NULL, NULL}; \
    CREST_EVENT_REGISTER_(variable)                                                                \
    __attribute__((noinline, unused)) static void variable##_crest_emit(                           \
        crest_event *emitted_crest_event CREST_EVENT_EACH_(CREST_EVENT_PARAMETER_, count_,         \
                                                           __VA_ARGS__))                           \
    {                                                                                              \
        const uint64_t emitted_crest_values[] = {                                                  \
            CREST_EVENT_EACH_(CREST_EVENT_WORDS_, count_, __VA_ARGS__) 0};                         \
        crest_event_write(emitted_crest_event, emitted_crest_values);                              \
    }                                                                                              \
    typedef crest_event variable##_crest_type_

#ifdef CREST_DISABLE
#include <crest/off/event_off.h>
#endif

#endif
