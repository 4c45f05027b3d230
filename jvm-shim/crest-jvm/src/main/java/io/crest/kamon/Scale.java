// SPDX-License-Identifier: Apache-2.0
package io.crest.kamon;

import io.crest.Range;
import io.crest.Unit;
import kamon.metric.DynamicRange;
import kamon.metric.MeasurementUnit;

/**
 * A unit of Kamon's as one of Crest's, and the factor for values: kilobytes are bytes times 1,024.
 * Never a divisor, so that nothing is rounded.
 */
final class Scale {
    private static final long HIGHEST = 1L << 62;

    final Unit unit;
    final long factor;

    private Scale(Unit unit, long factor) {
        this.unit = unit;
        this.factor = factor;
    }

    /**
     * Time and information keep their meaning. Percentages stay numbers from 0 to 100, as in
     * Kamon's own reporters, and all other units are bare numbers.
     */
    static Scale of(MeasurementUnit unit) {
        double size = unit.magnitude().scaleFactor();
        switch (unit.dimension().name()) {
            case "time":
                return ofTime(size);
            case "information":
                return isWhole(size) ? new Scale(Unit.BYTES, Math.round(size)) : bare();
            default:
                return bare();
        }
    }

    /** Of units that last so many seconds. */
    private static Scale ofTime(double seconds) {
        if (isWhole(seconds)) return new Scale(Unit.SECONDS, Math.round(seconds));
        if (isWhole(seconds * 1e3)) return new Scale(Unit.MILLISECONDS, Math.round(seconds * 1e3));
        if (isWhole(seconds * 1e6)) return new Scale(Unit.MICROSECONDS, Math.round(seconds * 1e6));
        if (isWhole(seconds * 1e9)) return new Scale(Unit.NANOSECONDS, Math.round(seconds * 1e9));
        return bare();
    }

    private static Scale bare() {
        return new Scale(Unit.NONE, 1);
    }

    /** Apart from the error of decimal fractions in binary. */
    private static boolean isWhole(double number) {
        return number >= 0.5 && Math.abs(number - Math.rint(number)) < number * 1e-9;
    }

    /** The value in Crest's unit; saturates at the largest long. */
    long scaled(long value) {
        return value > Long.MAX_VALUE / factor ? Long.MAX_VALUE : value * factor;
    }

    double scaled(double value) {
        return value * factor;
    }

    /**
     * A range whose buckets are Kamon's, scaled, or parts of them, and that reaches as far as Kamon
     * really records: to the end of the last power of two.
     */
    Range range(DynamicRange range) {
        int digits = Math.max(0, Math.min(5, range.significantValueDigits()));
        long cells = 2 * (long) Math.pow(10, digits);
        int bits = 64 - Long.numberOfLeadingZeros(Math.max(1, cells - 1));
        bits += 63 - Long.numberOfLeadingZeros(Math.max(1, range.lowestDiscernibleValue()));
        while (bits < 62 && 1L << bits <= range.highestTrackableValue()) bits++;
        long end = bits >= 62 ? HIGHEST : 1L << bits;
        long highest = end > HIGHEST / factor ? HIGHEST : end * factor - 1;
        return Range.of(1, Math.max(2, highest), Math.max(1, digits));
    }
}
