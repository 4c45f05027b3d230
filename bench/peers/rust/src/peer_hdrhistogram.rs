// SPDX-License-Identifier: Apache-2.0
//! The hdrhistogram crate (https://docs.rs/hdrhistogram/7.6.0/hdrhistogram/): a histogram with one
//! writer, and a recorder for each of several threads.

use crate::instrument::not_there;
use crate::protocol::{Asked, Plan, Side, Who};
use crate::workload_files::{Workload, MASK, VALUES};
use hdrhistogram::sync::{Recorder, SyncHistogram};
use hdrhistogram::Histogram;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};
use std::time::Instant;

const PEER: &str = "rust-hdrhistogram";
const TIMES: u64 = VALUES as u64;
const OBJECTS: usize = 4;

/// "Auto-resizing will be disabled"
/// (https://docs.rs/hdrhistogram/7.6.0/hdrhistogram/struct.Histogram.html#method.new_with_max),
/// and two digits are what Crest keeps too.
fn new() -> Histogram<u64> {
    Histogram::new_with_max(3_600_000_000_000, 2).unwrap()
}

/// Of a thread's own, so on cache lines of its own. The lock is taken once for some thousand
/// values, and is uncontended then.
#[repr(align(128))]
struct Own<T>(Mutex<T>);

fn own<T>(value: T) -> Own<T> {
    Own(Mutex::new(value))
}

/// Of each value the least that is equivalent, added up.
fn sum_of(histogram: &Histogram<u64>) -> u64 {
    let each = histogram.iter_recorded();
    each.map(|v| histogram.lowest_equivalent(v.value_iterated_to()) * v.count_at_value()).sum()
}

fn sum_asked(given: &Workload, asked: &Asked, object: usize) -> u64 {
    let like = new();
    let once: u64 = given.values_ns.iter().map(|value| like.lowest_equivalent(*value)).sum();
    once * (asked[object].load(Ordering::Relaxed) / TIMES)
}

fn add_plain(side: &mut Side) {
    let given = side.given;
    let objects = OBJECTS.max(side.threads_most());
    let plan = Plan { times: TIMES, objects, same: false, separate: true };
    let all: &[Own<Histogram<u64>>] = (0..objects).map(|_| own(new())).collect::<Vec<_>>().leak();
    let body = move |who: Who, times: u64| {
        let histogram = &mut *all[who.object].0.lock().unwrap();
        let values = &*given.values_ns;
        for i in 0..times as usize {
            histogram.record(values[i & MASK]).unwrap();
        }
    };
    let id = format!("{PEER}/histogram/hot");
    let asked = side.add(&id, plan, Arc::new(body), None);
    for (object, histogram) in all.iter().enumerate() {
        let (count, sum) = (asked.clone(), asked.clone());
        let len = || histogram.0.lock().unwrap().len();
        side.expect(format!("{id} count"), len, move || count[object].load(Ordering::Relaxed));
        let found = || sum_of(&histogram.0.lock().unwrap());
        side.expect(format!("{id} sum"), found, move || sum_asked(given, &sum, object));
    }
}

fn add_random(side: &mut Side) {
    let given = side.given;
    let sets = side.threads_most();
    let plan = Plan { times: TIMES, objects: sets, same: false, separate: true };
    let set = |_| own(given.names.iter().map(|_| new()).collect());
    let all: &[Own<Vec<Histogram<u64>>>] = (0..sets).map(set).collect::<Vec<_>>().leak();
    let body = move |who: Who, times: u64| {
        let set = &mut all[who.object].0.lock().unwrap()[..];
        let values = &*given.values_ns;
        for i in 0..times as usize {
            let histogram = &mut set[given.order[i & MASK] as usize];
            histogram.record(values[i & MASK]).unwrap();
        }
    };
    let id = format!("{PEER}/histogram/random");
    let asked = side.add(&id, plan, Arc::new(body), None);
    for (object, set) in all.iter().enumerate() {
        let (count, sum) = (asked.clone(), asked.clone());
        let len = || set.0.lock().unwrap().iter().map(Histogram::len).sum();
        side.expect(format!("{id} count"), len, move || count[object].load(Ordering::Relaxed));
        let found = || set.0.lock().unwrap().iter().map(sum_of).sum();
        side.expect(format!("{id} sum"), found, move || sum_asked(given, &sum, object));
    }
}

fn add_timer(side: &mut Side) {
    let objects = OBJECTS.max(side.threads_most());
    let plan = Plan { times: 1 << 14, objects, same: false, separate: true };
    let all: &[Own<Histogram<u64>>] = (0..objects).map(|_| own(new())).collect::<Vec<_>>().leak();
    let body = move |who: Who, times: u64| {
        let histogram = &mut *all[who.object].0.lock().unwrap();
        for _ in 0..times {
            let start = Instant::now();
            histogram.saturating_record(start.elapsed().as_nanos() as u64);
        }
    };
    let id = format!("{PEER}/timer/hot");
    let asked = side.add(&id, plan, Arc::new(body), None);
    for (object, histogram) in all.iter().enumerate() {
        let asked = asked.clone();
        let len = || histogram.0.lock().unwrap().len();
        side.expect(format!("{id} count"), len, move || asked[object].load(Ordering::Relaxed));
    }
}

/// "Writes to a Recorder are wait-free and scalable except for when the SyncHistogram initiates a
/// phase shift" (https://docs.rs/hdrhistogram/7.6.0/hdrhistogram/sync/struct.Recorder.html), which
/// happens when it is read; "each with its own Recorder", so threads on the same histogram have
/// each its own too.
fn add_recorders(side: &mut Side) {
    let given = side.given;
    let (objects, threads) = (OBJECTS.max(side.threads_most()), side.threads_most());
    let plan = Plan { times: TIMES, objects, same: true, separate: true };
    let shared: &[Mutex<SyncHistogram<u64>>] =
        (0..objects).map(|_| Mutex::new(new().into())).collect::<Vec<_>>().leak();
    let recorder = |object: usize| own(Some(shared[object].lock().unwrap().recorder()));
    let all: &[Vec<Own<Option<Recorder<u64>>>>] = (0..objects)
        .map(|object| (0..threads).map(|_| recorder(object)).collect())
        .collect::<Vec<_>>()
        .leak();
    let body = move |who: Who, times: u64| {
        let mut own = all[who.object][who.thread].0.lock().unwrap();
        let recorder = own.as_mut().unwrap();
        let values = &*given.values_ns;
        for i in 0..times as usize {
            recorder.record(values[i & MASK]).unwrap();
        }
    };
    let id = format!("{PEER}/histogram-recorder/hot");
    let asked = side.add(&id, plan, Arc::new(body), None);
    for (object, histogram) in shared.iter().enumerate() {
        let (count, sum) = (asked.clone(), asked.clone());
        let len = move || {
            // a dropped recorder has handed over its values, and the reader does not wait for it
            all[object].iter().for_each(|recorder| drop(recorder.0.lock().unwrap().take()));
            let mut histogram = histogram.lock().unwrap();
            histogram.refresh();
            histogram.len()
        };
        side.expect(format!("{id} count"), len, move || count[object].load(Ordering::Relaxed));
        let found = || sum_of(&histogram.lock().unwrap());
        side.expect(format!("{id} sum"), found, move || sum_asked(given, &sum, object));
    }
}

pub fn add_to(side: &mut Side) {
    add_plain(side);
    add_random(side);
    add_timer(side);
    add_recorders(side);
    let one_writer = "a Histogram has one writer: see histogram-recorder";
    for threads in side.given.threads.iter().filter(|threads| **threads > 1) {
        side.missing(&format!("{PEER}/histogram/hot/{threads}-same"), one_writer);
        side.missing(&format!("{PEER}/timer/hot/{threads}-same"), one_writer);
    }
    not_there(
        side,
        PEER,
        &[
            ("counter/hot", "this library has histograms only"),
            ("gauge/hot", "this library has histograms only"),
            ("histogram-labelled/hot", "this library has neither labels nor names"),
            ("histogram-by-name/hot", "this library has neither labels nor names"),
        ],
    );
}
