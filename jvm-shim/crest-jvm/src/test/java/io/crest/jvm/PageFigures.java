// SPDX-License-Identifier: Apache-2.0
package io.crest.jvm;

import io.crest.Crest;
import io.crest.PageFormat;
import java.util.LinkedHashMap;
import java.util.Map;

/** The figures of a page as it is now, by series as the page writes it. */
final class PageFigures {
    private final Map<String, Double> figures = new LinkedHashMap<>();

    PageFigures() {
        for (String line : Crest.page(PageFormat.TEXT).split("\n")) {
            if (line.startsWith("#") || line.isEmpty()) continue;
            int at = line.lastIndexOf(' ');
            figures.put(line.substring(0, at), Double.valueOf(line.substring(at + 1)));
        }
    }

    /** One figure, such as {@code jvm_threads_states{state="blocked"}}. */
    double of(String series) {
        Double figure = figures.get(series);
        if (figure == null) throw new AssertionError("no " + series + " on the page");
        return figure;
    }

    /** The sum over all series of a name whose labels contain each of these texts. */
    double sum(String name, String... labels) {
        double sum = 0;
        for (Map.Entry<String, Double> figure : figures.entrySet()) {
            String series = figure.getKey();
            if (!series.equals(name) && !series.startsWith(name + "{")) continue;
            boolean all = true;
            for (String label : labels) all &= series.contains(label);
            if (all) sum += figure.getValue();
        }
        return sum;
    }

    /** Whether there is a series of the name. */
    boolean has(String name) {
        return figures.keySet().stream().anyMatch(
                series -> series.equals(name) || series.startsWith(name + "{"));
    }
}
