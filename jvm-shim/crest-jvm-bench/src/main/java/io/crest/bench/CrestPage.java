// SPDX-License-Identifier: Apache-2.0
package io.crest.bench;

import io.crest.Crest;
import io.crest.PageFormat;

/** Crest's page for Prometheus at this moment. */
final class CrestPage {
    private CrestPage() {}

    /**
     * The sum of a name's samples over all labels; the name as in the library, or as on its page.
     */
    static double sum(String name) {
        String exported = name.replaceAll("[.-]", "_");
        double sum = 0;
        for (String line : Crest.page(PageFormat.TEXT).split("\n"))
            if (line.startsWith(exported + " ") || line.startsWith(exported + "{"))
                sum += Double.parseDouble(line.substring(line.lastIndexOf(' ') + 1));
        return sum;
    }

    static long whole(String name) {
        return (long) sum(name);
    }
}
