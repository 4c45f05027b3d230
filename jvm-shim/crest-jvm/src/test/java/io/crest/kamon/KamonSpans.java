// SPDX-License-Identifier: Apache-2.0
package io.crest.kamon;

import com.typesafe.config.Config;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.time.Instant;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import kamon.Kamon;
import kamon.module.SpanReporter;
import kamon.tag.Tag;
import kamon.tag.TagSet;
import kamon.trace.Span;
import scala.collection.Iterator;
import scala.collection.immutable.Seq;
import scala.concurrent.Await;
import scala.concurrent.duration.Duration;

/**
 * An ordinary Kamon application with spans, which knows nothing of Crest. Its own reporter writes
 * to a given file what Kamon says of each finished span: fields with tabs between them. It ends
 * when its standard input does.
 */
final class KamonSpans {
    private static final int BLOCKS = 40;

    private KamonSpans() {}

    /** Gets what every Kamon reporter gets. */
    private static final class Witness implements SpanReporter {
        private final PrintWriter out;

        Witness(PrintWriter out) {
            this.out = out;
        }

        @Override
        public synchronized void reportSpans(Seq<Span.Finished> spans) {
            Iterator<Span.Finished> all = spans.iterator();
            while (all.hasNext()) write(all.next());
            out.flush();
        }

        private void write(Span.Finished span) {
            TreeMap<String, String> tags = new TreeMap<>();
            add(tags, span.tags());
            add(tags, span.metricTags());
            StringBuilder line = new StringBuilder();
            line.append(span.trace().id().string()).append('\t').append(span.id().string());
            line.append('\t').append(span.parentId().string()).append('\t').append(span.kind());
            line.append('\t').append(span.hasError()).append('\t').append(nanos(span.from()));
            line.append('\t').append(nanos(span.to())).append('\t').append(span.operationName());
            line.append('\t').append(span.marks().size()).append('\t').append(span.links().size());
            tags.forEach((key, value) -> line.append('\t').append(key).append('=').append(value));
            out.println(line);
        }

        private static void add(TreeMap<String, String> into, TagSet tags) {
            Iterator<Tag> each = tags.iterator();
            while (each.hasNext()) {
                Tag tag = each.next();
                into.put(tag.key(), String.valueOf(Tag.unwrapValue(tag)));
            }
        }

        private static long nanos(Instant instant) {
            return instant.getEpochSecond() * 1_000_000_000 + instant.getNano();
        }

        @Override
        public void stop() {}

        @Override
        public void reconfigure(Config config) {}
    }

    /** Kamon's only kind of link, whose Scala name Java's compiler does not find. */
    @SuppressWarnings("unchecked")
    private static <T> T follows() throws ReflectiveOperationException {
        Class<?> kind = Class.forName("kamon.trace.Span$Link$Kind$FollowsFrom$");
        return (T) kind.getField("MODULE$").get(null);
    }

    private static void block(long height) throws ReflectiveOperationException {
        Span block =
                Kamon.serverSpanBuilder("casper.block", "node")
                        .tag("peer", "say \"x\" żółć ☃")
                        .tag("height", height)
                        .tag("final", height % 2 == 0)
                        .start();
        block.mark("validated");
        Span store = Kamon.clientSpanBuilder("store block", "lmdb").asChildOf(block).start();
        if (height % 4 == 3) store.fail("no space left");
        store.finish();
        Kamon.spanBuilder("merge").link(block, follows()).start().finish();
        block.finish();
    }

    public static void main(String[] arguments) throws Exception {
        try (PrintWriter out =
                new PrintWriter(
                        Files.newBufferedWriter(
                                Paths.get(arguments[0]), StandardCharsets.UTF_8))) {
            Kamon.init();
            Kamon.addReporter("witness", new Witness(out));
            for (int height = 0; height < BLOCKS; height++) block(height);
            while (System.in.read() >= 0) {}
            Await.result(Kamon.stopModules(), Duration.create(120, TimeUnit.SECONDS));
        }
        System.exit(0);
    }
}
