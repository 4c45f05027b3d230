// SPDX-License-Identifier: Apache-2.0
/*
 * HdrHistogram for JavaScript, for tests/integration/test_hlog_readers.py: `read LOG` prints the
 * cells of every line, `write VALUES LOG` makes a log.
 */
const fs = require("fs");
const hdr = require("hdr-histogram-js");

const lines = (path) => fs.readFileSync(path, "utf8").split("\n").filter((line) => line !== "");

function read(path) {
    const log = new hdr.HistogramLogReader(fs.readFileSync(path, "utf8"), 64);
    for (let h; (h = log.nextIntervalHistogram()) != null;) {
        const iterator = h.recordedValuesIterator;
        iterator.reset();
        while (iterator.hasNext()) {
            const value = iterator.next();
            console.log(h.tag, h.lowestEquivalentValue(value.valueIteratedTo),
                value.countAtValueIteratedTo);
        }
    }
}

function write(values, path) {
    const all = new Map();
    for (const line of lines(values)) {
        const [tag, digits, value, count] = line.split(" ");
        if (!all.has(tag)) {
            all.set(tag, hdr.build({bitBucketSize: 64, autoResize: true,
                numberOfSignificantValueDigits: Number(digits)}));
        }
        all.get(tag).recordValueWithCount(Number(value), Number(count));
    }
    let text = "";
    const log = new hdr.HistogramLogWriter((piece) => { text += piece; });
    log.outputLogFormatVersion();
    log.outputStartTime(1700000000000);
    log.outputLegend();
    for (const [tag, h] of all) {
        h.tag = tag;
        h.startTimeStampMsec = 1700000000000;
        h.endTimeStampMsec = 1700000060000;
        log.outputIntervalHistogram(h);
    }
    fs.writeFileSync(path, text);
}

if (process.argv[2] === "read") {
    read(process.argv[3]);
} else {
    write(process.argv[3], process.argv[4]);
}
