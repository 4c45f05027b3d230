// SPDX-License-Identifier: Apache-2.0
//! Tells the side which compiler it was made with.

fn main() {
    let said = std::process::Command::new(std::env::var("RUSTC").unwrap())
        .arg("--version")
        .output()
        .map(|output| String::from_utf8_lossy(&output.stdout).into_owned())
        .unwrap_or_default();
    println!("cargo:rustc-env=SIDE_RUSTC={}", said.split(' ').nth(1).unwrap_or("unknown"));
}
