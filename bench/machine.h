/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a table of figures says about where it was made, and how its threads are placed.
 */
#ifndef BENCH_MACHINE_H
#define BENCH_MACHINE_H

#include <string>
#include <utility>
#include <vector>

typedef std::vector<std::pair<std::string, std::string>> machine_facts;

/* Processor, kernel, compiler, clock and load. */
machine_facts machine_describe(unsigned rounds);
void machine_print(const machine_facts &facts);

/* Puts the calling thread on the n-th processor that this process may use, if there are as many. */
void machine_pin(unsigned n);

/* Whether the environment asks for an error when a target is missed. */
bool machine_strict();

#endif
