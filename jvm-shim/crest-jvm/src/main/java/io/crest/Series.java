// SPDX-License-Identifier: Apache-2.0
package io.crest;

/** What an instrument is made from: the library's handle of a series, and its name and labels. */
final class Series {
    /** The address of C's handle: a {@code crest_counter} and so on. 0 when there is no library. */
    final long handle;

    final Kind kind;
    final String name;

    /** In the order of the keys; null in a metric without labels. Not to be written to. */
    final String[] values;

    /** Of stages: their names, in order. Not to be written to. */
    final String[] stages;

    Series(long handle, Kind kind, String name, String[] values, String[] stages) {
        this.handle = handle;
        this.kind = kind;
        this.name = name;
        this.values = values;
        this.stages = stages;
    }
}
