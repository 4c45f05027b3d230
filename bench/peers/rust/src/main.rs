// SPDX-License-Identifier: Apache-2.0
//! The side of Rust's libraries: prometheus, metrics, hdrhistogram. bench/README.md has the
//! protocol, protocol.rs speaks it; each library has a file of its own.

mod instrument;
mod peer_hdrhistogram;
mod peer_metrics;
mod peer_prometheus;
mod processors;
mod protocol;
mod workload_files;

fn main() {
    let mut side = protocol::Side::new("rust", std::env::args().skip(1));
    for name in ["prometheus", "metrics", "metrics-util", "hdrhistogram"] {
        side.version(name, &locked_version(name));
    }
    side.version("rustc", env!("SIDE_RUSTC"));
    peer_prometheus::add_to(&mut side);
    peer_metrics::add_to(&mut side);
    peer_hdrhistogram::add_to(&mut side);
    std::process::exit(side.run());
}

/// The version that Cargo.lock pins a crate to, and that was built.
fn locked_version(name: &str) -> String {
    let wanted = format!("name = \"{name}\"");
    let mut lines = include_str!("../Cargo.lock").lines().skip_while(|line| *line != wanted);
    let version = lines.nth(1).unwrap_or_default();
    version.trim_start_matches("version = ").trim_matches('"').to_string()
}
