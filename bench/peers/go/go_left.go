// SPDX-License-Identifier: Apache-2.0

package main

import "fmt"

// Each object's count equals the operations asked of it; read reads one back.
func counts(read func(object int) uint64) left {
	return func(_ *side, id string, took []*taken) []check {
		var all []check
		for i, mine := range took {
			all = append(all, check{fmt.Sprintf("%s, number %d", id, i), read(i), mine.count})
		}
		return all
	}
}

// The same of histograms, and the sums of the values; read says both.
func sums(read func(object int) (uint64, float64)) left {
	return func(s *side, id string, took []*taken) []check {
		var all []check
		for i, mine := range took {
			count, sum := read(i)
			all = append(all, check{fmt.Sprintf("%s, number %d", id, i), count, mine.count},
				check{fmt.Sprintf("%s, sum of number %d", id, i), uint64(sum), mine.sum(s.given)})
		}
		return all
	}
}

// Gauges have the step they were set to last. Of two threads either may have been the last.
func gauges(read func(object int) float64) left {
	return func(_ *side, id string, took []*taken) []check {
		var all []check
		for i, mine := range took {
			if mine.count == 0 {
				continue
			}
			value := uint64(read(i))
			asked := mine.last[0]
			for _, last := range mine.last {
				if value == last {
					asked = last
				}
			}
			all = append(all, check{fmt.Sprintf("%s, number %d", id, i), value, asked})
		}
		return all
	}
}

// Each of the names' metrics was counted as often as the order has it; an object is a set of them.
func metrics(read func(set, metric int) uint64) left {
	return func(s *side, id string, took []*taken) []check {
		var all []check
		for set, mine := range took {
			right, count := uint64(0), uint64(0)
			asked := mine.metrics(s.given)
			for metric := range asked {
				found := read(set, metric)
				count += found
				if found == asked[metric] {
					right++
				}
			}
			all = append(all, check{fmt.Sprintf("%s, set %d", id, set), count, mine.count},
				check{fmt.Sprintf("%s, metrics of set %d", id, set), right, uint64(len(asked))})
		}
		return all
	}
}
