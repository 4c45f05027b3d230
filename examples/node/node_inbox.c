/* SPDX-License-Identifier: Apache-2.0 */
/* See node_inbox.h. A ring of pointers under one mutex. */
#include "node_inbox.h"

#include <crest/crest.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/*
 * ---- what this part measures: what became of each message, and the queue's depth, in three ways.
 * The range sampler is updated at each change: no peak can fall between two samples. The histogram
 * is recorded at each enqueue: what a message met when it came. The gauge is kept to show what
 * sampling misses; do not copy it. ----
 */

#include "node_metrics_comm.h"

static uint64_t inbox_received, inbox_enqueued, inbox_dropped, inbox_depths, inbox_most;

/* ---- the queue ---- */

static pthread_mutex_t inbox_lock =
    PTHREAD_MUTEX_INITIALIZER; /* guards everything below and the totals above */
static pthread_cond_t inbox_filled;
static inbox_message **inbox_ring;
static unsigned inbox_capacity, inbox_head, inbox_depth;
static bool inbox_woken;

void inbox_open(unsigned capacity)
{
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&inbox_filled, &attributes);
    pthread_condattr_destroy(&attributes);
    inbox_ring = node_alloc_zero(capacity, sizeof *inbox_ring);
    inbox_capacity = capacity;
}

bool inbox_push(int from, wire_type type, const void *bytes, size_t size)
{
    inbox_message *message = node_alloc(sizeof *message + size);
    message->from = from;
    message->type = type;
    message->arrived_ns = node_now_ns();
    message->come_ns = crest_wall_now();
    message->apart_ns = node_now_ns() - message->arrived_ns;
    message->size = size;
    memcpy(message->bytes, bytes, size);

    pthread_mutex_lock(&inbox_lock);
    crest_counter_inc(&packets_received);
    inbox_received++;
    bool taken = inbox_depth < inbox_capacity;
    if (taken) {
        inbox_ring[(inbox_head + inbox_depth) % inbox_capacity] = message;
        inbox_depth++;
        crest_range_sampler_add(&inbound_waiting, 1);
        crest_histogram_record(&inbound_queue, inbox_depth);
        crest_counter_inc(&packets_enqueued);
        inbox_enqueued++;
        inbox_depths += inbox_depth;
        if (inbox_depth > inbox_most)
            inbox_most = inbox_depth;
        if (inbox_depth == 1)
            pthread_cond_signal(&inbox_filled);
    } else {
        crest_counter_inc(&packets_dropped);
        inbox_dropped++;
    }
    pthread_mutex_unlock(&inbox_lock);
    if (!taken)
        free(message);
    return taken;
}

inbox_message *inbox_pop(uint64_t deadline_ns)
{
    struct timespec until = {(time_t)(deadline_ns / NODE_NS_PER_S),
                             (long)(deadline_ns % NODE_NS_PER_S)};
    inbox_message *message = NULL;
    pthread_mutex_lock(&inbox_lock);
    while (inbox_depth == 0 && !inbox_woken)
        if (pthread_cond_timedwait(&inbox_filled, &inbox_lock, &until) != 0)
            break;
    inbox_woken = false;
    if (inbox_depth > 0) {
        message = inbox_ring[inbox_head];
        inbox_head = (inbox_head + 1) % inbox_capacity;
        inbox_depth--;
        crest_range_sampler_add(&inbound_waiting, -1);
    }
    pthread_mutex_unlock(&inbox_lock);
    return message;
}

void inbox_wake(void)
{
    pthread_mutex_lock(&inbox_lock);
    inbox_woken = true;
    pthread_cond_signal(&inbox_filled);
    pthread_mutex_unlock(&inbox_lock);
}

unsigned inbox_waiting(void)
{
    pthread_mutex_lock(&inbox_lock);
    unsigned depth = inbox_depth;
    pthread_mutex_unlock(&inbox_lock);
    return depth;
}

void inbox_sample(void)
{
    crest_gauge_set(&inbound_queue_sampled, inbox_waiting());
}

uint64_t inbox_deepest(void)
{
    pthread_mutex_lock(&inbox_lock);
    uint64_t most = inbox_most;
    pthread_mutex_unlock(&inbox_lock);
    return most;
}

void inbox_close(void)
{
    inbox_message *message;
    while ((message = inbox_pop(0)) != NULL)
        free(message);
    free(inbox_ring);
    inbox_ring = NULL;
    pthread_cond_destroy(&inbox_filled);
}

void inbox_report(report *r)
{
    report_count(r, inbox_received, "rchain_comm_rp_transport_packets_received_total");
    report_count(r, inbox_enqueued, "rchain_comm_rp_transport_packets_enqueued_total");
    report_count(r, inbox_dropped, "rchain_comm_rp_transport_packets_dropped_total");
    report_count(r, inbox_enqueued, "rchain_comm_rp_transport_inbound_queue_count");
    report_count(r, inbox_depths, "rchain_comm_rp_transport_inbound_queue_sum");
}
