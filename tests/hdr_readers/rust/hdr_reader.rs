// SPDX-License-Identifier: Apache-2.0
//! HdrHistogram for Rust, for tests/integration/test_hlog_readers.py: `read LOG` prints the cells
//! of every line, `write VALUES LOG` makes a log.

use base64::Engine;
use hdrhistogram::serialization::interval_log::{
    IntervalLogHistogram, IntervalLogIterator, IntervalLogWriterBuilder, LogEntry, Tag,
};
use hdrhistogram::serialization::{Deserializer, V2DeflateSerializer};
use hdrhistogram::Histogram;
use std::collections::BTreeMap;
use std::time::{Duration, UNIX_EPOCH};

fn cells(log: &IntervalLogHistogram) {
    let bytes = base64::engine::general_purpose::STANDARD
        .decode(log.encoded_histogram())
        .unwrap();
    let h: Histogram<u64> = Deserializer::new().deserialize(&mut &bytes[..]).unwrap();
    for value in h.iter_recorded() {
        println!(
            "{} {} {}",
            log.tag().unwrap().as_str(),
            h.lowest_equivalent(value.value_iterated_to()),
            value.count_at_value()
        );
    }
}

fn read(path: &str) {
    let text = std::fs::read(path).unwrap();
    for entry in IntervalLogIterator::new(&text) {
        if let LogEntry::Interval(log) = entry.unwrap() {
            cells(&log);
        }
    }
}

fn write(values: &str, path: &str) {
    let mut all: BTreeMap<String, Histogram<u64>> = BTreeMap::new();
    for line in std::fs::read_to_string(values).unwrap().lines() {
        let word: Vec<&str> = line.split(' ').collect();
        all.entry(word[0].to_string())
            .or_insert_with(|| Histogram::new(word[1].parse().unwrap()).unwrap())
            .record_n(word[2].parse().unwrap(), word[3].parse().unwrap())
            .unwrap();
    }
    let mut bytes = Vec::new();
    let mut serializer = V2DeflateSerializer::new();
    let begun = UNIX_EPOCH + Duration::from_secs(1_700_000_000);
    let mut log = IntervalLogWriterBuilder::new()
        .with_start_time(begun)
        .begin_log_with(&mut bytes, &mut serializer)
        .unwrap();
    for (tag, h) in &all {
        log.write_histogram(h, Duration::ZERO, Duration::from_secs(60), Tag::new(tag))
            .unwrap();
    }
    std::fs::write(path, bytes).unwrap();
}

fn main() {
    let words: Vec<String> = std::env::args().collect();
    if words[1] == "read" {
        read(&words[2]);
    } else {
        write(&words[2], &words[3]);
    }
}
