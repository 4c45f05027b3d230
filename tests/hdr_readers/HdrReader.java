// SPDX-License-Identifier: Apache-2.0
/*
 * HdrHistogram for Java, for tests/integration/test_hlog_readers.py: `read LOG` prints the cells of
 * every line, `write VALUES LOG` makes a log, `table LOG RATIO` prints its table of percentiles.
 */
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import org.HdrHistogram.Histogram;
import org.HdrHistogram.HistogramIterationValue;
import org.HdrHistogram.HistogramLogReader;
import org.HdrHistogram.HistogramLogWriter;

public final class HdrReader {
    private static void read(HistogramLogReader log) {
        for (Histogram h; (h = (Histogram) log.nextIntervalHistogram()) != null;) {
            for (HistogramIterationValue v : h.recordedValues()) {
                long lowest = h.lowestEquivalentValue(v.getValueIteratedTo());
                System.out.println(h.getTag() + " " + lowest + " " + v.getCountAtValueIteratedTo());
            }
        }
    }

    private static void write(String values, String path) throws Exception {
        Map<String, Histogram> all = new TreeMap<>();
        for (String line : Files.readAllLines(Path.of(values))) {
            String[] word = line.split(" ");
            all.computeIfAbsent(word[0], tag -> new Histogram(Integer.parseInt(word[1])))
                    .recordValueWithCount(Long.parseLong(word[2]), Long.parseLong(word[3]));
        }
        HistogramLogWriter log = new HistogramLogWriter(path);
        log.outputLogFormatVersion();
        log.outputStartTime(1_700_000_000_000L);
        log.outputLegend();
        all.forEach((tag, h) -> {
            h.setTag(tag);
            h.setStartTimeStamp(1_700_000_000_000L);
            h.setEndTimeStamp(1_700_000_060_000L);
            log.outputIntervalHistogram(h);
        });
        log.close();
    }

    private static void table(HistogramLogReader log, double ratio, PrintStream out) {
        for (Histogram h; (h = (Histogram) log.nextIntervalHistogram()) != null;) {
            h.outputPercentileDistribution(out, ratio);
        }
    }

    public static void main(String[] words) throws Exception {
        switch (words[0]) {
            case "read" -> read(new HistogramLogReader(words[1]));
            case "write" -> write(words[1], words[2]);
            default -> table(new HistogramLogReader(words[1]), Double.parseDouble(words[2]),
                    System.out);
        }
    }
}
