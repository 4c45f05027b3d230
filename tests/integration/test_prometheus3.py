#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# crest-test: timeout=480 go-servers
"""What nodes meet today: a Prometheus 3.16, a Pushgateway 1.11.1 and a VictoriaMetrics 1.131 read
native histograms and text pages, and know the same totals as those that Debian has.
"""

import test_native_histograms
from goservers import Prometheus3, Pushgateway1, VictoriaMetrics, main
from test_scrape import Node, Totals


def native_histograms_are_one_series(place):
    test_native_histograms.check_what_is_known(
        place, lambda place, node: Prometheus3(place, [node]))


def a_gateway_passes_native_histograms_on(place):
    test_native_histograms.check_pushes(
        place, Pushgateway1(place), lambda place, gateway: Prometheus3(place, [gateway]))


def text_pages_and_both_kinds_in_one_family_are_read(place):
    """By one Prometheus as text, by another as protobuf with classic and native buckets, and
    by VictoriaMetrics."""
    node = Node(place)
    readers = [Prometheus3(place, [node], native=False), Prometheus3(place, [node], classic=True),
               VictoriaMetrics(place, [node])]
    for reader in readers:
        reader.start()
    totals = Totals()
    totals.record(node, 4, 1000)
    for reader in readers:
        totals.check(reader)
    readers[1].check_value("histogram_count(scrape_message_size_bytes)", sum(totals.sizes))


if __name__ == "__main__":
    main([native_histograms_are_one_series, a_gateway_passes_native_histograms_on,
          text_pages_and_both_kinds_in_one_family_are_read],
         "prometheus", "pushgateway", "victoriametrics")
