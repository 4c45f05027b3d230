// SPDX-License-Identifier: Apache-2.0
package io.crest.kamon;

import io.crest.FinishedSpans;
import io.crest.Status;
import java.nio.ByteBuffer;
import java.time.Instant;
import kamon.tag.Tag;
import kamon.tag.TagSet;
import kamon.trace.Span;
import org.slf4j.Logger;
import scala.collection.Iterator;
import scala.collection.immutable.Seq;

/**
 * Kamon's finished spans, handed on with the ids, names and times that Kamon gave them: tags are
 * attributes, marks are events, and Kamon's sampler has decided which there are.
 *
 * <p>For one thread at a time.
 */
final class ForwardedSpans {
    private static final long NANOS = 1_000_000_000;

    private final FinishedSpans spans = new FinishedSpans();
    private final Logger log;
    private Status told = Status.OK;

    ForwardedSpans(Logger log) {
        this.log = log;
    }

    void forward(Seq<Span.Finished> finished) {
        if (finished.isEmpty()) return;
        Iterator<Span.Finished> all = finished.iterator();
        while (all.hasNext()) add(all.next());
        Status status = spans.give();
        if (status != told && status != Status.OK && status != Status.NOT_RUNNING)
            log.warn("Not all of Kamon's spans are exported: {}", status);
        told = status;
    }

    private void add(Span.Finished span) {
        byte[] trace = span.trace().id().bytes();
        spans.begin(
                high(trace), low(trace), low(span.id().bytes()), low(span.parentId().bytes()),
                span.operationName(), nanos(span.from()), nanos(span.to()));
        spans.kind(kind(span.kind().toString()));
        tags(span.tags());
        tags(span.metricTags());
        Iterator<Span.Mark> marks = span.marks().iterator();
        while (marks.hasNext()) {
            Span.Mark mark = marks.next();
            spans.event(mark.key(), nanos(mark.instant()));
        }
        Iterator<Span.Link> links = span.links().iterator();
        while (links.hasNext()) {
            Span.Link link = links.next();
            byte[] other = link.trace().id().bytes();
            spans.link(high(other), low(other), low(link.spanId().bytes()));
        }
        if (span.hasError()) spans.fail(message(span.tags()));
    }

    private void tags(TagSet tags) {
        Iterator<Tag> each = tags.iterator();
        while (each.hasNext()) {
            Tag tag = each.next();
            Object value = Tag.unwrapValue(tag);
            if (value instanceof Long) spans.number(tag.key(), (Long) value);
            else if (value instanceof Boolean) spans.flag(tag.key(), (Boolean) value);
            else spans.text(tag.key(), String.valueOf(value));
        }
    }

    /** What Kamon's {@code fail} wrote down. */
    private static String message(TagSet tags) {
        Iterator<Tag> each = tags.iterator();
        while (each.hasNext()) {
            Tag tag = each.next();
            if (tag.key().equals("error.message")) return String.valueOf(Tag.unwrapValue(tag));
        }
        return null;
    }

    private static int kind(String kamon) {
        switch (kamon) {
            case "server":
                return FinishedSpans.SERVER;
            case "client":
                return FinishedSpans.CLIENT;
            case "producer":
                return FinishedSpans.PRODUCER;
            case "consumer":
                return FinishedSpans.CONSUMER;
            default:
                return FinishedSpans.INTERNAL;
        }
    }

    /** The first half of an id of 16 bytes; of the shorter ones there is none. */
    private static long high(byte[] id) {
        return id.length < 2 * Long.BYTES ? 0 : ByteBuffer.wrap(id).getLong();
    }

    /** The last eight bytes. */
    private static long low(byte[] id) {
        return id.length < Long.BYTES ? 0 : ByteBuffer.wrap(id).getLong(id.length - Long.BYTES);
    }

    private static long nanos(Instant instant) {
        return instant.getEpochSecond() * NANOS + instant.getNano();
    }
}
