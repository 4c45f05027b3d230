// SPDX-License-Identifier: Apache-2.0
package io.crest.kamon;

import com.typesafe.config.Config;
import com.typesafe.config.ConfigFactory;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import kamon.status.Environment;
import kamon.tag.Tag;
import scala.collection.Iterator;

/** What Kamon's configuration says for Crest. */
final class CrestSettings {
    private static final int VALUE_BYTES_MAX = 255;
    private static final int LABELS_MAX = 15;

    /** For {@code Crest.start}. */
    final String options;

    final Duration stopTimeout;

    /** Bounds by Kamon's names of metrics. */
    final Config buckets;

    /** Bounds for all others, as kamon-prometheus' configuration has them. */
    final Config kinds;

    /** Whether Kamon's range samplers stay distributions. */
    final boolean rangesAsHistograms;

    /** What becomes of range samplers; named as the setting's values. */
    private enum Samplers {
        range,
        histogram
    }

    CrestSettings(Config config) {
        Config own = config.getConfig("kamon.crest");
        String given = own.getString("options").trim();
        String who = who(Environment.from(config));
        options = given.isEmpty() ? who : who + "," + given;
        stopTimeout = own.getDuration("stop-timeout");
        Config theirs =
                config.hasPath("kamon.prometheus.buckets")
                        ? config.getConfig("kamon.prometheus.buckets")
                        : ConfigFactory.empty();
        Config custom =
                theirs.hasPath("custom") ? theirs.getConfig("custom") : ConfigFactory.empty();
        buckets = own.getConfig("buckets").withFallback(custom);
        kinds = theirs.withFallback(own.getConfig("default-buckets"));
        rangesAsHistograms = own.getEnum(Samplers.class, "range-samplers") == Samplers.histogram;
    }

    /**
     * Kamon's environment as Crest's options for the process that reports. The given options come
     * after it, and of an option given twice the later counts.
     */
    private static String who(Environment environment) {
        StringBuilder who = new StringBuilder();
        add(who, "service", environment.service());
        add(who, "instance", environment.instance());
        add(who, "resource.host", environment.host());
        Words words = new Words();
        int labels = 1;
        for (Iterator<Tag> tags = environment.tags().iterator(); tags.hasNext(); ) {
            Tag tag = tags.next();
            String value = String.valueOf(Tag.unwrapValue(tag));
            String key = words.key(tag.key());
            if (key.equals("version")) add(who, "version", value);
            else if (!key.equals("service") && !key.equals("host") && labels++ < LABELS_MAX)
                add(who, "resource." + (key.length() > 64 ? key.substring(0, 64) : key), value);
        }
        return who.toString();
    }

    private static void add(StringBuilder to, String key, String value) {
        String cut = value.replace("\0", "").replace('\n', ' ').replace('\r', ' ');
        while (cut.getBytes(StandardCharsets.UTF_8).length > VALUE_BYTES_MAX)
            cut = cut.substring(0, cut.length() - 1);
        if (to.length() != 0) to.append(',');
        to.append(key).append("=\"");
        to.append(cut.replace("\"", "\"\"").replace("${", "$${")).append('"');
    }
}
