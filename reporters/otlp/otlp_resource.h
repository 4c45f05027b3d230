/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The resource of OTLP bodies: which process reports, as attributes with OpenTelemetry's names.
 * Pure but for the host's name.
 *
 *     crest_page_label attributes[CREST_OTLP_ATTRIBUTES_MAX];
 *     char service[CREST_OTLP_SERVICE_BYTES];
 *     unsigned count = crest_otlp_resource(resource, more, more_count, service, attributes);
 *
 * service.name, service.version and service.instance.id are Crest's service, version and instance;
 * where Crest has none (for the instance: only the host's name), those of `more`. A process without
 * a name is "unknown_service:PROGRAM", as OpenTelemetry's specification wants it.
 */
#ifndef CREST_REPORTERS_OTLP_RESOURCE_H
#define CREST_REPORTERS_OTLP_RESOURCE_H

#include <crest/otlp.h>
#include <crest/reporter.h>

/* Bytes of a service's name that is made up. */
#define CREST_OTLP_SERVICE_BYTES 96u

/* Fills `attributes`, which point into the arguments, and returns how many there are. */
unsigned crest_otlp_resource(const crest_resource *resource, const crest_page_label *more,
                             unsigned more_count, char service[CREST_OTLP_SERVICE_BYTES],
                             crest_page_label attributes[CREST_OTLP_ATTRIBUTES_MAX]);

/* The labels of crest_target_info, as a page has them: service, version, instance and the further
 * labels. */
unsigned crest_otlp_target(const crest_resource *resource,
                           crest_page_label labels[CREST_OTLP_ATTRIBUTES_MAX]);

#endif
