/* SPDX-License-Identifier: Apache-2.0 */
/*
 * OTLP as protobuf: opentelemetry.proto.collector.metrics.v1.ExportMetricsServiceRequest. Fields go
 * out in the order of their numbers, so that decoding and encoding again gives the same bytes.
 */
#ifndef CREST_OTLP_PROTOBUF_H
#define CREST_OTLP_PROTOBUF_H

#include "otlp/otlp_inside.h"

extern const crest_otlp_format crest_otlp_format_protobuf;

#endif
