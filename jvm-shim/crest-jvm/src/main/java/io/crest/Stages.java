// SPDX-License-Identifier: Apache-2.0
package io.crest;

/**
 * One operation with several marks between its begin and its end, as a block that is proposed,
 * supported by a third, and final.
 *
 * <pre>{@code
 * Stages consensus = Metric.named("casper.consensus").describedAs("From proposal on.")
 *         .deadline(Duration.ofMinutes(1)).stages("0", "1/3", "1");
 * consensus.begin(hash);
 * consensus.mark(hash, "1/3");
 * consensus.end(hash, Outcome.OK);
 * }</pre>
 *
 * Exported are the operation as a whole, a timer by the metric's name, and two histograms with the
 * label {@code stage}: {@code X_stage_seconds}, from the previous mark (or the begin) to this mark,
 * and {@code X_since_start_seconds}. Each mark is recorded when it is made; stages may be skipped
 * and come in any order. Stages that were not marked are not recorded.
 *
 * <p>Threads and cost as of {@link Keyed}.
 */
public final class Stages extends Keyed {
    private final String[] stages;

    Stages(Series series) {
        super(series);
        stages = series.stages;
    }

    /**
     * The stages of this name in the process, found or made. For settings and labels see {@link
     * Metric}.
     *
     * @param name canonical: letters, digits and _ in words joined by . and -
     * @param description at most 1,000 bytes of UTF-8
     * @param stages 1 to 16 names, not empty, distinct, in order
     * @return never null
     * @throws IllegalArgumentException for invalid names
     * @throws CrestException when another metric stands in the way
     */
    public static Stages of(String name, String description, String... stages) {
        return Metric.named(name).describedAs(description).stages(stages);
    }

    /**
     * Marks that the operation has reached a stage.
     *
     * @param id which operation
     * @param stage its index, from 0
     * @return {@link Status#OK}; {@link Status#NOT_FOUND} when it is not in flight and {@link
     *     Status#TIMED_OUT} when its deadline has passed, which are normal answers; {@link
     *     Status#ALREADY} when this stage was marked before: the first mark stays; {@link
     *     Status#INVALID_ARGUMENT} for an index out of range; {@link Status#LATE} for a series
     *     that was retired; the last three are counted
     */
    public Status mark(long id, int stage) {
        return mark(stage, Op.KIND_LONG, Op.LONG_BYTES, id, 0, 0, 0);
    }

    /**
     * The same by bytes.
     *
     * @param id which operation
     * @param stage its index, from 0
     * @return as by {@link #mark(long, int)}; {@link Status#INVALID_ARGUMENT}, counted, for no id
     */
    public Status mark(byte[] id, int stage) {
        return mark(Op.of(id), stage);
    }

    /**
     * The same by a text.
     *
     * @param id which operation
     * @param stage its index, from 0
     * @return as by {@link #mark(long, int)}; {@link Status#INVALID_ARGUMENT}, counted, for no id
     */
    public Status mark(String id, int stage) {
        return mark(Op.of(id), stage);
    }

    /**
     * The same by an identity that was made before.
     *
     * @param op which operation
     * @param stage its index, from 0
     * @return as by {@link #mark(long, int)}; {@link Status#INVALID_ARGUMENT}, counted, for none
     */
    public Status mark(Op op, int stage) {
        Op id = op == null ? Op.NONE : op;
        return mark(stage, id.kind, id.length, id.w0, id.w1, id.w2, id.w3);
    }

    /**
     * The same by the stage's name, which is looked for.
     *
     * @param id which operation
     * @param stage its name
     * @return as by {@link #mark(long, int)}
     */
    public Status mark(long id, String stage) {
        return mark(id, index(stage));
    }

    /**
     * The same by the stage's name, which is looked for.
     *
     * @param id which operation
     * @param stage its name
     * @return as by {@link #mark(byte[], int)}
     */
    public Status mark(byte[] id, String stage) {
        return mark(id, index(stage));
    }

    /**
     * The same by the stage's name, which is looked for.
     *
     * @param id which operation
     * @param stage its name
     * @return as by {@link #mark(String, int)}
     */
    public Status mark(String id, String stage) {
        return mark(id, index(stage));
    }

    /**
     * The same by the stage's name, which is looked for.
     *
     * @param op which operation
     * @param stage its name
     * @return as by {@link #mark(Op, int)}
     */
    public Status mark(Op op, String stage) {
        return mark(op, index(stage));
    }

    /** The index of a stage's name; -1, which the library refuses and counts, if it is unknown. */
    private int index(String stage) {
        for (int i = 0; i < stages.length; i++) if (stages[i].equals(stage)) return i;
        return -1;
    }

    private Status mark(int stage, int kind, int length, long w0, long w1, long w2, long w3) {
        if (handle == 0) return Status.OK;
        return Status.of(TimerNatives.mark(handle, stage, kind, length, w0, w1, w2, w3));
    }
}
