/* SPDX-License-Identifier: Apache-2.0 */
/* See node_store.h. */
#include "node_store.h"

#include <crest/crest.h>
#include <errno.h>
#include <lmdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

/* ---- what this part measures: how long the disk takes, and what it refused ---- */

#define BLOCK_STORAGE_METRICS_DEFINE
#include "node_metrics_storage.h"

static report_timer store_put_total[2], store_sync_total[2], store_get_total[2]; /* ok, error */
static uint64_t store_failed, store_given_up, store_stored;

/* ---- the store ---- */

typedef struct store_held {
    struct store_held *next;
    uint8_t hash[NODE_HASH_BYTES];
    size_t size;
    uint8_t bytes[];
} store_held;

static MDB_env *store_env;
static MDB_dbi store_blocks;
static const char *store_directory;
static crest_probe *store_probe;
static uint64_t store_map_bytes;
static store_held *store_first, *store_last;
static unsigned store_holding;
static uint64_t store_tried_ns;

static bool store_make_directory(const char *path)
{
    char part[4096];
    size_t length = strlen(path);
    if (length == 0 || length >= sizeof part) {
        node_say("cannot use the directory '%s' for the store: its name is %s", path,
                 length == 0 ? "empty" : "too long");
        return false;
    }
    memcpy(part, path, length + 1);
    for (size_t i = 1; i <= length; i++) {
        if (part[i] != '/' && part[i] != '\0')
            continue;
        part[i] = '\0';
        if (mkdir(part, 0777) != 0 && errno != EEXIST) {
            node_say(
                "cannot create the directory '%s' for the store: %s; choose another with --data",
                part, strerror(errno));
            return false;
        }
        part[i] = path[i];
    }
    return true;
}

/* LMDB makes its system calls itself, so the disk's own time is measured with a small file beside
 * it: where sync_time is long and this is not, LMDB's pages take the time, not the disk. */
static void store_watch_disk(void)
{
    crest_error error;
    store_probe = crest_probe_file("blocks", store_directory, NULL, &error);
    if (store_probe == NULL)
        node_say("the disk of '%s' is not probed: %s", store_directory, error.message);
}

bool store_open(const char *directory, uint64_t map_bytes)
{
    MDB_txn *txn = NULL;
    store_directory = directory;
    store_map_bytes = map_bytes;
    if (!store_make_directory(directory))
        return false;
    const char *step = "mdb_env_create";
    int rc = mdb_env_create(&store_env);
    if (rc == 0) {
        step = "mdb_env_set_mapsize";
        rc = mdb_env_set_mapsize(store_env, map_bytes);
    }
    if (rc == 0) {
        step = "mdb_env_open";
        rc = mdb_env_open(store_env, directory, MDB_NOTLS, 0666);
    }
    if (rc == 0) {
        step = "mdb_txn_begin";
        rc = mdb_txn_begin(store_env, NULL, 0, &txn);
    }
    if (rc == 0) {
        step = "mdb_dbi_open";
        rc = mdb_dbi_open(txn, NULL, 0, &store_blocks);
    }
    if (rc == 0) {
        step = "mdb_txn_commit";
        rc = mdb_txn_commit(txn);
        txn = NULL;
    }
    if (rc != 0) {
        node_say(
            "cannot open the store in '%s': %s answered %s; free some space there, check who owns "
            "it, or choose another directory with --data",
            directory, step, mdb_strerror(rc));
        if (txn != NULL)
            mdb_txn_abort(txn);
        mdb_env_close(store_env);
        store_env = NULL;
        return false;
    }
    store_watch_disk();
    return true;
}

static void store_explain(const char *step, int rc, const uint8_t *hash, size_t size)
{
    char text[NODE_HEX_BYTES], advice[160];
    struct statvfs disk;
    if (rc == MDB_MAP_FULL)
        snprintf(advice, sizeof advice,
                 "the map of %llu bytes is full: restart with a larger --map-size",
                 (unsigned long long)store_map_bytes);
    else if (statvfs(store_directory, &disk) == 0)
        /* LMDB answers a write that was cut short with EIO, so the message has the free space as
         * well */
        snprintf(advice, sizeof advice,
                 "that disk has %llu bytes free: make room there, the node tries again each second",
                 (unsigned long long)disk.f_bavail * disk.f_frsize);
    else
        snprintf(advice, sizeof advice, "look after that disk, the node tries again each second");
    node_say(
        "could not store block %.12s (%zu bytes) in '%s': %s answered %s; %s. Meanwhile blocks are "
        "held in memory",
        node_hex(hash, text), size, store_directory, step, mdb_strerror(rc), advice);
}

/* An operation is over: the truth of it, for totals and events. */
static void store_account(report_timer total[2], const char *timer, const uint8_t *hash,
                          const report_clock *clock, bool good)
{
    report_clock took = report_timer_add_clock(&total[!good], clock);
    report_timed(timer, hash, &took, good ? "ok" : "error");
}

/* One attempt. 0, or LMDB's answer, with *step saying to what. */
static int store_try(const uint8_t *hash, const uint8_t *bytes, size_t size, const char **step)
{
    MDB_txn *txn = NULL;
    MDB_val key = {NODE_HASH_BYTES, (void *)(uintptr_t)hash};
    MDB_val data = {size, (void *)(uintptr_t)bytes};
    crest_op op = crest_op_bytes(hash, NODE_HASH_BYTES);

    report_clock clock;
    report_clock_start(&clock);
    crest_timing put = crest_timer_start(&put_time, op);
    report_clock_started(&clock);
    *step = "mdb_txn_begin";
    int rc = mdb_txn_begin(store_env, NULL, 0, &txn);
    if (rc == 0) {
        *step = "mdb_put";
        rc = mdb_put(txn, store_blocks, &key, &data, 0);
    }
    report_clock_end(&clock);
    crest_timing_end(&put, op, rc == 0 ? CREST_OUTCOME_OK : CREST_OUTCOME_ERROR);
    store_account(store_put_total, "rchain.block-storage.lmdb.put-time", hash, &clock, rc == 0);
    if (rc != 0) {
        if (txn != NULL)
            mdb_txn_abort(txn);
        return rc;
    }

    report_clock_start(&clock);
    crest_timing sync = crest_timer_start(&sync_time, op);
    report_clock_started(&clock);
    *step = "mdb_txn_commit";
    rc = mdb_txn_commit(txn);
    report_clock_end(&clock);
    crest_timing_end(&sync, op, rc == 0 ? CREST_OUTCOME_OK : CREST_OUTCOME_ERROR);
    store_account(store_sync_total, "rchain.block-storage.lmdb.sync-time", hash, &clock, rc == 0);
    return rc;
}

static bool store_attempt(const uint8_t *hash, const uint8_t *bytes, size_t size, bool tell)
{
    const char *step;
    int rc = store_try(hash, bytes, size, &step);
    if (rc == 0) {
        store_stored++;
        return true;
    }
    crest_counter_inc(&put_failed);
    store_failed++;
    store_tried_ns = node_now_ns();
    if (tell)
        store_explain(step, rc, hash, size);
    return false;
}

static void store_drop_first(void)
{
    store_held *held = store_first;
    store_first = held->next;
    if (store_first == NULL)
        store_last = NULL;
    store_holding--;
    free(held);
}

static void store_hold(const uint8_t *hash, const uint8_t *bytes, size_t size)
{
    store_held *held = node_alloc(sizeof *held + size);
    held->next = NULL;
    held->size = size;
    memcpy(held->hash, hash, NODE_HASH_BYTES);
    memcpy(held->bytes, bytes, size);
    if (store_holding >= STORE_UNSTORED_MAX) {
        char text[NODE_HEX_BYTES];
        node_say("gave up block %.12s: %u blocks already wait for the disk",
                 node_hex(store_first->hash, text), store_holding);
        store_given_up++;
        store_drop_first();
    }
    *(store_last != NULL ? &store_last->next : &store_first) = held;
    store_last = held;
    store_holding++;
    crest_gauge_set(&blocks_unstored, store_holding);
}

void store_put(const uint8_t hash[NODE_HASH_BYTES], const uint8_t *bytes, size_t size)
{
    /* while some are held, only the retry asks the disk: one message a second, not one a block */
    if (store_holding > 0 || !store_attempt(hash, bytes, size, true))
        store_hold(hash, bytes, size);
}

void store_retry(bool at_once)
{
    if (store_holding == 0 || (!at_once && node_now_ns() - store_tried_ns < STORE_RETRY_NS))
        return;
    unsigned before = store_holding;
    while (store_holding > 0 &&
           store_attempt(store_first->hash, store_first->bytes, store_first->size, false))
        store_drop_first();
    crest_gauge_set(&blocks_unstored, store_holding);
    if (store_holding < before)
        node_say("stored %u blocks that had been held in memory; %u are left",
                 before - store_holding, store_holding);
}

uint8_t *store_get(const uint8_t hash[NODE_HASH_BYTES], size_t *size)
{
    for (const store_held *held = store_first; held != NULL; held = held->next)
        if (memcmp(held->hash, hash, NODE_HASH_BYTES) == 0) {
            uint8_t *copy = node_alloc(held->size);
            memcpy(copy, held->bytes, held->size);
            *size = held->size;
            return copy;
        }

    MDB_txn *txn = NULL;
    MDB_val key = {NODE_HASH_BYTES, (void *)(uintptr_t)hash}, data = {0, NULL};
    uint8_t *copy = NULL;
    crest_op op = crest_op_bytes(hash, NODE_HASH_BYTES);
    report_clock clock;
    report_clock_start(&clock);
    crest_timing timing = crest_timer_start(&get_time, op);
    report_clock_started(&clock);
    int rc = mdb_txn_begin(store_env, NULL, MDB_RDONLY, &txn);
    if (rc == 0) {
        rc = mdb_get(txn, store_blocks, &key, &data);
        if (rc == 0) {
            copy = node_alloc(data.mv_size);
            memcpy(copy, data.mv_data, data.mv_size);
            *size = data.mv_size;
        }
        mdb_txn_abort(txn);
    }
    bool good = rc == 0 || rc == MDB_NOTFOUND;
    report_clock_end(&clock);
    crest_timing_end(&timing, op, good ? CREST_OUTCOME_OK : CREST_OUTCOME_ERROR);
    store_account(store_get_total, "rchain.block-storage.lmdb.get-time", hash, &clock, good);
    if (!good)
        node_say("could not look up a block in '%s': %s; the node goes on without it",
                 store_directory, mdb_strerror(rc));
    return copy;
}

void store_close(void)
{
    crest_probe_stop(store_probe);
    store_probe = NULL;
    store_retry(true);
    if (store_holding > 0)
        node_say("%u blocks were never stored in '%s': the disk stayed full", store_holding,
                 store_directory);
    while (store_first != NULL)
        store_drop_first();
    if (store_env != NULL)
        mdb_env_close(store_env);
    store_env = NULL;
}

void store_report(report *r)
{
    static const char *const outcome[2] = {"ok", "error"};
    for (unsigned i = 0; i < 2; i++) {
        report_timer_print(r, &store_put_total[i], true, "rchain_block_storage_lmdb_put_time",
                           "outcome=\"%s\"", outcome[i]);
        report_timer_print(r, &store_sync_total[i], true, "rchain_block_storage_lmdb_sync_time",
                           "outcome=\"%s\"", outcome[i]);
        report_timer_print(r, &store_get_total[i], true, "rchain_block_storage_lmdb_get_time",
                           "outcome=\"%s\"", outcome[i]);
    }
    report_count(r, store_failed, "rchain_block_storage_lmdb_put_failed_total");
}
