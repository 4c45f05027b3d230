// SPDX-License-Identifier: Apache-2.0
package io.crest;

/**
 * The unit that values are recorded in. Values are exported in its base unit: nanoseconds,
 * microseconds and milliseconds as seconds. A timer always records nanoseconds.
 */
public enum Unit {
    /** Bare numbers. */
    NONE,
    /** Bytes. */
    BYTES,
    /** Billionths of a second, exported as seconds. */
    NANOSECONDS,
    /** Millionths of a second, exported as seconds. */
    MICROSECONDS,
    /** Thousandths of a second, exported as seconds. */
    MILLISECONDS,
    /** Seconds. */
    SECONDS,
    /** A share of one: 0.5 is a half. For gauges, since histograms take whole numbers. */
    RATIO
}
