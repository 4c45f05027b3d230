/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lines into packets. See line_packet.h.
 */
#include "common/line_packet.h"

#include <string.h>

int crest_line_packet_holds(const crest_line_packet *packet, size_t length)
{
    return length + (packet->terminated ? 1 : 0) <= packet->size;
}

int crest_line_packet_fits(const crest_line_packet *packet, size_t length)
{
    size_t feed = packet->terminated || packet->used > 0 ? 1 : 0;
    return length + feed <= packet->size - packet->used;
}

void crest_line_packet_add(crest_line_packet *packet, const char *line, size_t length)
{
    if (packet->used > 0 && !packet->terminated)
        packet->bytes[packet->used++] = '\n';
    memcpy(packet->bytes + packet->used, line, length);
    packet->used += length;
    if (packet->terminated)
        packet->bytes[packet->used++] = '\n';
}
