// SPDX-License-Identifier: Apache-2.0
package io.crest;

import static org.junit.jupiter.api.Assertions.assertTrue;

/** The page of the process, as a test reads it. */
final class Page {
    private final String text;

    private Page(String text) {
        this.text = text;
    }

    static Page now() {
        return new Page(Crest.page(PageFormat.TEXT));
    }

    /** Whether it has a line that begins so. */
    boolean has(String start) {
        return text.startsWith(start) || text.contains("\n" + start);
    }

    /** The value of a sample, {@code name} or {@code name{key="value"}}; 0 if it is not there. */
    double value(String sample) {
        for (String line : text.split("\n"))
            if (line.startsWith(sample + " "))
                return Double.parseDouble(line.substring(sample.length() + 1));
        return 0;
    }

    /** The lines that begin so, for a message. */
    String lines(String start) {
        StringBuilder lines = new StringBuilder();
        for (String line : text.split("\n"))
            if (line.startsWith(start)) lines.append(line).append('\n');
        return lines.toString();
    }

    void mustHave(String start) {
        assertTrue(has(start), () -> "no line begins with " + start);
    }

    static double misuse(String cause) {
        return now().value("crest_misuse_total{cause=\"" + cause + "\"}");
    }
}
