// SPDX-License-Identifier: Apache-2.0
package io.crest.bench;

import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Threads;

/** One thread and one timer. */
@State(Scope.Benchmark)
@Threads(1)
public class TimerOne extends TimerOps {}
