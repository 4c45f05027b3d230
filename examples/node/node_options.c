/* SPDX-License-Identifier: Apache-2.0 */
/* See node_options.h. */
#include "node_options.h"

#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OPTIONS_PORT_FIRST 7040
#define OPTIONS_NODES 4
#define OPTIONS_SKEW_MS 3600000

static const char options_help[] =
    "Usage: node --index I [option ...]\n"
    "One node of a little network of nodes on this machine (loopback only). Start one process for "
    "each.\n"
    "\n"
    "Network\n"
    "  --index I                 which node this is, from 0 (default 0)\n"
    "  --nodes N                 nodes of the network, 1 to 16 (default 4, or as many as --ports)\n"
    "  --ports P,P,...           their TCP ports in order (default 7040,7041,...)\n"
    "Load and blocks (the same for all nodes, but for the first two)\n"
    "  --deploys-per-second R    load offered here, on a schedule of its own (default 20)\n"
    "  --transfers-per-deploy K  token transfers in each (default 5)\n"
    "  --block-interval-ms T     a slot; the nodes propose in turns (default 400)\n"
    "  --fork-every M            in every Mth slot two nodes propose, one is orphaned (default 7; "
    "0 never)\n"
    "  --slowest-validator-ms D  node I keeps each vote D*(I+1)/N ms, standing in for slower\n"
    "                            machines (default 480)\n"
    "  --blocks B                make B blocks as fast as it goes, each as soon as there are "
    "enough\n"
    "                            deploys, offer just these, and stop; one node only (default 0: "
    "by\n"
    "                            the clock)\n"
    "  --deploys-per-block D     that are enough (default 100)\n"
    "Store\n"
    "  --data DIR                where the blocks are kept (default node-data/node-I)\n"
    "  --map-size BYTES          most the store may hold; k, M, G allowed (default 256M)\n"
    "Running\n"
    "  --inbox-capacity N        inbound messages that may wait for the worker (default 16384)\n"
    "  --seconds S               stop after S seconds (default: on SIGTERM, SIGINT or \"stop\")\n"
    "  --settle-ms T             at a stop, wait at most T ms for blocks in flight (default 3000)\n"
    "  --crest-opts TEXT         options of crest_start, such as\n"
    "                            pushgateway=http://127.0.0.1:9091,interval=1s,instance=node-0\n"
    "                            (the environment's CREST_OPTS wins)\n"
    "  --page FILE               write the metrics page there at exit\n"
    "  --events                  one JSON line on stdout for each event\n"
    "  --clock-skew-ms T         be a machine whose clock is T ms ahead, -3600000 to 3600000; the\n"
    "                            slots are still by the true time\n"
    "  --help                    this text\n"
    "\n"
    "Lines on standard input: \"burst N\" makes a neighbour send N messages at once, \"status\" "
    "prints one\n"
    "JSON line, \"ways FOLDER\" another with what a report costs by each way, \"hold\" stops the "
    "node in\n"
    "the middle of its next block, to be killed there, \"stop\" stops it. At exit, and when it is "
    "held,\n"
    "one JSON object with everything the node counted itself, without Crest, is printed on "
    "standard\n"
    "output.\n";

enum options_code {
    OPT_INDEX = 256,
    OPT_NODES,
    OPT_PORTS,
    OPT_DEPLOYS,
    OPT_TRANSFERS,
    OPT_INTERVAL,
    OPT_FORK,
    OPT_SLOWEST,
    OPT_DATA,
    OPT_MAP,
    OPT_INBOX,
    OPT_SECONDS,
    OPT_BLOCKS,
    OPT_PER_BLOCK,
    OPT_SETTLE,
    OPT_CREST,
    OPT_PAGE,
    OPT_EVENTS,
    OPT_SKEW,
    OPT_HELP
};

static const struct option options_table[] = {
    {"index", required_argument, NULL, OPT_INDEX},
    {"nodes", required_argument, NULL, OPT_NODES},
    {"ports", required_argument, NULL, OPT_PORTS},
    {"deploys-per-second", required_argument, NULL, OPT_DEPLOYS},
    {"transfers-per-deploy", required_argument, NULL, OPT_TRANSFERS},
    {"block-interval-ms", required_argument, NULL, OPT_INTERVAL},
    {"fork-every", required_argument, NULL, OPT_FORK},
    {"slowest-validator-ms", required_argument, NULL, OPT_SLOWEST},
    {"data", required_argument, NULL, OPT_DATA},
    {"map-size", required_argument, NULL, OPT_MAP},
    {"inbox-capacity", required_argument, NULL, OPT_INBOX},
    {"seconds", required_argument, NULL, OPT_SECONDS},
    {"blocks", required_argument, NULL, OPT_BLOCKS},
    {"deploys-per-block", required_argument, NULL, OPT_PER_BLOCK},
    {"settle-ms", required_argument, NULL, OPT_SETTLE},
    {"crest-opts", required_argument, NULL, OPT_CREST},
    {"page", required_argument, NULL, OPT_PAGE},
    {"events", no_argument, NULL, OPT_EVENTS},
    {"clock-skew-ms", required_argument, NULL, OPT_SKEW},
    {"help", no_argument, NULL, OPT_HELP},
    {NULL, 0, NULL, 0},
};

static bool options_number(const char *name, const char *text, double lowest, double highest,
                           double *value)
{
    char *end;
    errno = 0;
    double number = strtod(text, &end);
    if (end == text || *end != '\0' || errno != 0 || !(number >= lowest && number <= highest)) {
        fprintf(stderr, "node: --%s %s: wanted a number from %g to %g\n", name, text, lowest,
                highest);
        return false;
    }
    *value = number;
    return true;
}

static bool options_unsigned(const char *name, const char *text, unsigned lowest, unsigned highest,
                             unsigned *value)
{
    double number;
    if (!options_number(name, text, lowest, highest, &number))
        return false;
    if (number != floor(number)) {
        fprintf(stderr, "node: --%s %s: wanted a whole number\n", name, text);
        return false;
    }
    *value = (unsigned)number;
    return true;
}

static bool options_bytes(const char *text, uint64_t *bytes)
{
    char *end;
    errno = 0;
    unsigned long long number = strtoull(text, &end, 10);
    unsigned shift = *end == 'k' ? 10 : *end == 'M' ? 20 : *end == 'G' ? 30 : 0;
    if (end == text || *text == '-' || errno != 0 || end[shift != 0] != '\0' ||
        number > (UINT64_C(1) << 40) >> shift || number << shift < 65536) {
        fprintf(stderr, "node: --map-size %s: wanted bytes from 64k to 1024G, such as 256M\n",
                text);
        return false;
    }
    *bytes = (uint64_t)number << shift;
    return true;
}

static bool options_ports(node_options *options, const char *text)
{
    unsigned count = 0;
    for (const char *at = text;;) {
        char *end;
        unsigned long port = strtoul(at, &end, 10);
        if (end == at || port < 1 || port > 65535 || (*end != ',' && *end != '\0') ||
            count == NODE_COUNT_MAX) {
            fprintf(stderr, "node: --ports %s: wanted 1 to %d port numbers with commas between\n",
                    text, NODE_COUNT_MAX);
            return false;
        }
        options->port[count++] = (uint16_t)port;
        if (*end == '\0')
            break;
        at = end + 1;
    }
    options->nodes = count;
    return true;
}

static bool options_one(node_options *o, int code, const char *text)
{
    double number = 0;
    bool good;
    switch (code) {
    case OPT_INDEX: return options_unsigned("index", text, 0, NODE_COUNT_MAX - 1, &o->index);
    case OPT_NODES: return options_unsigned("nodes", text, 1, NODE_COUNT_MAX, &o->nodes);
    case OPT_PORTS: return options_ports(o, text);
    case OPT_DEPLOYS:
        return options_number("deploys-per-second", text, 0, 100000, &o->deploys_per_second);
    case OPT_TRANSFERS:
        return options_unsigned("transfers-per-deploy", text, 1, 1000, &o->transfers_per_deploy);
    case OPT_INTERVAL:
        return options_unsigned("block-interval-ms", text, 20, 60000, &o->block_interval_ms);
    case OPT_FORK: return options_unsigned("fork-every", text, 0, 1000000, &o->fork_every);
    case OPT_SLOWEST:
        return options_unsigned("slowest-validator-ms", text, 0, 10000, &o->slowest_validator_ms);
    case OPT_DATA: o->data = text; return true;
    case OPT_MAP: return options_bytes(text, &o->map_bytes);
    case OPT_INBOX:
        return options_unsigned("inbox-capacity", text, 16, 1u << 20, &o->inbox_capacity);
    case OPT_SECONDS: return options_number("seconds", text, 0, 1e7, &o->seconds);
    case OPT_BLOCKS: return options_unsigned("blocks", text, 0, 10000000, &o->blocks);
    case OPT_PER_BLOCK:
        return options_unsigned("deploys-per-block", text, 1, 500, &o->deploys_per_block);
    case OPT_SETTLE: return options_unsigned("settle-ms", text, 0, 60000, &o->settle_ms);
    case OPT_CREST: o->crest = text; return true;
    case OPT_PAGE: o->page = text; return true;
    case OPT_SKEW:
        good = options_number("clock-skew-ms", text, -OPTIONS_SKEW_MS, OPTIONS_SKEW_MS, &number);
        o->clock_skew_ms = (int)number;
        return good;
    default: o->events = true; return true;
    }
}

int node_options_read(node_options *options, int count, char **arguments)
{
    static char data[64];
    *options = (node_options){.nodes = OPTIONS_NODES,
                              .map_bytes = 256u << 20,
                              .deploys_per_second = 20,
                              .transfers_per_deploy = 5,
                              .block_interval_ms = 400,
                              .fork_every = 7,
                              .slowest_validator_ms = 480,
                              .inbox_capacity = 16384,
                              .settle_ms = 3000,
                              .deploys_per_block = 100};
    for (unsigned i = 0; i < NODE_COUNT_MAX; i++)
        options->port[i] = (uint16_t)(OPTIONS_PORT_FIRST + i);
    int code;
    while ((code = getopt_long(count, arguments, "", options_table, NULL)) != -1) {
        if (code == OPT_HELP) {
            fputs(options_help, stdout);
            return 0;
        }
        if (code == '?') {
            fputs("node: 'node --help' lists the options\n", stderr);
            return 2;
        }
        if (!options_one(options, code, optarg))
            return 2;
    }
    if (optind < count) {
        fprintf(stderr, "node: '%s' is not an option; 'node --help' lists them\n",
                arguments[optind]);
        return 2;
    }
    if (options->index >= options->nodes) {
        fprintf(stderr,
                "node: --index %u with %u nodes: the index is counted from 0, so at most %u\n",
                options->index, options->nodes, options->nodes - 1);
        return 2;
    }
    if (options->blocks > 0 && options->nodes != 1) {
        fprintf(stderr, "node: --blocks %u with %u nodes: it is for one node, with --nodes 1\n",
                options->blocks, options->nodes);
        return 2;
    }
    if (options->data == NULL) {
        snprintf(data, sizeof data, "node-data/node-%u", options->index);
        options->data = data;
    }
    return -1;
}
