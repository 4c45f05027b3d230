// SPDX-License-Identifier: Apache-2.0
package io.crest;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;

/**
 * Two facts about a thread that Java 11 does not tell, or not reliably: its number, which no other
 * thread of the process ever has, and whether it is virtual.
 */
final class Threads {
    private static final MethodHandle NUMBER = method("threadId", long.class); // Java 19
    private static final MethodHandle VIRTUAL = method("isVirtual", boolean.class); // Java 21
    private static final sun.misc.Unsafe UNSAFE;
    private static final long NUMBER_OFFSET;

    /* Before Java 19 the number is read by a method that subclasses of Thread may override. So it
     * is read from the field that this method reads. */
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

    /** Whether {@link #number} works; if not, {@link Lane} finds threads by a thread local. */
    static final boolean NUMBERED = NUMBER != null || NUMBER_OFFSET > 0;

    private Threads() {}

    /** The thread's number, not the answer of a method that a subclass may override. */
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
        if (e instanceof Error) throw (Error) e; // no stack left: as in any other call
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
