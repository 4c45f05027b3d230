/* SPDX-License-Identifier: Apache-2.0 */
/* The resource of OTLP bodies. See otlp_resource.h. */
#define _GNU_SOURCE
#include "otlp/otlp_resource.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

typedef struct otlp_resource_list {
    crest_page_label *labels;
    unsigned count;
} otlp_resource_list;

/* The first of a key stands; an empty value is none. */
static void otlp_resource_add(otlp_resource_list *list, const char *key, const char *value)
{
    if (value == NULL || value[0] == '\0' || list->count == CREST_OTLP_ATTRIBUTES_MAX)
        return;
    for (unsigned i = 0; i < list->count; i++)
        if (strcmp(list->labels[i].key, key) == 0)
            return;
    list->labels[list->count++] = (crest_page_label){key, value};
}

static int otlp_resource_is_host(const char *instance)
{
    char host[CREST_RESOURCE_BYTES_MAX + 1] = "";
    return gethostname(host, sizeof host - 1) == 0 && strcmp(instance, host) == 0;
}

static const char *otlp_resource_find(const crest_page_label *labels, unsigned count,
                                      const char *key)
{
    for (unsigned i = 0; i < count; i++)
        if (strcmp(labels[i].key, key) == 0)
            return labels[i].value;
    return NULL;
}

unsigned crest_otlp_resource(const crest_resource *resource, const crest_page_label *more,
                             unsigned more_count, char service[CREST_OTLP_SERVICE_BYTES],
                             crest_page_label attributes[CREST_OTLP_ATTRIBUTES_MAX])
{
    otlp_resource_list list = {attributes, 0};
    const char *instance = resource->instance;
    if (instance != NULL && otlp_resource_is_host(instance) &&
        otlp_resource_find(more, more_count, "service.instance.id") != NULL)
        instance = NULL;
    otlp_resource_add(&list, "service.name", resource->service);
    otlp_resource_add(&list, "service.name", otlp_resource_find(more, more_count, "service.name"));
    snprintf(service, CREST_OTLP_SERVICE_BYTES, "unknown_service:%s",
             program_invocation_short_name);
    otlp_resource_add(&list, "service.name", service);
    otlp_resource_add(&list, "service.version", resource->version);
    otlp_resource_add(&list, "service.instance.id", instance);
    for (unsigned i = 0; i < resource->label_count; i++)
        otlp_resource_add(&list, resource->labels[i].key, resource->labels[i].value);
    for (unsigned i = 0; i < more_count; i++)
        otlp_resource_add(&list, more[i].key, more[i].value);
    return list.count;
}

unsigned crest_otlp_target(const crest_resource *resource,
                           crest_page_label labels[CREST_OTLP_ATTRIBUTES_MAX])
{
    otlp_resource_list list = {labels, 0};
    otlp_resource_add(&list, "service", resource->service);
    otlp_resource_add(&list, "version", resource->version);
    otlp_resource_add(&list, "instance", resource->instance);
    for (unsigned i = 0; i < resource->label_count; i++)
        otlp_resource_add(&list, resource->labels[i].key, resource->labels[i].value);
    return list.count;
}
