// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"time"

	vm "github.com/VictoriaMetrics/metrics"
)

// VictoriaMetrics/metrics, as its documentation says is fastest
// (https://pkg.go.dev/github.com/VictoriaMetrics/metrics): metrics are made once and held
// ("Performance tip: prefer NewCounter instead of GetOrCreateCounter"). Its histograms have bounds
// of their own, 18 to each power of ten, and no others, so not those of bounds.txt, and a mutex
// each. Label values are a part of the name, which the application puts together. Metrics of 8
// bytes lie side by side, in one cache line, as in a program that makes them one after the other.
type victoria struct {
	given *inputs
	all   *vm.Set
	page  map[string]float64 // what WritePrometheus says, by name and labels
}

func addVictoria(s *side) {
	v := &victoria{given: s.given, all: vm.NewSet()}
	v.addHot(s)
	v.addTimed(s)
	v.addRandom(s)
	v.addByName(s)
	v.addLabelled(s)
}

// Reads all series back, once: when the first of them is asked for, all is done.
func (v *victoria) read(series string) float64 {
	if v.page == nil {
		v.page = map[string]float64{}
		var text bytes.Buffer
		v.all.WritePrometheus(&text)
		for _, line := range strings.Split(text.String(), "\n") {
			at := strings.LastIndexByte(line, ' ')
			if value, err := strconv.ParseFloat(line[at+1:], 64); at > 0 && err == nil {
				v.page[line[:at]] = value
			}
		}
	}
	return v.page[series]
}

func (v *victoria) count(series string) uint64 {
	return uint64(v.read(series))
}

// Counters and gauges: one, again and again.
func (v *victoria) addHot(s *side) {
	var hotCounters [objects]*vm.Counter
	var hotGauges [objects]*vm.Gauge
	for i := range objects {
		hotCounters[i] = v.all.NewCounter(fmt.Sprintf("hot_counter_%d", i))
		hotGauges[i] = v.all.NewGauge(fmt.Sprintf("hot_gauge_%d", i), nil)
	}
	s.add(plan{id: "go-victoria/counter/hot", objects: objects, times: 1 << 17, together: 1 << 18,
		work: func(object int, from, times uint64) {
			counter := hotCounters[object]
			for range times {
				counter.Inc()
			}
		},
		left: counts(func(i int) uint64 { return v.count(fmt.Sprintf("hot_counter_%d", i)) })})
	s.add(plan{id: "go-victoria/gauge/hot", objects: objects, times: 1 << 17, together: 1 << 18,
		work: func(object int, from, times uint64) {
			gauge := hotGauges[object]
			for i := from; i < from+times; i++ {
				gauge.Set(float64(i))
			}
		},
		left: gauges(func(i int) float64 { return v.read(fmt.Sprintf("hot_gauge_%d", i)) })})
}

// Histograms and timers: one, again and again.
func (v *victoria) addTimed(s *side) {
	var histograms, timers [objects]*vm.Histogram
	for i := range objects {
		histograms[i] = v.all.NewHistogram(fmt.Sprintf("hot_histogram_%d", i))
		timers[i] = v.all.NewHistogram(fmt.Sprintf("hot_timer_%d", i))
	}
	floats := v.given.floats
	s.add(plan{id: "go-victoria/histogram/hot", objects: objects, times: 1 << 15,
		together: 1 << 16,
		work: func(object int, from, times uint64) {
			histogram := histograms[object]
			for i := from; i < from+times; i++ {
				histogram.Update(floats[i%steps])
			}
		},
		left: sums(func(i int) (uint64, float64) {
			name := fmt.Sprintf("hot_histogram_%d", i)
			return v.count(name + "_count"), v.read(name + "_sum")
		})})
	s.add(plan{id: "go-victoria/timer/hot", objects: objects, times: 1 << 14,
		together: 1 << 15,
		work: func(object int, from, times uint64) {
			timer := timers[object]
			for range times {
				timer.UpdateDuration(time.Now())
			}
		},
		left: counts(func(i int) uint64 { return v.count(fmt.Sprintf("hot_timer_%d_count", i)) })})
}

// The names' metrics, held in variables, in the order.
func (v *victoria) addRandom(s *side) {
	sets := s.sets()
	counters, histograms := make([][]*vm.Counter, sets), make([][]*vm.Histogram, sets)
	name := func(set, metric int) string {
		return fmt.Sprintf("%s_%d", v.given.names[metric], set)
	}
	for set := range sets {
		for metric := range v.given.names {
			counters[set] = append(counters[set], v.all.NewCounter(name(set, metric)))
			histograms[set] = append(histograms[set], v.all.NewHistogram(name(set, metric)+"_ns"))
		}
	}
	order, floats := v.given.order, v.given.floats
	s.add(plan{id: "go-victoria/counter/random", objects: sets, times: 1 << 18, together: 1 << 18,
		work: func(object int, from, times uint64) {
			mine := counters[object]
			for i := from; i < from+times; i++ {
				mine[order[i%steps]].Inc()
			}
		},
		left: metrics(func(set, i int) uint64 { return v.count(name(set, i)) })})
	s.add(plan{id: "go-victoria/histogram/random", objects: sets, times: 1 << 16,
		together: 1 << 16,
		work: func(object int, from, times uint64) {
			mine := histograms[object]
			for i := from; i < from+times; i++ {
				mine[order[i%steps]].Update(floats[i%steps])
			}
		},
		left: metrics(func(set, i int) uint64 { return v.count(name(set, i) + "_ns_count") })})
}

// A name to a metric each time; a set of names is a namespace of its own.
func (v *victoria) addByName(s *side) {
	sets := s.sets()
	hot := make([]string, objects)
	for i := range hot {
		hot[i] = fmt.Sprintf("by_name_hot_%d", i)
	}
	random := make([][]string, sets)
	for set := range random {
		for _, name := range v.given.names {
			random[set] = append(random[set], fmt.Sprintf("by_name_%d_%s", set, name))
		}
	}
	order, floats := v.given.order, v.given.floats
	s.add(plan{id: "go-victoria/counter-by-name/hot", objects: objects, times: 1 << 14,
		together: 1 << 15,
		work: func(object int, from, times uint64) {
			name := hot[object]
			for range times {
				v.all.GetOrCreateCounter(name).Inc()
			}
		},
		left: counts(func(i int) uint64 { return v.count(hot[i]) })})
	s.add(plan{id: "go-victoria/counter-by-name/random", objects: sets, times: 1 << 15,
		together: 1 << 15,
		work: func(object int, from, times uint64) {
			names := random[object]
			for i := from; i < from+times; i++ {
				v.all.GetOrCreateCounter(names[order[i%steps]]).Inc()
			}
		},
		left: metrics(func(set, i int) uint64 { return v.count(random[set][i]) })})
	spreads := make([][]string, sets)
	for set := range spreads {
		for _, name := range random[set] {
			spreads[set] = append(spreads[set], name+"_ns")
		}
	}
	s.add(plan{id: "go-victoria/histogram-by-name/random", objects: sets, times: 1 << 15,
		together: 1 << 15,
		work: func(object int, from, times uint64) {
			names := spreads[object]
			for i := from; i < from+times; i++ {
				v.all.GetOrCreateHistogram(names[order[i%steps]]).Update(floats[i%steps])
			}
		},
		left: metrics(func(set, i int) uint64 { return v.count(spreads[set][i] + "_count") })})
}

// The series that the label values name; a buffer and %q would be slower, a + is one allocation.
func (v *victoria) labelled(family string, values []string) string {
	return family + `{k0="` + values[0] + `",k1="` + values[1] + `",k2="` + values[2] + `"}`
}

// Label values to a metric each time.
func (v *victoria) addLabelled(s *side) {
	if keys := len(v.given.labels[0]); keys != 3 {
		s.miss("go-victoria/counter-labelled/random/1",
			fmt.Sprintf("the names of series are put together of 3 labels, and there are %d", keys))
		return
	}
	families := make([]string, s.sets())
	for set := range families {
		families[set] = fmt.Sprintf("labelled_%d", set)
	}
	labels, order := v.given.labels, v.given.order
	s.add(plan{id: "go-victoria/counter-labelled/hot", objects: objects, times: 1 << 13,
		together: 1 << 15,
		work: func(object int, from, times uint64) {
			values := labels[object]
			for range times {
				v.all.GetOrCreateCounter(v.labelled("labelled_hot", values)).Inc()
			}
		},
		left: counts(func(i int) uint64 { return v.count(v.labelled("labelled_hot", labels[i])) })})
	s.add(plan{id: "go-victoria/counter-labelled/random", objects: len(families), times: 1 << 15,
		together: 1 << 15,
		work: func(object int, from, times uint64) {
			family := families[object]
			for i := from; i < from+times; i++ {
				v.all.GetOrCreateCounter(v.labelled(family, labels[order[i%steps]])).Inc()
			}
		},
		left: metrics(func(set, i int) uint64 {
			return v.count(v.labelled(families[set], labels[i]))
		})})
}
