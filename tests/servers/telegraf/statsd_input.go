// SPDX-License-Identifier: Apache-2.0

// Telegraf's input for StatsD, without the agent around it, which would bring every other plugin's
// modules. Takes datagrams at the first port, and answers a GET at the second with what a gathering
// by the agent would have: a JSON list of pairs, name with tags and an object of fields. Called as
// telegraf STATSD_PORT PORT [datadog].
package main

import (
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"os"
	"sort"
	"strings"
	"sync"
	"time"

	"github.com/influxdata/telegraf"
	"github.com/influxdata/telegraf/logger"
	"github.com/influxdata/telegraf/plugins/inputs/statsd"
)

// gathered is an Accumulator that keeps what it is given.
type gathered struct {
	telegraf.Accumulator // nil: what the input does not call
	sync.Mutex
	pairs [][2]any
}

func (g *gathered) add(name string, fields map[string]any, tags map[string]string) {
	words := []string{name}
	for key, value := range tags {
		words = append(words, key+"="+value)
	}
	sort.Strings(words[1:])
	g.Lock()
	defer g.Unlock()
	g.pairs = append(g.pairs, [2]any{strings.Join(words, ","), fields})
}

func (g *gathered) AddFields(name string, fields map[string]any, tags map[string]string,
	_ ...time.Time) {
	g.add(name, fields, tags)
}

func (g *gathered) AddGauge(name string, fields map[string]any, tags map[string]string,
	_ ...time.Time) {
	g.add(name, fields, tags)
}

func (g *gathered) AddCounter(name string, fields map[string]any, tags map[string]string,
	_ ...time.Time) {
	g.add(name, fields, tags)
}

func (g *gathered) AddError(err error) {
	log.Print(err)
}

func main() {
	if len(os.Args) < 3 {
		log.Fatal("usage: telegraf STATSD_PORT PORT [datadog]")
	}
	datadog := len(os.Args) > 3 && os.Args[3] == "datadog"
	input := &statsd.Statsd{
		Protocol: "udp", ServiceAddress: "127.0.0.1:" + os.Args[1],
		AllowedPendingMessages: 10000, NumberWorkerThreads: 2, MetricSeparator: ".",
		Percentiles: []statsd.Number{50, 90, 99}, PercentileLimit: 1000000,
		DataDogExtensions: datadog, DataDogDistributions: datadog,
		Log: logger.New("inputs", "statsd", ""),
	}
	if err := input.Start(&gathered{}); err != nil {
		log.Fatal(err)
	}
	http.HandleFunc("/", func(answer http.ResponseWriter, _ *http.Request) {
		found := &gathered{}
		if err := input.Gather(found); err != nil {
			http.Error(answer, err.Error(), http.StatusInternalServerError)
			return
		}
		text, err := json.Marshal(found.pairs)
		if err != nil {
			http.Error(answer, err.Error(), http.StatusInternalServerError)
			return
		}
		fmt.Fprintf(answer, "%s\n", text)
	})
	log.Fatal(http.ListenAndServe("127.0.0.1:"+os.Args[2], nil))
}
