/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Packets of whole lines, counted in bytes. Pure; does not allocate.
 *
 *     crest_statsd_packet packet = {.bytes = buffer, .size = 1432};
 *     if (!crest_statsd_packet_fits(&packet, length)) { ... send packet.bytes, packet.used ...
 *         packet.used = 0; }
 *     crest_statsd_packet_add(&packet, line, length);
 */
#ifndef CREST_REPORTERS_STATSD_PACKET_H
#define CREST_REPORTERS_STATSD_PACKET_H

#include <stddef.h>

typedef struct crest_statsd_packet {
    char *bytes; /* the caller's, `size` of them */
    size_t size;
    size_t used;
    int terminated; /* non-zero: a line feed ends every line, as in a stream; else between lines */
} crest_statsd_packet;

/* Whether a line of so many bytes could be in a packet that is empty. */
int crest_statsd_packet_holds(const crest_statsd_packet *packet, size_t length);

/* Whether it goes into this one as it is. */
int crest_statsd_packet_fits(const crest_statsd_packet *packet, size_t length);

/* Adds a line that fits. */
void crest_statsd_packet_add(crest_statsd_packet *packet, const char *line, size_t length);

#endif
