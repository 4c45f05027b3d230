/* SPDX-License-Identifier: Apache-2.0 */
/* libbench_limits.so: calls that do next to nothing, and thread-local words. */
#ifndef BENCH_LIMITS_SO_H
#define BENCH_LIMITS_SO_H

#include <stdint.h>

/* Initial-exec, as crest_thread_cells is. */
extern __thread uint64_t limits_so_word[8] __attribute__((tls_model("initial-exec")));

void limits_so_empty(void *nothing);
void limits_so_add(unsigned which);

#endif
