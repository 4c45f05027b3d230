// SPDX-License-Identifier: Apache-2.0
package io.crest;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;

/**
 * What Java 11 does not say about a thread, or not reliably: its number, which no other thread of
 * the process ever has, and whether it is virtual.
 */
final class Threads {
    private static final MethodHandle NUMBER = method("threadId", long.class); // Java 19
    private static final MethodHandle VIRTUAL = method("isVirtual", boolean.class); // Java 21
    private static final sun.misc.Unsafe UNSAFE;
    private static final long NUMBER_OFFSET;

    /* Before Java 19 the number is only to be had by a method that a class of threads may replace,
     * so it is read where that method reads it. */
    static {
        sun.misc.Unsafe unsafe = null;
        long offset = 0;
        try {
            if (NUMBER == null) {
                unsafe = Memory.unsafe();
                offset = unsafe.objectFieldOffset(Thread.class.getDeclaredField("tid"));
            }
        } catch (ReflectiveOperationException | RuntimeException | LinkageError e) {
            offset = 0;
        }
        UNSAFE = unsafe;
        NUMBER_OFFSET = offset;
    }

    /** Whether {@link #number} can be asked; where not, threads are told apart in another way. */
    static final boolean NUMBERED = NUMBER != null || NUMBER_OFFSET > 0;

    private Threads() {}

    /** The thread's number, not what a class of threads may say instead of it. */
    static long number(Thread thread) {
        if (NUMBER == null) return UNSAFE.getLong(thread, NUMBER_OFFSET);
        try {
            return (long) NUMBER.invokeExact(thread);
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    static boolean isVirtual(Thread thread) {
        if (VIRTUAL == null) return false;
        try {
            return (boolean) VIRTUAL.invokeExact(thread);
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    private static RuntimeException unexpected(Throwable e) {
        if (e instanceof Error) throw (Error) e; // no stack left: as wherever else that happens
        return new IllegalStateException("a thread does not say what it is", e);
    }

    private static MethodHandle method(String name, Class<?> result) {
        try {
            return MethodHandles.publicLookup()
                    .findVirtual(Thread.class, name, MethodType.methodType(result));
        } catch (ReflectiveOperationException e) {
            return null;
        }
    }
}
