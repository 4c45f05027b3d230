/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The least that a call into a shared library can do, and the least that thread-local data of one
 * can cost: what the exported symbols of Crest and its cells are compared with. See limit_loops.h.
 */
#include "limits_so.h"

__attribute__((visibility("default"))) __thread uint64_t limits_so_word[8]
    __attribute__((aligned(64), tls_model("initial-exec")));

__attribute__((visibility("default"))) void limits_so_empty(void *nothing)
{
    (void)nothing;
}

__attribute__((visibility("default"))) void limits_so_add(unsigned which)
{
    uint64_t *word = &limits_so_word[which];
    __asm__("" : "+r"(word)); /* as in limit_loops.c */
    ++*word;
}
