// SPDX-License-Identifier: Apache-2.0

// The side of Go's metrics libraries: client_golang and VictoriaMetrics/metrics. bench/README.md
// has the protocol; go_client.go and go_victoria.go have the operations.
//
// The garbage collector runs between rounds and, up to the bound below, at no other time: what a
// library allocates costs it the allocation only, which is in its favour.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"runtime"
	"runtime/debug"
	"strings"

	"golang.org/x/sys/unix"
)

const (
	heapMost = 2 << 30 // bytes, from which on it is collected in a round too
	objects  = 8       // of each kind this many in turn, as where one lies in memory counts
)

type benchmark struct {
	ID    string `json:"id"`
	Unit  string `json:"unit"`
	round func() sample
}

type missing struct {
	ID  string `json:"id"`
	Why string `json:"why"`
}

type sample struct {
	ID        string  `json:"id"`
	Value     float64 `json:"value"`
	Disturbed int     `json:"disturbed"`
	Overlap   float64 `json:"overlap"`
}

type check struct {
	Check string `json:"check"`
	Found uint64 `json:"found"`
	Asked uint64 `json:"asked"`
}

type side struct {
	given      *inputs
	only       *regexp.Regexp
	benchmarks []benchmark
	missing    []missing
	checks     []func() []check
	out        *json.Encoder
}

// How an operation is measured.
type plan struct {
	id       string // PEER/OPERATION/SPREAD
	objects  int
	times    uint64 // operations of a sample on one object
	together uint64 // operations of a window of several threads
	work     work
	left     left
}

// What an operation left behind, looked at when all is done, beside what was taken of each object.
type left func(s *side, id string, took []*taken) []check

type spread struct {
	name    string
	threads int
	same    bool
}

func (s *side) spreads() []spread {
	all := []spread{{"1", 1, true}}
	for _, threads := range s.given.threads {
		if threads > 1 {
			all = append(all, spread{fmt.Sprintf("%d-same", threads), threads, true},
				spread{fmt.Sprintf("%d-separate", threads), threads, false})
		}
	}
	return all
}

// How many sets of all names' metrics there are: one for each thread of the most.
func (s *side) sets() int {
	most := 1
	for _, how := range s.spreads() {
		if how.threads <= len(processors()) {
			most = max(most, how.threads)
		}
	}
	return most
}

// Adds an operation, with one thread and with several.
func (s *side) add(p plan) {
	took := make([]*taken, p.objects)
	for i := range took {
		took[i] = &taken{}
	}
	for _, how := range s.spreads() {
		id := p.id + "/" + how.name
		if !s.only.MatchString(id) {
			continue
		}
		if most := len(processors()); how.threads > most {
			s.miss(id, fmt.Sprintf("there are %d processors here", most))
			continue
		}
		if !how.same && how.threads > p.objects {
			continue
		}
		round := func() sample { return oneAlone(id, p, took) }
		if how.threads > 1 {
			round = func() sample { return severalTogether(id, p, how, took) }
		}
		s.benchmarks = append(s.benchmarks, benchmark{id, "ns", round})
	}
	s.checks = append(s.checks, func() []check { return p.left(s, p.id, took) })
}

func (s *side) miss(id, why string) {
	if s.only.MatchString(id) {
		s.missing = append(s.missing, missing{id, why})
	}
}

func oneAlone(id string, p plan, took []*taken) sample {
	then := clock(unix.CLOCK_THREAD_CPUTIME_ID)
	for object := range took {
		p.work(object, 0, p.times)
	}
	spent := clock(unix.CLOCK_THREAD_CPUTIME_ID) - then
	for _, mine := range took {
		mine.addWindow(p.times)
	}
	return sample{id, float64(spent) / float64(p.times) / float64(len(took)), 0, 1}
}

// Two windows, on other objects.
func severalTogether(id string, p plan, how spread, took []*taken) sample {
	all := sample{id, 0, 0, 1}
	for n := 0; n < 2; n++ {
		object := func(thread int) int {
			if how.same {
				return n % len(took)
			}
			return (n + thread) % len(took)
		}
		result := runTogether(how.threads, p.together,
			func(thread int, from, times uint64) { p.work(object(thread), from, times) })
		for _, each := range result.taken {
			byObject := map[int][]uint64{}
			for thread, done := range each {
				byObject[object(thread)] = append(byObject[object(thread)], done)
			}
			for which, times := range byObject {
				took[which].addWindow(times...)
			}
		}
		all.Value += result.ns / 2
		all.Disturbed += result.disturbed
		all.Overlap = min(all.Overlap, result.overlap)
	}
	return all
}

func (s *side) say(what any) {
	if err := s.out.Encode(what); err != nil {
		os.Exit(2) // the runner is gone
	}
}

func versions() map[string]string {
	all := map[string]string{"go": strings.TrimPrefix(runtime.Version(), "go")}
	if built, ok := debug.ReadBuildInfo(); ok {
		for _, module := range built.Deps {
			switch module.Path {
			case "github.com/prometheus/client_golang":
				all["client_golang"] = strings.TrimPrefix(module.Version, "v")
			case "github.com/VictoriaMetrics/metrics":
				all["VictoriaMetrics/metrics"] = strings.TrimPrefix(module.Version, "v")
			}
		}
	}
	return all
}

func (s *side) run() int {
	s.say(map[string]any{"side": "go", "versions": versions(), "benchmarks": s.benchmarks,
		"missing": s.missing})
	debug.SetGCPercent(-1)
	debug.SetMemoryLimit(heapMost)
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		switch {
		case lines.Text() == "finish":
			return s.finish()
		case strings.HasPrefix(lines.Text(), "round "):
			runtime.GC()
			for _, each := range s.benchmarks {
				s.say(each.round())
			}
			s.say(map[string]string{"done": "round"})
		}
	}
	return 2
}

func (s *side) finish() int {
	status := 0
	for _, left := range s.checks {
		for _, one := range left() {
			s.say(one)
			if one.Found != one.Asked {
				status = 1
			}
		}
	}
	s.say(map[string]string{"done": "finish"})
	return status
}

func begin(arguments []string) (*side, error) {
	folder, only := "", ".*"
	for _, word := range arguments {
		if text, found := strings.CutPrefix(word, "--inputs="); found {
			folder = text
		} else if text, found := strings.CutPrefix(word, "--only="); found {
			only = text
		}
	}
	if folder == "" {
		return nil, fmt.Errorf("usage: side --inputs=DIR [--only=REGEX]; `make bench` starts it")
	}
	given, err := readInputs(folder)
	if err != nil {
		return nil, err
	}
	wanted, err := regexp.Compile(only)
	return &side{given: given, only: wanted, benchmarks: []benchmark{}, missing: []missing{},
		out: json.NewEncoder(os.Stdout)}, err
}

func main() {
	runtime.LockOSThread() // processor time is a thread's
	mine, err := begin(os.Args[1:])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	addClient(mine)
	addVictoria(mine)
	os.Exit(mine.run())
}
