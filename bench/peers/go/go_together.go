// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"
	"runtime"
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// The method of bench/side/together.cc: threads on processors of their own pass a gate together
// and stop together, and a window in which one had to wait for its processor is taken again. A
// goroutine locked to its thread takes longer to sleep and to wake than others, which matters where
// a library has a mutex.
const (
	attemptsMost = 20
	overlapLeast = 0.95
	chunkMost    = 8192 // operations between two looks at the flag that ends a window
)

// An operation, done times times on an object, from a step of the inputs on.
type work func(object int, from, times uint64)

type window struct {
	ns        float64    // processor time of an operation, the mean of the threads
	taken     [][]uint64 // operations of each thread, in each window, discarded ones too
	disturbed int        // windows that were taken again
	overlap   float64    // of the window that counts: processor over wall time, the least
}

type share struct{ done, inside, spent, wall uint64 }

// How often a thread gave its processor up, and how long it waited for one that it wanted.
type waits struct{ givenUp, queued uint64 }

func waitsSoFar() waits {
	var usage unix.Rusage
	var ran, queued uint64
	text, err := os.ReadFile("/proc/thread-self/schedstat")
	if err != nil || unix.Getrusage(unix.RUSAGE_THREAD, &usage) != nil {
		return waits{}
	}
	if _, err := fmt.Sscan(string(text), &ran, &queued); err != nil {
		return waits{}
	}
	return waits{uint64(usage.Nvcsw), queued}
}

func clock(id int32) uint64 {
	var now unix.Timespec
	if err := unix.ClockGettime(id, &now); err != nil {
		panic(err) // these clocks are always there
	}
	return uint64(now.Nano())
}

func processors() []int {
	var allowed unix.CPUSet
	if err := unix.SchedGetaffinity(0, &allowed); err != nil {
		return []int{0}
	}
	var all []int
	for cpu := 0; len(all) < allowed.Count(); cpu++ {
		if allowed.IsSet(cpu) {
			all = append(all, cpu)
		}
	}
	return all
}

// The goroutine ends locked to its thread, and the thread, pinned as it is, ends with it.
func pinThread(cpu int) {
	runtime.LockOSThread()
	var one unix.CPUSet
	one.Set(cpu)
	if err := unix.SchedSetaffinity(0, &one); err != nil {
		panic(err) // the processor is one of those that are allowed
	}
}

func takePart(arrived *atomic.Int32, ended *atomic.Bool, threads int, times uint64,
	cpu int, step func(from, times uint64)) share {
	pinThread(cpu)
	chunk := min(times, chunkMost)
	step(0, chunk) // first touches, outside the window
	before := waitsSoFar()
	arrived.Add(1)
	for int(arrived.Load()) < threads {
	}
	spent, wall := clock(unix.CLOCK_THREAD_CPUTIME_ID), clock(unix.CLOCK_MONOTONIC)
	inside := uint64(0)
	for inside < times && !ended.Load() {
		step(chunk+inside, chunk)
		inside += chunk
	}
	ended.Store(true)
	spent = clock(unix.CLOCK_THREAD_CPUTIME_ID) - spent
	wall = clock(unix.CLOCK_MONOTONIC) - wall
	after := waitsSoFar()
	// sleep in a lock is part of the cost; only waiting for a processor is a disturbance
	if awake := spent + after.queued - before.queued; after.givenUp > before.givenUp && wall > awake {
		spent += wall - awake
	}
	return share{inside + chunk, inside, spent, wall}
}

// Runs step in each thread until the first has done times.
func runTogether(threads int, times uint64, step func(thread int, from, times uint64)) window {
	result, allowed := window{overlap: -1}, processors()
	for n := 0; n < attemptsMost && result.overlap < overlapLeast; n++ {
		var arrived atomic.Int32
		var ended atomic.Bool
		var all sync.WaitGroup
		shares := make([]share, threads)
		for i := range shares {
			all.Add(1)
			go func() {
				defer all.Done()
				shares[i] = takePart(&arrived, &ended, threads, times, allowed[i],
					func(from, times uint64) { step(i, from, times) })
			}()
		}
		all.Wait()
		overlap, ns, done := 1.0, 0.0, []uint64{}
		for _, mine := range shares {
			done = append(done, mine.done)
			if mine.inside == 0 { // came too late to do anything
				overlap = 0
				continue
			}
			overlap = min(overlap, float64(mine.spent)/float64(mine.wall))
			ns += float64(mine.spent) / float64(mine.inside) / float64(threads)
		}
		result.taken = append(result.taken, done)
		if overlap < overlapLeast {
			result.disturbed++
		}
		if overlap > result.overlap {
			result.overlap, result.ns = overlap, ns
		}
	}
	return result
}
