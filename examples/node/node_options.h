/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The node's command line. Everything has a default that works on one machine; what reporting does
 * is not here but in --crest-opts, handed to crest_start as it is, and in the environment's
 * CREST_OPTS.
 */
#ifndef NODE_OPTIONS_H
#define NODE_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "node_base.h"

typedef struct node_options {
    unsigned index, nodes;
    uint16_t port[NODE_COUNT_MAX];
    const char *data;          /* directory of the store */
    uint64_t map_bytes;        /* most the store may hold */
    double deploys_per_second; /* this node's offered load; 0: none */
    unsigned transfers_per_deploy;
    unsigned block_interval_ms;
    unsigned fork_every;           /* every so many slots two nodes propose; 0: never */
    unsigned slowest_validator_ms; /* how long the slowest validator keeps its vote */
    unsigned inbox_capacity;
    unsigned settle_ms; /* at a stop, how long blocks in flight are waited for at most */
    double seconds;     /* 0: until told */
    unsigned blocks;    /* as fast as it goes, then stop; 0: by the clock */
    unsigned deploys_per_block;
    const char *crest; /* options of crest_start, or NULL */
    const char *page;  /* file that gets the metrics page at exit, or NULL */
    bool events;
    int clock_skew_ms; /* added to the wall clock, as if this were another machine */
} node_options;

/* Returns -1 to go on, else the exit status: 0 after --help, 2 after an error, with its message. */
int node_options_read(node_options *options, int count, char **arguments);

#endif
