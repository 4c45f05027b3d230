// SPDX-License-Identifier: Apache-2.0
package io.crest;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.lang.reflect.Array;
import java.lang.reflect.Field;
import java.lang.reflect.Method;

/**
 * Words of native memory by their address. Up to Java 23 by {@code sun.misc.Unsafe}; from 24 on, which
 * warns of that, by a handle on a memory segment that spans the whole address space. Which one is known
 * when this class is initialised and costs nothing afterwards: the just-in-time compiler folds it.
 *
 * <p>Nothing here checks an address. Who calls got it from the library, which never unmaps cells.
 */
final class Memory {
    private static final int FEATURE = Runtime.version().feature();
    private static final boolean SEGMENT = FEATURE >= 24;
    private static final sun.misc.Unsafe UNSAFE = SEGMENT ? null : unsafe();
    private static final VarHandle LONG = SEGMENT ? everywhere("JAVA_LONG") : null;
    private static final VarHandle INT = SEGMENT ? everywhere("JAVA_INT") : null;

    private Memory() {}

    /** An {@code int} that others write: read anew each time, in no order. */
    static int intAt(long address) {
        return SEGMENT ? (int) INT.getOpaque(address) : UNSAFE.getInt(address);
    }

    /** A {@code long} that others write: read anew each time, in no order. */
    static long longAt(long address) {
        return SEGMENT ? (long) LONG.getOpaque(address) : UNSAFE.getLong(address);
    }

    /** Written after all that was written before it. */
    static void putRelease(long address, long value) {
        if (SEGMENT) LONG.setRelease(address, value);
        else UNSAFE.putOrderedLong(null, address, value);
    }

    /** Adds atomically and returns what was there. */
    static long getAndAdd(long address, long delta) {
        return SEGMENT
                ? (long) LONG.getAndAdd(address, delta)
                : UNSAFE.getAndAddLong(null, address, delta);
    }

    private static sun.misc.Unsafe unsafe() {
        try {
            Field field = sun.misc.Unsafe.class.getDeclaredField("theUnsafe");
            field.setAccessible(true);
            return (sun.misc.Unsafe) field.get(null);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException("sun.misc.Unsafe cannot be reached", e);
        }
    }

    /** A handle whose one coordinate is an address; by reflection, as we are compiled for Java 11. */
    private static VarHandle everywhere(String layout) {
        try {
            Class<?> segment = Class.forName("java.lang.foreign.MemorySegment");
            Class<?> path = Class.forName("java.lang.foreign.MemoryLayout$PathElement");
            Object all =
                    segment.getMethod("reinterpret", long.class)
                            .invoke(segment.getField("NULL").get(null), Long.MAX_VALUE);
            Object word = Class.forName("java.lang.foreign.ValueLayout").getField(layout).get(null);
            Method varHandle =
                    Class.forName("java.lang.foreign.MemoryLayout")
                            .getMethod("varHandle", Array.newInstance(path, 0).getClass());
            Object handle = varHandle.invoke(word, Array.newInstance(path, 0));
            return (VarHandle)
                    MethodHandles.class
                            .getMethod("insertCoordinates", VarHandle.class, int.class, Object[].class)
                            .invoke(null, handle, 0, new Object[] {all});
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException("native memory cannot be reached", e);
        }
    }
}
