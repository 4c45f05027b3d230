// SPDX-License-Identifier: Apache-2.0
package io.crest;

/**
 * What the library's memory looks like, as far as recording from Java relies on it. These are
 * constants, because the just-in-time compiler folds them; they are compared with the library's own
 * when it is loaded.
 */
final class Layout {
    /** A slot's chunk is {@code slot >>> CHUNK_BITS}; its address is biased by the slot. */
    static final int CHUNK_BITS = 12;

    /** Offset in a handle: an int. */
    static final long HANDLE_SLOT = 0;

    /** Offsets in a shard. A block's word is at eight times the value's highest bit. */
    static final long SHARD_SUM = 512;

    static final long SHARD_MIN = 528;
    static final long SHARD_NOTED = 536;

    /** The part of a block's word that is the value's right shift. */
    static final long BLOCK_SHIFT = 63;

    /** Offset in a timer: the histograms of its outcomes, one after the other. */
    static final long TIMER_OUTCOMES = 24;

    static final long HISTOGRAM_BYTES = 24;

    /** Offset in a gauge: the address of its cell. */
    static final long GAUGE_CELL = 24;

    /** The library records more than this many at once, or several of a value with more bits. */
    static final long TIMES_MAX = 1L << 20;

    static final int TIMES_BITS_MAX = 43;

    /** What {@link #difference} compares, in the order of the library's table. */
    private static final String[] NAMES = {
        "CREST_ABI", "CREST_CHUNK_BITS", "CREST_DISTRIBUTION_BLOCKS", "the slot of a handle",
        "a handle's size", "the blocks of a shard", "the sum of a shard", "the max of a shard",
        "the min of a shard", "the note of a shard", "CREST_BLOCK_SHIFT",
        "the outcomes of a timer", "a histogram's size", "the cell of a gauge",
        "CREST_RECORD_TIMES_INLINE_MAX", "CREST_RECORD_BITS_INLINE_MAX",
    };

    private static final long[] EXPECTED = {
        6, CHUNK_BITS, 64, HANDLE_SLOT, 24, 0, SHARD_SUM, 520, SHARD_MIN, SHARD_NOTED, BLOCK_SHIFT,
        TIMER_OUTCOMES, HISTOGRAM_BYTES, GAUGE_CELL, TIMES_MAX, TIMES_BITS_MAX,
    };

    private Layout() {}

    /** How the library's table differs from the layout of these classes; null if it does not. */
    static String difference(long[] library) {
        for (int i = 0; i < EXPECTED.length && i < library.length; i++) {
            if (library[i] != EXPECTED[i]) {
                return NAMES[i] + " is " + library[i] + " in the library and "
                        + EXPECTED[i] + " in the jar";
            }
        }
        return library.length == EXPECTED.length
                ? null
                : "the library describes " + library.length + " figures of its memory and the jar "
                        + EXPECTED.length;
    }
}
