/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The offered load: deploys with random transfers, on a schedule that does not wait for the node
 * (open loop). A deploy that cannot be made in time is made late, and counted as offered when the
 * schedule calls for it, so that what was offered and what the node did with it can be compared (a
 * closed loop would slow down with the node, and hide that).
 */
#ifndef NODE_LOAD_H
#define NODE_LOAD_H

#include "node_options.h"
#include "node_report.h"

/* Starts the thread; nothing to do, and true, with a load of 0. */
bool load_open(const node_options *options);
void load_close(void);
void load_report(report *r);

#endif
