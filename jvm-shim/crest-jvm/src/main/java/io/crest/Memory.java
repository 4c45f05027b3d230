// SPDX-License-Identifier: Apache-2.0
package io.crest;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.lang.reflect.Array;
import java.lang.reflect.Field;
import java.lang.reflect.InvocationTargetException;

/**
 * Words of native memory by their address. Up to Java 23 by {@code sun.misc.Unsafe}. From 24 on,
 * where that prints a warning, by a handle on a memory segment that spans the whole address space.
 * The choice is a constant once this class is initialised, so it costs nothing: the just-in-time
 * compiler folds it.
 *
 * <p>Nothing here checks an address. The caller has it from the library, which never unmaps cells.
 */
final class Memory {
    private static final boolean SEGMENT = Runtime.version().feature() >= 24;
    private static final sun.misc.Unsafe UNSAFE;
    private static final VarHandle LONG;
    private static final VarHandle INT;
    private static final String PROBLEM;

    /**
     * The bits an address may have: as many as any process uses, and none below a word. It changes
     * no address. It shows the just-in-time compiler that the segment's checks cannot fail, which
     * removes them: more than half of the code.
     */
    private static final long WORDS = 0x00ff_ffff_ffff_fff8L;

    private static final long HALVES = WORDS | 4;

    static {
        sun.misc.Unsafe unsafe = null;
        VarHandle word = null;
        VarHandle half = null;
        String problem = null;
        try {
            if (SEGMENT) {
                word = everywhere("JAVA_LONG");
                half = everywhere("JAVA_INT");
            } else {
                unsafe = unsafe();
            }
        } catch (ReflectiveOperationException | RuntimeException e) {
            Throwable cause = e instanceof InvocationTargetException ? e.getCause() : e;
            problem = "Reaching native memory: " + cause + ".";
        } catch (LinkageError e) { // of a runtime that was put together without it
            problem = "Reaching native memory: " + e + ". Add the module jdk.unsupported, which has"
                    + " sun.misc.Unsafe, or use Java 24 or later.";
        }
        UNSAFE = unsafe;
        LONG = word;
        INT = half;
        PROBLEM = problem;
    }

    private Memory() {}

    /** Why this JVM gives no access to native memory; null if it does, as all known JVMs do. */
    static String problem() {
        return PROBLEM;
    }

    /** An {@code int} that other threads write: read anew each time, in no order. */
    static int intAt(long address) {
        return SEGMENT ? (int) INT.getOpaque(address & HALVES) : UNSAFE.getInt(address);
    }

    /** A {@code long} that other threads write: read anew each time, in no order. */
    static long longAt(long address) {
        return SEGMENT ? (long) LONG.getOpaque(address & WORDS) : UNSAFE.getLong(address);
    }

    /** Read before all that is read after it. */
    static long longAcquire(long address) {
        return SEGMENT
                ? (long) LONG.getAcquire(address & WORDS)
                : UNSAFE.getLongVolatile(null, address);
    }

    /** Written after all that was written before it. */
    static void putRelease(long address, long value) {
        if (SEGMENT) LONG.setRelease(address & WORDS, value);
        else UNSAFE.putOrderedLong(null, address, value);
    }

    /** Adds atomically and returns what was there. A full barrier. */
    static long getAndAdd(long address, long delta) {
        return SEGMENT
                ? (long) LONG.getAndAdd(address & WORDS, delta)
                : UNSAFE.getAndAddLong(null, address, delta);
    }

    /** Replaces what is there if it is what was seen. A full barrier. */
    static boolean replace(long address, long seen, long value) {
        return SEGMENT
                ? LONG.compareAndSet(address & WORDS, seen, value)
                : UNSAFE.compareAndSwapLong(null, address, seen, value);
    }

    /** The JDK's instance, by reflection, which is the only way. */
    static sun.misc.Unsafe unsafe() throws ReflectiveOperationException {
        Field field = sun.misc.Unsafe.class.getDeclaredField("theUnsafe");
        field.setAccessible(true);
        return (sun.misc.Unsafe) field.get(null);
    }

    /** A handle whose only coordinate is an address; by reflection, for this is Java 11. */
    private static VarHandle everywhere(String layout) throws ReflectiveOperationException {
        Class<?> segment = Class.forName("java.lang.foreign.MemorySegment");
        Object all =
                segment.getMethod("reinterpret", long.class)
                        .invoke(segment.getField("NULL").get(null), Long.MAX_VALUE);
        Object word = Class.forName("java.lang.foreign.ValueLayout").getField(layout).get(null);
        Class<?> element = Class.forName("java.lang.foreign.MemoryLayout$PathElement");
        Object path = Array.newInstance(element, 0);
        Object handle =
                Class.forName("java.lang.foreign.MemoryLayout")
                        .getMethod("varHandle", path.getClass())
                        .invoke(word, path);
        return (VarHandle)
                MethodHandles.class
                        .getMethod("insertCoordinates", VarHandle.class, int.class, Object[].class)
                        .invoke(null, handle, 0, new Object[] {all});
    }
}
