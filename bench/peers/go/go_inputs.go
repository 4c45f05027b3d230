// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// How many values there are, and how many steps of the order: a power of two.
const steps = 65536

// What every side is given to do, as `make bench` writes it: bench/README.md says what is what.
type inputs struct {
	values  []int64
	floats  []float64 // the values as the peers take them
	order   []uint32
	names   []string // with underscores, as Prometheus wants them
	labels  [][]string
	bounds  []float64 // nanoseconds
	seconds []float64 // the same bounds
	threads []int
}

func readInputs(folder string) (*inputs, error) {
	given := &inputs{}
	for _, read := range []func(string) error{given.readNumbers, given.readTexts} {
		if err := read(folder); err != nil {
			return nil, err
		}
	}
	for _, metric := range given.order {
		if int(metric) >= len(given.names) || int(metric) >= len(given.labels) {
			return nil, fmt.Errorf("order.u32 has metric %d, of which there is no name", metric)
		}
	}
	return given, nil
}

func (given *inputs) readNumbers(folder string) error {
	values, err := readExactly(filepath.Join(folder, "values.i64"), 8*steps)
	if err != nil {
		return err
	}
	order, err := readExactly(filepath.Join(folder, "order.u32"), 4*steps)
	if err != nil {
		return err
	}
	for i := 0; i < steps; i++ {
		value := int64(binary.LittleEndian.Uint64(values[8*i:]))
		given.values = append(given.values, value)
		given.floats = append(given.floats, float64(value))
		given.order = append(given.order, binary.LittleEndian.Uint32(order[4*i:]))
	}
	return nil
}

func (given *inputs) readTexts(folder string) error {
	lines := map[string][]string{}
	for _, name := range []string{"names.txt", "labels.txt", "bounds.txt", "workload.txt"} {
		text, err := os.ReadFile(filepath.Join(folder, name))
		if err != nil {
			return err
		}
		lines[name] = strings.Split(strings.TrimRight(string(text), "\n"), "\n")
	}
	for _, line := range lines["names.txt"] {
		given.names = append(given.names, strings.NewReplacer(".", "_", "-", "_").Replace(line))
	}
	for _, line := range lines["labels.txt"] {
		given.labels = append(given.labels, strings.Split(line, "\t"))
	}
	for _, line := range lines["bounds.txt"] {
		bound, err := strconv.ParseFloat(line, 64)
		if err != nil {
			return fmt.Errorf("bounds.txt: %w", err)
		}
		given.bounds = append(given.bounds, bound)
		given.seconds = append(given.seconds, bound/1e9)
	}
	for _, line := range lines["workload.txt"] {
		words := strings.Fields(line)
		for i := 1; i < len(words) && words[0] == "threads"; i++ {
			threads, err := strconv.Atoi(words[i])
			if err != nil {
				return fmt.Errorf("workload.txt: %w", err)
			}
			given.threads = append(given.threads, threads)
		}
	}
	return nil
}

func readExactly(path string, size int) ([]byte, error) {
	read, err := os.ReadFile(path)
	if err == nil && len(read) != size {
		err = fmt.Errorf("%s has %d bytes and not %d", path, len(read), size)
	}
	return read, err
}

// Which steps of the inputs were taken, and how often: from it follows what must have been left.
type taken struct {
	count uint64
	turns int64            // whole rounds
	edges [steps + 1]int64 // where parts of rounds begin (+1) and end (-1)
	last  []uint64         // the last step of each thread of the last window
}

// What the threads of a window took of one object, each from step 0 on.
func (t *taken) addWindow(times ...uint64) {
	t.last = t.last[:0]
	for _, each := range times {
		t.add(0, each)
		t.last = append(t.last, each-1)
	}
}

// Steps from, from+1 and so on, times of them, round and round.
func (t *taken) add(from, times uint64) {
	t.count += times
	t.turns += int64(times / steps)
	begin, end := from%steps, from%steps+times%steps
	t.edges[begin]++
	if end > steps {
		t.edges[steps]--
		t.edges[0]++
		end -= steps
	}
	t.edges[end]--
}

// Calls each with every step and how often it was taken.
func (t *taken) each(call func(step int, often uint64)) {
	often := t.turns
	for step := 0; step < steps; step++ {
		often += t.edges[step]
		call(step, uint64(often))
	}
}

// The sum of the values of all steps taken.
func (t *taken) sum(given *inputs) uint64 {
	sum := uint64(0)
	t.each(func(step int, often uint64) { sum += often * uint64(given.values[step]) })
	return sum
}

// How often each metric was taken.
func (t *taken) metrics(given *inputs) []uint64 {
	counts := make([]uint64, len(given.names))
	t.each(func(step int, often uint64) { counts[given.order[step]] += often })
	return counts
}
