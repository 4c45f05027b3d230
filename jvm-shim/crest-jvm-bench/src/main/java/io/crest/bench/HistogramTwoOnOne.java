// SPDX-License-Identifier: Apache-2.0
package io.crest.bench;

import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Threads;

/** Two threads and one histogram. */
@State(Scope.Benchmark)
@Threads(2)
public class HistogramTwoOnOne extends HistogramOps {}
