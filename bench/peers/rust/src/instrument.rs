// SPDX-License-Identifier: Apache-2.0
//! What the libraries' instruments have in common: the loops of each, and the totals that these
//! must have left behind. `objdump -d` shows that every iteration keeps its operation: `lock inc`,
//! `lock cmpxchg`, a store (eight iterations at once, with eight stores), or a call.

use crate::protocol::{Asked, Plan, Side, Who};
use crate::workload_files::{Workload, MASK, VALUES};
use std::sync::atomic::Ordering;
use std::sync::Arc;

/// What a metric was left with; each kind knows some of it.
#[derive(Clone, Copy, Default)]
pub struct Left {
    pub count: u64,
    pub sum: u64,
    pub last: u64,
    /// Of each value the number of its bucket, from 1, added up.
    pub buckets: u64,
}

/// A part of what was left, by its name.
pub type Part = (&'static str, fn(&Left) -> u64);
pub const COUNT: Part = ("count", |left| left.count);
pub const SUM: Part = ("sum", |left| left.sum);
pub const LAST: Part = ("last", |left| left.last);
pub const BUCKETS: Part = ("buckets", |left| left.buckets);

/// A metric's place: of the metrics of family 0 some are taken in turn, of each other family all by
/// chance, a family for each thread of its own.
#[derive(Clone, Copy)]
pub struct Place {
    pub family: usize,
    pub metric: usize,
}

/// Label sets and names cost some hundred nanoseconds to find.
pub const LOOKUPS: u64 = 1 << 13;

/// Some of an instrument's metrics, timed through `record`.
pub struct Instrument<R> {
    /// PEER/OPERATION
    pub id: String,
    pub parts: &'static [Part],
    pub objects: usize,
    pub times: u64,
    pub record: R,
    /// Called after each sample, outside the measured time.
    pub after: Option<Arc<dyn Fn() + Send + Sync>>,
}

impl<R> Instrument<R> {
    fn plan(&self, objects: usize) -> Plan {
        Plan { times: self.times, objects, same: true, separate: true }
    }

    fn hot_objects(&self, side: &Side) -> usize {
        self.objects.max(side.threads_most())
    }

    /// Loops over metrics that were made before and kept, with one metric and with many.
    pub fn kept<M: Send + Sync + 'static>(
        &self,
        side: &mut Side,
        make: impl Fn(Place) -> M,
        left: impl Fn(Place) -> Left + Copy + 'static,
    ) where
        R: Fn(&M, f64) + Copy + Send + Sync + 'static,
    {
        let (given, record) = (side.given, self.record);
        let places = hot_places(given, self.hot_objects(side));
        let all: Vec<M> = places.iter().map(|place| make(*place)).collect();
        let body = move |who: Who, times: u64| {
            let (metric, values) = (&all[who.object], &*given.values);
            for i in 0..times as usize {
                record(metric, values[i & MASK]);
            }
        };
        let id = format!("{}/hot", self.id);
        let asked = side.add(&id, self.plan(places.len()), Arc::new(body), self.after.clone());
        self.expect(side, &id, places.iter().map(|place| vec![*place]).collect(), asked, left);

        let families = random_places(given, side.threads_most());
        let all: Vec<Vec<M>> = families
            .iter()
            .map(|family| family.iter().map(|place| make(*place)).collect())
            .collect();
        let body = move |who: Who, times: u64| {
            let (metrics, values) = (&all[who.object][..], &*given.values);
            let order = &*given.order;
            assert_eq!(metrics.len(), given.names.len());
            for i in 0..times as usize {
                // SAFETY: reading the order made sure that there is a name for each of its numbers
                let metric = unsafe { metrics.get_unchecked(order[i & MASK] as usize) };
                record(metric, values[i & MASK]);
            }
        };
        let id = format!("{}/random", self.id);
        let asked = side.add(&id, self.plan(families.len()), Arc::new(body), self.after.clone());
        self.expect(side, &id, families, asked, left);
    }

    /// Loops that find the metric each time, by label values or by name.
    pub fn found<M>(
        &self,
        side: &mut Side,
        find: impl Fn(Place) -> M + Copy + Send + Sync + 'static,
        left: impl Fn(Place) -> Left + Copy + 'static,
    ) where
        R: Fn(&M, f64) + Copy + Send + Sync + 'static,
    {
        let (given, record) = (side.given, self.record);
        let places = hot_places(given, self.hot_objects(side));
        let hot = places.clone();
        let body = move |who: Who, times: u64| {
            let (place, values) = (hot[who.object], &*given.values);
            for i in 0..times as usize {
                record(&find(place), values[i & MASK]);
            }
        };
        let id = format!("{}/hot", self.id);
        places.iter().for_each(|place| drop(find(*place)));
        let asked = side.add(&id, self.plan(places.len()), Arc::new(body), self.after.clone());
        self.expect(side, &id, places.iter().map(|place| vec![*place]).collect(), asked, left);

        let families = random_places(given, side.threads_most());
        families.iter().flatten().for_each(|place| drop(find(*place)));
        let body = move |who: Who, times: u64| {
            let (order, values) = (&*given.order, &*given.values);
            for i in 0..times as usize {
                let metric = order[i & MASK] as usize;
                record(&find(Place { family: who.object + 1, metric }), values[i & MASK]);
            }
        };
        let id = format!("{}/random", self.id);
        let asked = side.add(&id, self.plan(families.len()), Arc::new(body), self.after.clone());
        self.expect(side, &id, families, asked, left);
    }

    /// Compares what each object's metrics were left with. Each metric is weighted by its number,
    /// so that a record in a wrong metric is noticed.
    fn expect(
        &self,
        side: &mut Side,
        id: &str,
        objects: Vec<Vec<Place>>,
        asked: Asked,
        left: impl Fn(Place) -> Left + Copy + 'static,
    ) {
        let (given, times) = (side.given, self.times);
        for (object, places) in objects.into_iter().enumerate() {
            for (name, part) in self.parts.iter().copied() {
                let (found_in, many, asked) = (places.clone(), places.len(), asked.clone());
                let found = move || weighted(found_in.iter().map(|place| part(&left(*place))));
                let wanted = move || {
                    let once = times.min(VALUES as u64);
                    let calls = asked[object].load(Ordering::Relaxed) / once;
                    let calls = if name == "last" { calls.min(1) } else { calls };
                    weighted(left_by(given, many, once).iter().map(part)) * calls
                };
                side.expect(format!("{id} {name}"), found, wanted);
            }
        }
    }
}

fn weighted(all: impl Iterator<Item = u64>) -> u64 {
    all.enumerate().map(|(i, each)| (i as u64 + 1) * each).sum()
}

/// Metrics well apart: two that were made one after the other may share a cache line.
fn hot_places(given: &Workload, objects: usize) -> Vec<Place> {
    let metrics = given.names.len();
    (0..objects).map(|i| Place { family: 0, metric: i * metrics / objects }).collect()
}

fn random_places(given: &Workload, families: usize) -> Vec<Vec<Place>> {
    let all = |family| (0..given.names.len()).map(move |metric| Place { family, metric }).collect();
    (1..=families).map(all).collect()
}

/// What `times` operations of a loop leave in each of so many metrics.
fn left_by(given: &Workload, metrics: usize, times: u64) -> Vec<Left> {
    let mut all = vec![Left::default(); metrics];
    for i in 0..times as usize {
        let value = given.values[i & MASK];
        let left = &mut all[if metrics > 1 { given.order[i & MASK] as usize } else { 0 }];
        left.count += 1;
        left.sum += value as u64;
        left.last = value as u64;
        left.buckets += 1 + given.bounds.partition_point(|bound| *bound < value) as u64;
    }
    all
}

/// Says which operations a library does not have.
pub fn not_there(side: &mut Side, peer: &str, operations: &[(&str, &str)]) {
    for (operation, why) in operations {
        side.missing(&format!("{peer}/{operation}/1"), why);
    }
}
