/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Packets of whole lines, counted in bytes. Pure; does not allocate.
 *
 *     crest_line_packet packet = {.bytes = buffer, .size = 1432};
 *     if (!crest_line_packet_fits(&packet, length)) { ... send packet.bytes, packet.used ...
 *         packet.used = 0; }
 *     crest_line_packet_add(&packet, line, length);
 */
#ifndef CREST_REPORTERS_LINE_PACKET_H
#define CREST_REPORTERS_LINE_PACKET_H

#include <stddef.h>

typedef struct crest_line_packet {
    char *bytes; /* the caller's, `size` of them */
    size_t size;
    size_t used;
    int terminated; /* non-zero: a line feed ends every line, as in a stream; else between lines */
} crest_line_packet;

/* Whether a line of so many bytes could be in a packet that is empty. */
int crest_line_packet_holds(const crest_line_packet *packet, size_t length);

/* Whether it goes into this one as it is. */
int crest_line_packet_fits(const crest_line_packet *packet, size_t length);

/* Adds a line that fits. */
void crest_line_packet_add(crest_line_packet *packet, const char *line, size_t length);

#endif
