/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operations that one half of a program begins and the other ends: the native half of
 * NativeOpsMain, with each kind of id as native code makes it.
 */
#include <crest/crest.h>
#include <jni.h>

CREST_TIMER(ops_shared, "ops.shared", "Begun by one half, ended by the other.");

static crest_op ops_made(jint which)
{
    unsigned char bytes[40];
    for (unsigned i = 0; i < sizeof bytes; i++)
        bytes[i] = (unsigned char)(i + 200);
    switch (which) {
    case 0: return crest_op_u64(7);
    case 1: return crest_op_u64(UINT64_MAX);
    case 2: return crest_op_u64x2(7, 8);
    case 3: return crest_op_bytes(bytes, 5);
    case 4: return crest_op_bytes(bytes, 32);
    case 5: return crest_op_bytes(bytes, 40);
    case 6: return crest_op_text("t\xc3\xa4xt \xf0\x9f\x98\x80");
    case 7: return crest_op_text("a text with more than thirty-two bytes");
    default: return crest_op_none();
    }
}

JNIEXPORT jint JNICALL Java_io_crest_NativeOpsMain_begin(JNIEnv *env, jclass type, jint which)
{
    (void)env;
    (void)type;
    return (jint)crest_timer_begin(&ops_shared, ops_made(which));
}

JNIEXPORT jint JNICALL Java_io_crest_NativeOpsMain_end(JNIEnv *env, jclass type, jint which)
{
    (void)env;
    (void)type;
    return (jint)crest_timer_end(&ops_shared, ops_made(which), CREST_OUTCOME_CANCELLED);
}
