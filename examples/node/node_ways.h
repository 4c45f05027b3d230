/* SPDX-License-Identifier: Apache-2.0 */
/* What a report of this node costs by each way that its figures can go. */
#ifndef NODE_WAYS_H
#define NODE_WAYS_H

/*
 * Makes a report for each way, a few times over, and prints one event:
 *
 *     {"event":"ways","node":…,"ways":{"text":{"bytes":…,"cpu_us":…}, …}}
 *
 * The bodies are written to FOLDER/NAME.way, for the reader of the event to look into. It takes a
 * second and a half, and belongs to the thread that reads commands.
 */
void ways_measure(const char *folder);

#endif
