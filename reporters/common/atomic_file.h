/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Atomic replacement of a file. The writer
 *     1. makes a temporary file in the same directory (begin),
 *     2. writes the bytes to it (write),
 *     3. gives it its mode, if asked syncs it to the disk, and renames it over the path (commit).
 * Invariant: a reader that opens the path finds the old file or the new one, never a part. Knows
 * bytes and deadlines, not metrics.
 *
 *     crest_replaced_file *file = crest_replaced_file_new("/var/lib/x/node.prom");
 *     if (crest_replaced_file_begin(file, deadline_ns) == 0 &&
 *         crest_replaced_file_write(file, bytes, length) == 0 &&
 *         crest_replaced_file_commit(file, 0) == 0)
 *         ...
 *     else
 *         ... file->doing, strerror(file->failed); nothing is left behind ...
 *
 * The temporary file's name is ".NAME.", sixteen random digits, ".tmp". It is made with O_EXCL, so
 * that another user with access to the directory cannot redirect the writing by a link of that
 * name. A link at the path itself is replaced, not followed.
 */
#ifndef CREST_REPORTERS_REPLACED_FILE_H
#define CREST_REPORTERS_REPLACED_FILE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define CREST_REPLACED_FILE_BUFFER_BYTES 65536u
/* What a temporary file adds to the name. */
#define CREST_REPLACED_FILE_EXTRA_BYTES 22u
/* A temporary file of this age was left behind by a process that was killed. */
#define CREST_REPLACED_FILE_STALE_S 600

typedef struct crest_replaced_file {
    char *path;           /* absolute */
    const char *name;     /* in it */
    char *temporary;      /* its name while one is there, else "" */
    int directory, file;  /* descriptors, -1 if not open */
    uint64_t deadline_ns; /* on crest_now's timeline */
    int failed;           /* errno of the first failure since begin; 0: none */
    const char *doing;    /* what failed, in words that follow "while" */
    size_t used;
    char buffer[CREST_REPLACED_FILE_BUFFER_BYTES];
} crest_replaced_file;

/* A relative path is taken from the working directory of this moment. NULL with errno set. */
crest_replaced_file *crest_replaced_file_new(const char *path);
void crest_replaced_file_free(crest_replaced_file *file);

/* Each returns 0 or the errno of the first failure since begin, after which nothing is left behind
 * and further calls do nothing. ETIMEDOUT: the deadline has passed. */
int crest_replaced_file_begin(crest_replaced_file *file, uint64_t deadline_ns);
/* A crest_write_fn. */
int crest_replaced_file_write(void *file, const void *bytes, size_t length);
/* Gives the new file `mode` and puts it in place; sync non-zero: only when it is on the disk. */
int crest_replaced_file_commit(crest_replaced_file *file, mode_t mode, int sync);
/* Instead of commit: the temporary file goes. */
void crest_replaced_file_abandon(crest_replaced_file *file);

/* Removes the file itself; 0 or errno. */
int crest_replaced_file_remove(const crest_replaced_file *file);
/* Removes temporary files of this one that a process of this user left behind. */
void crest_replaced_file_sweep(const crest_replaced_file *file);

#endif
