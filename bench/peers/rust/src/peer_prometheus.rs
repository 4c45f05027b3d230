// SPDX-License-Identifier: Apache-2.0
//! The prometheus crate: https://docs.rs/prometheus/0.14.0/prometheus/

use crate::instrument::{not_there, Instrument, Left, Part, Place};
use crate::instrument::{BUCKETS, COUNT, LAST, LOOKUPS, SUM};
use crate::protocol::{Plan, Side, Who};
use crate::workload_files::{Workload, MASK};
use prometheus::core::{Atomic, GenericCounter, GenericCounterVec, Metric};
use prometheus::{Gauge, GaugeVec, Histogram, HistogramOpts, HistogramVec, Opts, Registry};
use std::sync::atomic::Ordering;
use std::sync::Arc;
use std::time::Instant;

const PEER: &str = "rust-prometheus";
const HELP: &str = "For the comparison.";

/// A registry with a metric of each name, for every family of places.
fn registered<M: Clone + prometheus::core::Collector + 'static>(
    side: &Side,
    new: impl Fn(&str) -> M,
) -> &'static [Vec<M>] {
    let family = |_| {
        let registry = Box::leak(Box::new(Registry::new()));
        let one = |name: &&'static str| {
            let metric = new(name);
            registry.register(Box::new(metric.clone())).unwrap();
            metric
        };
        side.given.names.iter().map(one).collect()
    };
    (0..=side.threads_most()).map(family).collect::<Vec<_>>().leak()
}

/// As many of something as there are families of places.
fn each_family<T>(side: &Side, new: impl Fn() -> T) -> &'static [T] {
    (0..=side.threads_most()).map(|_| new()).collect::<Vec<_>>().leak()
}

fn histogram_opts(given: &Workload, name: &str) -> HistogramOpts {
    HistogramOpts::new(name, HELP).buckets(given.bounds.clone())
}

fn histogram_left(histogram: &Histogram) -> Left {
    let collected = histogram.metric();
    let collected = collected.get_histogram();
    let (mut below, mut buckets) = (0, 0);
    for (i, bucket) in collected.get_bucket().iter().enumerate() {
        buckets += (i as u64 + 1) * (bucket.cumulative_count() - below);
        below = bucket.cumulative_count();
    }
    let count = collected.get_sample_count();
    Left { count, sum: collected.get_sample_sum() as u64, last: 0, buckets }
}

fn instrument<R>(
    operation: &str,
    parts: &'static [Part],
    objects: usize,
    times: u64,
    record: R,
) -> Instrument<R> {
    Instrument { id: format!("{PEER}/{operation}"), parts, objects, times, record, after: None }
}

/// IntCounter "provides better performance if metric values are all positive integers"
/// (https://docs.rs/prometheus/0.14.0/prometheus/type.IntCounter.html); Counter is a double.
///
/// "MetricVec [...] is slow. However if every possible values for labels are known, each metric in
/// the MetricVec can be cached to avoid the runtime cost"
/// (https://docs.rs/prometheus-static-metric/0.5.1/prometheus_static_metric/): a cached metric does
/// not differ then from one without labels, and the look-up is for label values that are not known
/// before.
fn add_counters<P: Atomic + 'static>(side: &mut Side, name: &str, read: fn(P::T) -> u64) {
    let given = side.given;
    let all = registered(side, |name| GenericCounter::<P>::new(name, HELP).unwrap());
    let counter = move |place: Place| all[place.family][place.metric].clone();
    let left =
        move |counter: GenericCounter<P>| Left { count: read(counter.get()), ..Left::default() };
    let inc = |counter: &GenericCounter<P>, _| counter.inc();
    instrument(name, &[COUNT], 8, 1 << 17, inc).kept(side, counter, move |p| left(counter(p)));

    if name != "counter" {
        return; // finding a counter of doubles costs the same as one of integers
    }
    let vecs = each_family(side, || {
        GenericCounterVec::<P>::new(Opts::new(given.names[0], HELP), &given.keys).unwrap()
    });
    let find = move |p: Place| vecs[p.family].with_label_values(&given.labels[p.metric]);
    let labelled = instrument("counter-labelled", &[COUNT], 8, LOOKUPS, inc);
    labelled.found(side, find, move |p| left(find(p)));
}

fn add_gauges(side: &mut Side) {
    let given = side.given;
    let all = registered(side, |name| Gauge::new(name, HELP).unwrap());
    let gauge = move |place: Place| all[place.family][place.metric].clone();
    let left = |gauge: Gauge| Left { last: gauge.get() as u64, ..Left::default() };
    let set = |gauge: &Gauge, value| gauge.set(value);
    instrument("gauge", &[LAST], 8, 1 << 17, set).kept(side, gauge, move |p| left(gauge(p)));

    let vecs =
        each_family(side, || GaugeVec::new(Opts::new(given.names[0], HELP), &given.keys).unwrap());
    let find = move |p: Place| vecs[p.family].with_label_values(&given.labels[p.metric]);
    instrument("gauge-labelled", &[LAST], 8, LOOKUPS, set)
        .found(side, find, move |p| left(find(p)));
}

/// A timer takes the time with Instant, as HistogramTimer does, but observes nanoseconds, which is
/// what the bounds are in: https://docs.rs/prometheus/0.14.0/prometheus/struct.HistogramTimer.html
fn add_histograms(side: &mut Side) {
    let given = side.given;
    let new = |name: &str| Histogram::with_opts(histogram_opts(given, name)).unwrap();
    let all = registered(side, new);
    let histogram = move |place: Place| all[place.family][place.metric].clone();
    let observe = |histogram: &Histogram, value| histogram.observe(value);
    instrument("histogram", &[COUNT, SUM, BUCKETS], 4, 1 << 16, observe).kept(
        side,
        histogram,
        move |p| histogram_left(&histogram(p)),
    );

    let timed = registered(side, new);
    let timer = move |place: Place| timed[place.family][place.metric].clone();
    let start_end = |histogram: &Histogram, _| {
        let start = Instant::now();
        histogram.observe(start.elapsed().as_nanos() as f64);
    };
    instrument("timer", &[COUNT], 4, 1 << 14, start_end)
        .kept(side, timer, move |p| histogram_left(&timer(p)));

    let vecs = each_family(side, || {
        HistogramVec::new(histogram_opts(given, given.names[0]), &given.keys).unwrap()
    });
    let find = move |p: Place| vecs[p.family].with_label_values(&given.labels[p.metric]);
    instrument("histogram-labelled", &[COUNT, SUM, BUCKETS], 4, LOOKUPS, observe).found(
        side,
        find,
        move |p| histogram_left(&find(p)),
    );
}

/// Local metrics are "for single thread usage"
/// (https://docs.rs/prometheus/0.14.0/prometheus/core/struct.GenericCounter.html#method.local):
/// nothing reads them until their thread flushes them, here once in 65,536 operations.
fn add_local(side: &mut Side) {
    let given = side.given;
    let plan = Plan { times: 1 << 17, objects: 8, same: false, separate: false };
    let counters: &[_] = each_counter(plan.objects);
    let body = move |who: Who, times: u64| {
        let local = counters[who.object].local();
        for i in 0..times as usize {
            std::hint::black_box(&local).inc();
            if i & MASK == MASK {
                local.flush();
            }
        }
    };
    let id = format!("{PEER}/counter-local/hot");
    let asked = side.add(&id, plan, Arc::new(body), None);
    for (object, counter) in counters.iter().enumerate() {
        let asked = asked.clone();
        side.expect(
            format!("{id} count"),
            || counter.get(),
            move || asked[object].load(Ordering::Relaxed),
        );
    }
    let plan = Plan { times: 1 << 16, objects: 4, same: false, separate: false };
    let new = |_| Histogram::with_opts(histogram_opts(given, given.names[0])).unwrap();
    let histograms: &[Histogram] = (0..plan.objects).map(new).collect::<Vec<_>>().leak();
    let body = move |who: Who, times: u64| {
        let local = histograms[who.object].local();
        let values = &*given.values;
        for i in 0..times as usize {
            local.observe(values[i & MASK]);
        }
        local.flush();
    };
    let id = format!("{PEER}/histogram-local/hot");
    let asked = side.add(&id, plan, Arc::new(body), None);
    for (object, histogram) in histograms.iter().enumerate() {
        let asked = asked.clone();
        side.expect(
            format!("{id} count"),
            || histogram.get_sample_count(),
            move || asked[object].load(Ordering::Relaxed),
        );
    }
}

fn each_counter(objects: usize) -> &'static [prometheus::IntCounter] {
    let new = |i| prometheus::IntCounter::new(format!("local_{i}"), HELP).unwrap();
    (0..objects).map(new).collect::<Vec<_>>().leak()
}

pub fn add_to(side: &mut Side) {
    add_counters::<prometheus::core::AtomicU64>(side, "counter", |count| count);
    add_counters::<prometheus::core::AtomicF64>(side, "counter-f64", |count| count as u64);
    add_gauges(side);
    add_histograms(side);
    add_local(side);
    not_there(
        side,
        PEER,
        &[
            ("counter-by-name/hot", "its registry gives no metric back by name"),
            ("gauge-by-name/hot", "its registry gives no metric back by name"),
            ("histogram-by-name/hot", "its registry gives no metric back by name"),
            (
                "first-touch/1000",
                "a metric is one object for all threads: a thread's first touch of \
                              it costs what any other does",
            ),
            ("thread-exit/1000", "a thread leaves nothing behind in this library"),
            ("keyed-timer/hot", "this library has no timers that are ended by a key"),
            ("range-sampler/hot", "this library has nothing like it"),
        ],
    );
}
