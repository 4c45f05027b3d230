// SPDX-License-Identifier: Apache-2.0
//! The metrics crate (https://docs.rs/metrics/0.24.6/metrics/) with a recorder of metrics-util's
//! parts. Of these "users should look at Key and AtomicStorage", which "provide behavior that is
//! suitable for most exporters"
//! (https://docs.rs/metrics-util/0.20.4/metrics_util/registry/struct.Registry.html).
//!
//! A histogram of this storage is a list of values until an exporter takes them out, which then
//! puts them into buckets; that is `histogram-drained`. The others are drained too, outside the
//! time.

use crate::instrument::{not_there, Instrument, Left, Part, Place};
use crate::instrument::{BUCKETS, COUNT, LAST, LOOKUPS, SUM};
use crate::protocol::{Plan, Side, Who};
use crate::workload_files::{Workload, MASK};
use metrics::{counter, gauge, histogram};
use metrics::{Counter, Gauge, Key, KeyName, Label, Metadata, Recorder, SharedString, Unit};
use metrics_util::registry::{AtomicStorage, Registry};
use metrics_util::storage::Histogram as Buckets;
use std::collections::HashMap;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Instant;

const PEER: &str = "rust-metrics";

/// What the macros reach, and what an exporter keeps of histograms.
struct Exporter {
    registry: Registry<Key, AtomicStorage>,
    buckets: Mutex<HashMap<Key, Buckets>>,
    given: &'static Workload,
}

static EXPORTER: OnceLock<Exporter> = OnceLock::new();

fn exporter() -> &'static Exporter {
    EXPORTER.get().unwrap()
}

struct ToExporter;

impl Recorder for ToExporter {
    fn describe_counter(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}
    fn describe_gauge(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}
    fn describe_histogram(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}
    fn register_counter(&self, key: &Key, _: &Metadata<'_>) -> Counter {
        exporter().registry.get_or_create_counter(key, |counter| counter.clone().into())
    }
    fn register_gauge(&self, key: &Key, _: &Metadata<'_>) -> Gauge {
        exporter().registry.get_or_create_gauge(key, |gauge| gauge.clone().into())
    }
    fn register_histogram(&self, key: &Key, _: &Metadata<'_>) -> metrics::Histogram {
        exporter().registry.get_or_create_histogram(key, |histogram| histogram.clone().into())
    }
}

/// What exporters do with histograms now and then.
fn drain() {
    let mut all = exporter().buckets.lock().unwrap();
    exporter().registry.visit_histograms(|key, histogram| {
        if !histogram.is_empty() {
            let new = || Buckets::new(&exporter().given.bounds).unwrap();
            let buckets = all.entry(key.clone()).or_insert_with(new);
            histogram.clear_with(|values| buckets.record_many(values));
        }
    });
}

fn counter_left(key: &Key) -> Left {
    let found = exporter().registry.get_counter(key);
    let count = found.map_or(0, |counter| counter.load(Ordering::Relaxed));
    Left { count, ..Left::default() }
}

fn gauge_left(key: &Key) -> Left {
    let found = exporter().registry.get_gauge(key);
    let value = found.map_or(0.0, |gauge| f64::from_bits(gauge.load(Ordering::Relaxed)));
    Left { last: value as u64, ..Left::default() }
}

fn histogram_left(key: &Key) -> Left {
    let all = exporter().buckets.lock().unwrap();
    let Some(found) = all.get(key) else {
        return Left::default();
    };
    let (mut below, mut buckets) = (0, 0);
    for (i, (_, cumulative)) in found.buckets().into_iter().enumerate() {
        buckets += (i as u64 + 1) * (cumulative - below);
        below = cumulative;
    }
    buckets += (exporter().given.bounds.len() as u64 + 1) * (found.count() - below);
    Left { count: found.count(), sum: found.sum() as u64, last: 0, buckets }
}

/// The names of each family of places, `tail` keeping those of one benchmark apart from another's.
fn names(side: &Side, tail: &str) -> &'static [Vec<&'static str>] {
    let family = |family: usize| {
        let tail =
            if family < 2 && tail.is_empty() { "".into() } else { format!("{tail}{family}") };
        side.given.names.iter().map(|name| &*format!("{name}{tail}").leak()).collect()
    };
    (0..=side.threads_most()).map(family).collect::<Vec<_>>().leak()
}

/// The labels of a place: "static strings [...] can provide significant performance benefits"
/// (https://docs.rs/metrics/0.24.6/metrics/#keys).
fn labels(given: &'static Workload, metric: usize) -> Vec<Label> {
    let pairs = given.keys.iter().zip(&given.labels[metric]);
    pairs.map(|(key, value)| Label::from_static_parts(key, value)).collect()
}

fn instrument<R>(operation: &str, parts: &'static [Part], times: u64, record: R) -> Instrument<R> {
    let histograms = parts.len() > 1 || operation.starts_with("timer");
    let after = histograms.then(|| Arc::new(drain) as Arc<dyn Fn() + Send + Sync>);
    let objects = if histograms { 4 } else { 8 };
    Instrument { id: format!("{PEER}/{operation}"), parts, objects, times, record, after }
}

/// One instrument: through a handle, which "can be held on to in order to amortize the cost of
/// registration" (https://docs.rs/metrics/0.24.6/metrics/macro.counter.html); by a name, and by a
/// name and labels, each time.
macro_rules! add_instrument {
    ($side:expr, $macro:ident, $parts:expr, $times:expr, $record:expr, $left:expr) => {{
        let side = &mut *$side;
        let given = side.given;
        let name = stringify!($macro);
        let kept = names(side, "_kept");
        instrument(name, $parts, $times, $record).kept(
            side,
            move |p| $macro!(kept[p.family][p.metric]),
            move |p| $left(&Key::from_name(kept[p.family][p.metric])),
        );
        let named = names(side, "");
        let hot = names(side, "_hot");
        let named = move |p: Place| {
            if p.family == 0 {
                hot[0][p.metric]
            } else {
                named[p.family][p.metric]
            }
        };
        instrument(&format!("{name}-by-name"), $parts, LOOKUPS, $record).found(
            side,
            move |p| $macro!(named(p)),
            move |p| $left(&Key::from_name(named(p))),
        );
        let families = names(side, "_labelled");
        instrument(&format!("{name}-labelled"), $parts, LOOKUPS, $record).found(
            side,
            move |p| $macro!(families[p.family][0], labels(given, p.metric)),
            move |p| $left(&Key::from_parts(families[p.family][0], labels(given, p.metric))),
        );
    }};
}

fn add_timers(side: &mut Side) {
    let kept = names(side, "_timed");
    let start_end = |histogram: &metrics::Histogram, _: f64| {
        let start = Instant::now();
        histogram.record(start.elapsed().as_nanos() as f64);
    };
    instrument("timer", &[COUNT], 1 << 14, start_end).kept(
        side,
        move |p| histogram!(kept[p.family][p.metric]),
        move |p| histogram_left(&Key::from_name(kept[p.family][p.metric])),
    );
}

/// Recording and what the exporter does with it afterwards.
fn add_drained(side: &mut Side) {
    let given = side.given;
    let name = "bench_drained";
    let plan = Plan { times: 1 << 16, objects: 1, same: false, separate: false };
    let kept = histogram!(name);
    let body = move |_: Who, times: u64| {
        let values = &*given.values;
        for i in 0..times as usize {
            kept.record(values[i & MASK]);
        }
        drain();
    };
    let id = format!("{PEER}/histogram-drained/hot");
    let asked = side.add(&id, plan, Arc::new(body), None);
    let found = move || histogram_left(&Key::from_name(name)).count;
    side.expect(format!("{id} count"), found, move || asked[0].load(Ordering::Relaxed));
}

pub fn add_to(side: &mut Side) {
    let buckets = Mutex::new(HashMap::new());
    let made = Exporter { registry: Registry::atomic(), buckets, given: side.given };
    assert!(EXPORTER.set(made).is_ok() && metrics::set_global_recorder(ToExporter).is_ok());
    let inc = |counter: &Counter, _: f64| counter.increment(1);
    add_instrument!(side, counter, &[COUNT], 1 << 17, inc, counter_left);
    let set = |gauge: &Gauge, value: f64| gauge.set(value);
    add_instrument!(side, gauge, &[LAST], 1 << 17, set, gauge_left);
    let record = |histogram: &metrics::Histogram, value: f64| histogram.record(value);
    add_instrument!(side, histogram, &[COUNT, SUM, BUCKETS], 1 << 16, record, histogram_left);
    add_timers(side);
    add_drained(side);
    not_there(
        side,
        PEER,
        &[
            (
                "first-touch/1000",
                "a metric is one object for all threads: a thread's first touch of \
                              it costs what any other does",
            ),
            ("thread-exit/1000", "a thread leaves nothing behind in this library"),
            ("keyed-timer/hot", "this library has no timers"),
            ("range-sampler/hot", "this library has nothing like it"),
        ],
    );
}
