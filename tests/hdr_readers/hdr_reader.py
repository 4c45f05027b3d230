# SPDX-License-Identifier: Apache-2.0
"""HdrHistogram for Python, for tests/integration/test_hlog_readers.py: `read LOG` prints the cells
of every line, `write VALUES LOG` makes a log."""

import sys

from hdrh.histogram import HdrHistogram
from hdrh.log import HistogramLogReader, HistogramLogWriter

HIGHEST = (1 << 42) - 1


def read(path):
    log = HistogramLogReader(path, HdrHistogram(1, HIGHEST, 3))
    while True:
        histogram = log.get_next_interval_histogram()
        if histogram is None:
            return
        for item in histogram.get_recorded_iterator():
            value = histogram.get_lowest_equivalent_value(item.value_iterated_to)
            print(histogram.get_tag(), value, item.count_at_value_iterated_to)


def write(values, path):
    every = {}
    with open(values, encoding="ascii") as lines:
        for line in lines:
            tag, digits, value, count = line.split()
            if tag not in every:
                every[tag] = HdrHistogram(1, HIGHEST, int(digits))
                every[tag].set_tag(tag)
            every[tag].record_value(int(value), int(count))
    with open(path, "w", encoding="ascii") as output:
        log = HistogramLogWriter(output)
        log.output_log_format_version()
        log.output_legend()
        for histogram in every.values():
            histogram.set_start_time_stamp(1700000000000)
            histogram.set_end_time_stamp(1700000060000)
            output.write(f"Tag={histogram.get_tag()},")  # which this writer leaves out
            log.output_interval_histogram(histogram)


if sys.argv[1] == "read":
    read(sys.argv[2])
else:
    write(sys.argv[2], sys.argv[3])
