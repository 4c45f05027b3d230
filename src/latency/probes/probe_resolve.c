/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Looking up the names of connect probes. See probe_resolve.h.
 */
#define _GNU_SOURCE
#include "latency/probes/probe_resolve.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/forked.h"

#include <netdb.h>
#include <stdio.h>
#include <string.h>

/* Look-ups that run. Under the prober's lock. */
static unsigned resolve_running;

/* Fork handler: the child has no such thread. */
static void resolve_forked(void)
{
    resolve_running = 0;
}
CREST_FORKED(PROBE_RESOLVE, resolve_forked)

/* ---- HOST:PORT ---- */

static int resolve_is_port(const char *text)
{
    unsigned port = 0;
    size_t length = strspn(text, "0123456789");
    if (length == 0 || length > 5 || text[length] != '\0')
        return 0;
    for (size_t i = 0; i < length; i++)
        port = port * 10 + (unsigned)(text[i] - '0');
    return port >= 1 && port <= 65535;
}

crest_status crest_probe_split(const char *address, char host[CREST_PROBE_ADDRESS_BYTES_MAX + 1],
                               char port[8], crest_error *error)
{
    const char *colon = strrchr(address, ':');
    size_t length = colon != NULL ? (size_t)(colon - address) : 0;
    const char *from = address;
    int bracketed = length > 2 && address[0] == '[' && address[length - 1] == ']';
    if (bracketed) {
        from++;
        length -= 2;
    }
    if (length == 0 || length > CREST_PROBE_ADDRESS_BYTES_MAX || !resolve_is_port(colon + 1) ||
        (!bracketed && memchr(from, ':', length) != NULL) || strcspn(from, " \t\n/[]") < length)
        return crest_error_set(error, CREST_INVALID_ARGUMENT,
                               "\"%.*s\" is no address to connect to: write HOST:PORT or "
                               "[IPV6]:PORT, with a port from 1 to 65535",
                               (int)CREST_PROBE_ADDRESS_BYTES_MAX, address);
    snprintf(host, CREST_PROBE_ADDRESS_BYTES_MAX + 1, "%.*s", (int)length, from);
    snprintf(port, 8, "%s", colon + 1);
    return CREST_OK;
}

/* ---- look-ups ---- */

/* Asks getaddrinfo, and copies its answer. */
static int resolve_ask(const char *host, const char *port, int flags,
                       crest_probe_address *addresses, int *count)
{
    struct addrinfo hints = {
        .ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM, .ai_flags = flags | AI_NUMERICSERV};
    struct addrinfo *all = NULL;
    int answer = getaddrinfo(host, port, &hints, &all);
    *count = 0;
    for (const struct addrinfo *one = all; answer == 0 && one != NULL; one = one->ai_next) {
        if (*count == CREST_PROBE_ADDRESSES_MAX || one->ai_addrlen > sizeof addresses->bytes)
            break;
        memcpy(&addresses[*count].bytes, one->ai_addr, one->ai_addrlen);
        addresses[(*count)++].length = one->ai_addrlen;
    }
    if (all != NULL)
        freeaddrinfo(all);
    return answer;
}

int crest_probe_resolve_numeric(const char *host, const char *port,
                                crest_probe_address addresses[CREST_PROBE_ADDRESSES_MAX])
{
    int count;
    return resolve_ask(host, port, AI_NUMERICHOST, addresses, &count) == 0 ? count : 0;
}

static void resolve_run(crest_leavable *self)
{
    crest_probe_question *question = (crest_probe_question *)self;
    crest_leavable_out(self);
    question->answer = resolve_ask(question->host, question->port, AI_ADDRCONFIG,
                                   question->addresses, &question->count);
    question->took_ns = crest_now() - question->start_ns;
    int wanted = crest_leavable_back(self);
    resolve_running--;
    question->done = 1;
    if (wanted)
        crest_prober_wake();
}

static void resolve_free(crest_leavable *self)
{
    crest_alloc_free((crest_probe_question *)self);
}

static const crest_leavable_kind resolve_kind = {"crest-resolver", resolve_run, resolve_free};

crest_probe_question *crest_probe_resolve_begin(const char *host, const char *port, int *failure)
{
    *failure = 0;
    if (resolve_running >= CREST_PROBE_RESOLVERS_MAX)
        return NULL;
    crest_probe_question *question = crest_alloc(1, sizeof *question);
    if (question == NULL)
        return NULL;
    crest_leavable_init(&question->leavable, &resolve_kind, crest_prober_mutex());
    question->start_ns = crest_now();
    snprintf(question->host, sizeof question->host, "%s", host);
    snprintf(question->port, sizeof question->port, "%s", port);
    *failure = crest_leavable_start(&question->leavable);
    if (*failure != 0) {
        crest_alloc_free(question);
        return NULL;
    }
    resolve_running++;
    return question;
}

void crest_probe_resolve_end(crest_probe_question *question)
{
    if (question != NULL && crest_leavable_leave_locked(&question->leavable))
        crest_alloc_free(question);
}
