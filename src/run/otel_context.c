/* SPDX-License-Identifier: Apache-2.0 */
/*
 * OpenTelemetry's process context: one mapping named OTEL_CTX, a header and behind it a message
 * ProcessContext of the resource and of how to read threads. See otel_context.h.
 *
 *     ProcessContext { Resource resource = 1; repeated KeyValue attributes = 2; }
 *
 * Publishing (the starting thread):
 *   1. map a memory file of that name, so that readers find it in /proc/PID/maps; else anonymous
 *      memory, which must then take the name
 *   2. MADV_DONTFORK: a child has none
 *   3. payload, version, size, address, time
 *   4. the signature, by a release store: a reader that sees it sees the rest
 * A reader copies, then looks whether the mapping is still there with the same time. Source:
 * OpenTelemetry's OTEP 4719, version 2 of the header.
 */
#define _GNU_SOURCE
#include "run/otel_context.h"
#include "base/atomic.h"
#include "base/error.h"
#include "spans/current_span.h"
#include "wire/protobuf.h"

#include <crest/run.h>

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#ifndef PR_SET_VMA
#define PR_SET_VMA 0x53564d41
#define PR_SET_VMA_ANON_NAME 0
#endif
#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 8u
#endif

#define OTEL_NAME "OTEL_CTX"
#define OTEL_VERSION 2u
/* Bytes of an attribute beside its key and value: tags and lengths. */
#define OTEL_ATTRIBUTE_BYTES 32u

typedef struct otel_header {
    uint64_t signature; /* "OTEL_CTX"; atomic, written last */
    uint32_t version;
    uint32_t payload_bytes;
    uint64_t published_ns; /* of CLOCK_BOOTTIME, not 0 */
    uint64_t payload;      /* its address in this process */
} otel_header;

_Static_assert(sizeof(otel_header) == 32, "the header is as OTEP 4719 has it");

static otel_header *otel_mapping;
static size_t otel_bytes;
static pid_t otel_process; /* whose mapping it is: a child has none there, or another's */

/* ---- the message ---- */

/* KeyValue { key = 1; AnyValue value = 2 { string_value = 1 } } */
static char *otel_put(char *at, unsigned field, const char *key, const char *value)
{
    char *pair, *any;
    at = crest_wire_begin(at, field, &pair);
    at = crest_wire_bytes(at, 1, key, strlen(key));
    at = crest_wire_begin(at, 2, &any);
    at = crest_wire_bytes(at, 1, value, strlen(value));
    return crest_wire_end(pair, crest_wire_end(any, at));
}

static char *otel_put_known(char *at, const char *key, const char *value)
{
    return value != NULL && value[0] != '\0' ? otel_put(at, 1, key, value) : at;
}

static size_t otel_size(const crest_resource *resource)
{
    size_t bytes =
        1024 + strlen(resource->service) + strlen(resource->version) + strlen(resource->instance);
    for (unsigned i = 0; i < resource->label_count; i++)
        bytes += strlen(resource->labels[i].key) + strlen(resource->labels[i].value) +
                 OTEL_ATTRIBUTE_BYTES;
    return bytes;
}

static char *otel_encode(char *at, const crest_resource *resource)
{
    char *body, *pair, *any;
    at = crest_wire_begin(at, 1, &body);
    at = otel_put_known(at, "service.name", resource->service);
    at = otel_put_known(at, "service.version", resource->version);
    at = otel_put_known(at, "service.instance.id", resource->instance);
    for (unsigned i = 0; i < resource->label_count; i++)
        at = otel_put(at, 1, resource->labels[i].key, resource->labels[i].value);
    at = otel_put(at, 1, "telemetry.sdk.name", "crest");
    at = otel_put(at, 1, "telemetry.sdk.language", "c");
    at = otel_put(at, 1, "telemetry.sdk.version", crest_version());
    at = crest_wire_end(body, at);
    at = otel_put(at, 2, "threadlocal.schema_version", "tlsdesc_v1_dev");
    /* records have no attributes of their own: an empty array_value */
    at = crest_wire_begin(at, 2, &pair);
    at = crest_wire_bytes(at, 1, "threadlocal.attribute_key_map", 29);
    at = crest_wire_begin(at, 2, &any);
    at = crest_wire_bytes(at, 5, "", 0);
    return crest_wire_end(pair, crest_wire_end(any, at));
}

/* ---- the mapping ---- */

/* The memory, or MAP_FAILED; *named: it already bears the name in /proc/PID/maps. */
static void *otel_map(size_t bytes, int *named)
{
    int file = memfd_create(OTEL_NAME, MFD_CLOEXEC | MFD_NOEXEC_SEAL);
    if (file < 0)
        file = memfd_create(OTEL_NAME, MFD_CLOEXEC);
    void *memory = MAP_FAILED;
    if (file >= 0 && ftruncate(file, (off_t)bytes) == 0)
        memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE, file, 0);
    *named = memory != MAP_FAILED;
    if (file >= 0)
        close(file);
    if (*named)
        return memory;
    return mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

static uint64_t otel_now_ns(void)
{
    struct timespec now = {0, 1};
    clock_gettime(CLOCK_BOOTTIME, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec + 1;
}

static crest_status otel_refuse(crest_error *error, int why)
{
    return crest_error_set(error, CREST_PARTIAL,
                           "otel.context=on: there is no process context for profilers, as the "
                           "system gives no mapping that can be named: %s",
                           strerror(why));
}

crest_status crest_otel_context_publish(const crest_resource *resource, crest_error *error)
{
    crest_otel_context_withdraw();
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size_t bytes = (sizeof(otel_header) + otel_size(resource) + page - 1) / page * page;
    int named;
    otel_header *header = otel_map(bytes, &named);
    if (header == MAP_FAILED)
        return otel_refuse(error, errno);
    if (madvise(header, bytes, MADV_DONTFORK) != 0) {
        int why = errno;
        munmap(header, bytes);
        return otel_refuse(error, why);
    }
    char *payload = (char *)(header + 1);
    header->version = OTEL_VERSION;
    header->payload_bytes = (uint32_t)(otel_encode(payload, resource) - payload);
    header->payload = (uint64_t)(uintptr_t)payload;
    header->published_ns = otel_now_ns();
    uint64_t signature;
    memcpy(&signature, OTEL_NAME, sizeof signature);
    crest_atomic_store_release(&header->signature, signature); /* with readers' copy */
    if (prctl(PR_SET_VMA, PR_SET_VMA_ANON_NAME, header, bytes, OTEL_NAME) != 0 && !named) {
        int why = errno;
        munmap(header, bytes);
        return otel_refuse(error, why);
    }
    otel_mapping = header;
    otel_bytes = bytes;
    otel_process = getpid();
    crest_current_span_show(1);
    return CREST_OK;
}

void crest_otel_context_withdraw(void)
{
    crest_current_span_show(0);
    if (otel_mapping == NULL)
        return;
    if (otel_process == getpid()) {
        crest_atomic_store(&otel_mapping->published_ns, 0); /* to readers: it is being changed */
        munmap(otel_mapping, otel_bytes);
    }
    otel_mapping = NULL;
}
