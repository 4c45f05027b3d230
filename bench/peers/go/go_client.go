// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
)

// client_golang, as its documentation says is fastest
// (https://pkg.go.dev/github.com/prometheus/client_golang/prometheus): "Keeping the Counter for
// later use is possible (and should be considered if performance is critical)" and label values by
// position, as Labels come "with a performance overhead" (CounterVec.GetMetricWithLabelValues);
// counters by Inc, which has "optimal performance" (NewCounter); spreads by histograms, whose
// Observe has "a very low performance overhead in comparison with" a Summary's (Histogram).
type client struct {
	given    *inputs
	registry *prometheus.Registry
}

func addClient(s *side) {
	c := &client{s.given, prometheus.NewRegistry()}
	c.addHot(s)
	c.addTimed(s)
	c.addRandom(s)
	c.addLabelled(s)
	for _, operation := range []string{"counter", "gauge", "histogram"} {
		s.miss("go-client/"+operation+"-by-name/random/1",
			"client_golang has no way from a name to a metric: its users keep variables")
	}
}

func (c *client) counter(name string) prometheus.Counter {
	made := prometheus.NewCounter(prometheus.CounterOpts{Name: name, Help: "Counts."})
	c.registry.MustRegister(made)
	return made
}

func (c *client) gauge(name string) prometheus.Gauge {
	made := prometheus.NewGauge(prometheus.GaugeOpts{Name: name, Help: "Is set."})
	c.registry.MustRegister(made)
	return made
}

func (c *client) histogram(name string, bounds []float64) prometheus.Histogram {
	made := prometheus.NewHistogram(
		prometheus.HistogramOpts{Name: name, Help: "Spreads.", Buckets: bounds})
	c.registry.MustRegister(made)
	return made
}

func clientRead(one any) *dto.Metric {
	var read dto.Metric
	if err := one.(prometheus.Metric).Write(&read); err != nil {
		panic(err) // a metric without labels always can
	}
	return &read
}

func clientCount(counter any) uint64 {
	return uint64(clientRead(counter).GetCounter().GetValue())
}

func clientCounted(histogram any) uint64 {
	return clientRead(histogram).GetHistogram().GetSampleCount()
}

// Counters and gauges: one, again and again.
func (c *client) addHot(s *side) {
	var hotCounters [objects]prometheus.Counter
	var hotGauges [objects]prometheus.Gauge
	for i := range objects {
		hotCounters[i] = c.counter(fmt.Sprintf("hot_counter_%d", i))
		hotGauges[i] = c.gauge(fmt.Sprintf("hot_gauge_%d", i))
	}
	s.add(plan{id: "go-client/counter/hot", objects: objects, times: 1 << 17, together: 1 << 18,
		work: func(object int, from, times uint64) {
			counter := hotCounters[object]
			for range times {
				counter.Inc()
			}
		},
		left: counts(func(i int) uint64 { return clientCount(hotCounters[i]) })})
	s.add(plan{id: "go-client/gauge/hot", objects: objects, times: 1 << 17, together: 1 << 18,
		work: func(object int, from, times uint64) {
			gauge := hotGauges[object]
			for i := from; i < from+times; i++ {
				gauge.Set(float64(i))
			}
		},
		left: gauges(func(i int) float64 {
			return clientRead(hotGauges[i]).GetGauge().GetValue()
		})})
}

// Histograms and timers: one, again and again.
func (c *client) addTimed(s *side) {
	var histograms, timers [objects]prometheus.Histogram
	for i := range objects {
		histograms[i] = c.histogram(fmt.Sprintf("hot_histogram_%d", i), c.given.bounds)
		timers[i] = c.histogram(fmt.Sprintf("hot_timer_%d", i), c.given.seconds)
	}
	floats := c.given.floats
	s.add(plan{id: "go-client/histogram/hot", objects: objects, times: 1 << 15, together: 1 << 16,
		work: func(object int, from, times uint64) {
			histogram := histograms[object]
			for i := from; i < from+times; i++ {
				histogram.Observe(floats[i%steps])
			}
		},
		left: sums(func(i int) (uint64, float64) {
			read := clientRead(histograms[i]).GetHistogram()
			return read.GetSampleCount(), read.GetSampleSum()
		})})
	// What its Timer does, without the object that NewTimer makes.
	s.add(plan{id: "go-client/timer/hot", objects: objects, times: 1 << 14, together: 1 << 15,
		work: func(object int, from, times uint64) {
			timer := timers[object]
			for range times {
				start := time.Now()
				timer.Observe(time.Since(start).Seconds())
			}
		},
		left: counts(func(i int) uint64 { return clientCounted(timers[i]) })})
}

// The names' metrics, held in variables, in the order.
func (c *client) addRandom(s *side) {
	sets := s.sets()
	counters := make([][]prometheus.Counter, sets)
	histograms := make([][]prometheus.Histogram, sets)
	for set := range sets {
		for _, name := range c.given.names {
			counters[set] = append(counters[set], c.counter(fmt.Sprintf("%s_%d", name, set)))
			histograms[set] = append(histograms[set],
				c.histogram(fmt.Sprintf("%s_ns_%d", name, set), c.given.bounds))
		}
	}
	order, floats := c.given.order, c.given.floats
	s.add(plan{id: "go-client/counter/random", objects: sets, times: 1 << 18, together: 1 << 18,
		work: func(object int, from, times uint64) {
			mine := counters[object]
			for i := from; i < from+times; i++ {
				mine[order[i%steps]].Inc()
			}
		},
		left: metrics(func(set, i int) uint64 { return clientCount(counters[set][i]) })})
	s.add(plan{id: "go-client/histogram/random", objects: sets, times: 1 << 16, together: 1 << 16,
		work: func(object int, from, times uint64) {
			mine := histograms[object]
			for i := from; i < from+times; i++ {
				mine[order[i%steps]].Observe(floats[i%steps])
			}
		},
		left: metrics(func(set, i int) uint64 { return clientCounted(histograms[set][i]) })})
}

// Label values to a handle each time, of one family in each set; the hot ones are its first.
func (c *client) addLabelled(s *side) {
	var keys []string
	for key := range c.given.labels[0] {
		keys = append(keys, fmt.Sprintf("k%d", key))
	}
	sets, labels, order, floats := s.sets(), c.given.labels, c.given.order, c.given.floats
	vectors := func(name string) []*prometheus.CounterVec {
		made := make([]*prometheus.CounterVec, sets)
		for set := range made {
			made[set] = prometheus.NewCounterVec(prometheus.CounterOpts{
				Name: fmt.Sprintf("%s_%d", name, set), Help: "Counts."}, keys)
			c.registry.MustRegister(made[set])
		}
		return made
	}
	hot, random := vectors("labelled_hot")[0], vectors("labelled")
	s.add(plan{id: "go-client/counter-labelled/hot", objects: objects, times: 1 << 13,
		together: 1 << 15,
		work: func(object int, from, times uint64) {
			values := labels[object]
			for range times {
				hot.WithLabelValues(values...).Inc()
			}
		},
		left: counts(func(i int) uint64 { return clientCount(hot.WithLabelValues(labels[i]...)) })})
	s.add(plan{id: "go-client/counter-labelled/random", objects: sets, times: 1 << 15,
		together: 1 << 15,
		work: func(object int, from, times uint64) {
			family := random[object]
			for i := from; i < from+times; i++ {
				family.WithLabelValues(labels[order[i%steps]]...).Inc()
			}
		},
		left: metrics(func(set, i int) uint64 {
			return clientCount(random[set].WithLabelValues(labels[i]...))
		})})
	spreads := make([]*prometheus.HistogramVec, sets)
	for set := range spreads {
		spreads[set] = prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: fmt.Sprintf("labelled_ns_%d", set), Help: "Spreads.", Buckets: c.given.bounds,
		}, keys)
		c.registry.MustRegister(spreads[set])
	}
	s.add(plan{id: "go-client/histogram-labelled/random", objects: sets, times: 1 << 15,
		together: 1 << 15,
		work: func(object int, from, times uint64) {
			family := spreads[object]
			for i := from; i < from+times; i++ {
				family.WithLabelValues(labels[order[i%steps]]...).Observe(floats[i%steps])
			}
		},
		left: metrics(func(set, i int) uint64 {
			return clientCounted(spreads[set].WithLabelValues(labels[i]...))
		})})
}
