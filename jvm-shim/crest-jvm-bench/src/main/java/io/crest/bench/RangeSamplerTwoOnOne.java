// SPDX-License-Identifier: Apache-2.0
package io.crest.bench;

import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Threads;

/** Two threads and one range sampler. */
@State(Scope.Benchmark)
@Threads(2)
public class RangeSamplerTwoOnOne extends RangeSamplerOps {}
