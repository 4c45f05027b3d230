// SPDX-License-Identifier: Apache-2.0

// HdrHistogram for Go, for tests/integration/test_hlog_readers.py: `read LOG` prints the cells of
// every line, `write VALUES LOG` makes a log.
package main

import (
	"bufio"
	"fmt"
	"os"
	"strings"

	hdr "github.com/HdrHistogram/hdrhistogram-go"
)

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func read(path string) {
	file, err := os.Open(path)
	check(err)
	log := hdr.NewHistogramLogReader(file)
	for {
		h, err := log.NextIntervalHistogram()
		check(err)
		if h == nil {
			return
		}
		for _, bar := range h.Distribution() {
			if bar.Count != 0 {
				fmt.Println(h.Tag(), bar.From, bar.Count)
			}
		}
	}
}

func write(values, path string) {
	from, err := os.Open(values)
	check(err)
	all, tags := map[string]*hdr.Histogram{}, []string{}
	for lines := bufio.NewScanner(from); lines.Scan(); {
		var tag string
		var digits int
		var value, count int64
		_, err := fmt.Sscan(lines.Text(), &tag, &digits, &value, &count)
		check(err)
		if all[tag] == nil {
			all[tag] = hdr.New(1, 1<<42-1, digits)
			all[tag].SetTag(tag)
			tags = append(tags, tag)
		}
		check(all[tag].RecordValues(value, count))
	}
	var text strings.Builder
	log := hdr.NewHistogramLogWriter(&text)
	check(log.OutputLogFormatVersion())
	check(log.OutputStartTime(1700000000000))
	check(log.OutputLegend())
	for _, tag := range tags {
		all[tag].SetStartTimeMs(1700000000000)
		all[tag].SetEndTimeMs(1700000060000)
		check(log.OutputIntervalHistogram(all[tag]))
	}
	check(os.WriteFile(path, []byte(text.String()), 0o644))
}

func main() {
	if os.Args[1] == "read" {
		read(os.Args[2])
	} else {
		write(os.Args[2], os.Args[3])
	}
}
