/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Figures of the process and the machine: /proc/self, getrusage, /proc. Read once a second by a
 * thread of its own, and once more at the end. What the kernel keeps as a total is a counter, fed
 * with the difference between two readings; levels are gauges, for they have no events. What cannot
 * be read is left out.
 */
#ifndef NODE_FIGURES_H
#define NODE_FIGURES_H

#include "node_report.h"

bool figures_open(void);
void figures_close(void);
void figures_report(report *r);

#endif
