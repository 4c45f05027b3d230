/* SPDX-License-Identifier: Apache-2.0 */
/* See node_conn.h. */
#include "node_conn.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

/* Messages handed to the kernel in one call. */
#define CONN_BATCH 64
/* Bytes read at once, and reads before other connections get their turn. */
#define CONN_READ_BYTES 65536u
#define CONN_READS_MAX 16
#define CONN_IN_BYTES (WIRE_FRAME_BYTES_MAX + 4 + CONN_READ_BYTES)

/* ---- what this part measures: bytes, messages that were not sent; the timers of sending are
 * resolved for each peer, in node_peer.c ---- */

#include "node_metrics_comm.h"

static uint64_t conn_received, conn_sent; /* net thread */
static uint64_t conn_dropped;             /* atomic */

/* A message on its way, with the timing of its sending: the token travels with what it times. */
struct conn_out {
    conn_out *next;
    crest_op op;
    crest_timing timing;
    report_clock clock;
    size_t size, sent;
    uint8_t bytes[];
};

void conn_init(conn *c)
{
    memset(c, 0, sizeof *c);
    c->fd = -1;
    pthread_mutex_init(&c->lock, NULL);
}

void conn_use(conn *c, int fd)
{
    pthread_mutex_lock(&c->lock);
    c->fd = fd;
    c->meter = NULL;
    pthread_mutex_unlock(&c->lock);
    c->in_used = 0;
    if (c->in == NULL)
        c->in = node_alloc(CONN_IN_BYTES); /* touched, and so resident, only as far as it is used */
}

void conn_measure(conn *c, conn_meter *meter)
{
    pthread_mutex_lock(&c->lock);
    c->meter = meter;
    pthread_mutex_unlock(&c->lock);
}

static void conn_finish_first(conn *c, crest_outcome outcome)
{
    conn_out *out = c->out_first;
    if (out->clock.start_ns != 0) {
        report_clock_end(&out->clock);
        crest_timing_end(&out->timing, out->op, outcome);
        report_timer_add_clock(&c->meter->sent[outcome], &out->clock);
    }
    c->out_first = out->next;
    if (c->out_first == NULL)
        c->out_last = NULL;
    c->out_count--;
    free(out);
}

void conn_close(conn *c, crest_outcome outcome)
{
    pthread_mutex_lock(&c->lock);
    if (c->fd >= 0)
        close(c->fd);
    c->fd = -1;
    while (c->out_first != NULL)
        conn_finish_first(c, outcome);
    pthread_mutex_unlock(&c->lock);
    c->in_used = 0;
}

void conn_fini(conn *c)
{
    free(c->in);
    c->in = NULL;
    pthread_mutex_destroy(&c->lock);
}

void conn_count_dropped(void)
{
    crest_counter_inc(&sends_dropped);
    __atomic_fetch_add(&conn_dropped, 1, __ATOMIC_RELAXED);
}

static conn_out *conn_message(wire_type type, const void *payload, size_t size)
{
    conn_out *out = node_alloc(sizeof *out + WIRE_HEADER_BYTES + size);
    memset(out, 0, sizeof *out);
    out->size = WIRE_HEADER_BYTES + size;
    uint32_t length = (uint32_t)size + 1;
    for (unsigned i = 0; i < 4; i++)
        out->bytes[i] = (uint8_t)(length >> (8 * i));
    out->bytes[4] = (uint8_t)type;
    if (size > 0)
        memcpy(out->bytes + WIRE_HEADER_BYTES, payload, size);
    return out;
}

bool conn_send(conn *c, wire_type type, const void *payload, size_t size)
{
    conn_out *out = conn_message(type, payload, size);
    pthread_mutex_lock(&c->lock);
    bool taken = c->fd >= 0 && c->out_count < CONN_OUT_MAX;
    if (taken) {
        if (c->meter != NULL) {
            out->op = crest_op_u64x2((uint64_t)(uintptr_t)c, c->out_sequence++);
            report_clock_start(&out->clock);
            out->timing = crest_timer_start(c->meter->send_time, out->op);
            report_clock_started(&out->clock);
        }
        *(c->out_last != NULL ? &c->out_last->next : &c->out_first) = out;
        c->out_last = out;
        c->out_count++;
    }
    pthread_mutex_unlock(&c->lock);
    if (!taken) {
        conn_count_dropped();
        free(out);
    }
    return taken;
}

bool conn_waiting(conn *c)
{
    pthread_mutex_lock(&c->lock);
    bool waiting = c->out_first != NULL;
    pthread_mutex_unlock(&c->lock);
    return waiting;
}

/* One call to the kernel; false when there is nothing more to do now, with *state saying why. */
static bool conn_write_some(conn *c, conn_state *state)
{
    struct iovec part[CONN_BATCH];
    struct msghdr message = {.msg_iov = part};
    *state = CONN_OPEN;
    if (c->out_first == NULL || c->fd < 0)
        return false;
    for (conn_out *out = c->out_first; out != NULL && message.msg_iovlen < CONN_BATCH;
         out = out->next)
        part[message.msg_iovlen++] = (struct iovec){out->bytes + out->sent, out->size - out->sent};
    ssize_t wrote = sendmsg(c->fd, &message, MSG_NOSIGNAL);
    if (wrote < 0) {
        *state = errno == EAGAIN || errno == EINTR ? CONN_OPEN : CONN_ENDED;
        return false;
    }
    crest_counter_add(&data_sent, wrote);
    conn_sent += (uint64_t)wrote;
    for (size_t left = (size_t)wrote; left > 0;) {
        conn_out *out = c->out_first;
        size_t taken = left < out->size - out->sent ? left : out->size - out->sent;
        out->sent += taken;
        left -= taken;
        if (out->sent == out->size)
            conn_finish_first(c, CREST_OUTCOME_OK);
    }
    return true;
}

conn_state conn_write(conn *c)
{
    conn_state state;
    pthread_mutex_lock(&c->lock);
    while (conn_write_some(c, &state))
        continue;
    pthread_mutex_unlock(&c->lock);
    return state;
}

/* Hands out whole frames and moves the rest to the front. */
static conn_state conn_cut(conn *c, conn_frame_fn *frame, void *context)
{
    size_t at = 0;
    while (c->in_used - at >= WIRE_HEADER_BYTES) {
        wire_in in = wire_read(c->in + at, c->in_used - at);
        uint32_t length = wire_get_u32(&in);
        if (length < 1 || length > WIRE_FRAME_BYTES_MAX)
            return CONN_MALFORMED;
        if (c->in_used - at < 4 + (size_t)length)
            break;
        if (!frame(context, (wire_type)c->in[at + 4], c->in + at + WIRE_HEADER_BYTES, length - 1))
            return CONN_MALFORMED;
        if (c->fd < 0)
            return CONN_OPEN; /* the frame's handler closed it */
        at += 4 + (size_t)length;
    }
    memmove(c->in, c->in + at, c->in_used - at);
    c->in_used -= at;
    return CONN_OPEN;
}

conn_state conn_read(conn *c, conn_frame_fn *frame, void *context)
{
    for (unsigned i = 0; i < CONN_READS_MAX && c->fd >= 0; i++) {
        ssize_t got = recv(c->fd, c->in + c->in_used, CONN_READ_BYTES, 0);
        if (got == 0)
            return CONN_ENDED;
        if (got < 0)
            return errno == EAGAIN || errno == EINTR ? CONN_OPEN : CONN_ENDED;
        crest_counter_add(&data_received, got);
        conn_received += (uint64_t)got;
        c->in_used += (size_t)got;
        conn_state state = conn_cut(c, frame, context);
        if (state != CONN_OPEN)
            return state;
    }
    return CONN_OPEN;
}

void conn_report(report *r)
{
    report_count(r, conn_received, "rchain_comm_rp_transport_data_received_bytes_total");
    report_count(r, conn_sent, "rchain_comm_rp_transport_data_sent_bytes_total");
    report_count(r, __atomic_load_n(&conn_dropped, __ATOMIC_RELAXED),
                 "rchain_comm_rp_transport_sends_dropped_total");
}
