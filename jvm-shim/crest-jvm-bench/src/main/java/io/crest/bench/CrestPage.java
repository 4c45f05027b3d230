// SPDX-License-Identifier: Apache-2.0
package io.crest.bench;

import io.crest.Crest;
import io.crest.PageFormat;

/** What Crest would tell Prometheus at this moment. */
final class CrestPage {
    private CrestPage() {}

    /**
     * The sum of a name's samples, whatever their labels; the name as the library's own or its
     * page's.
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
