/* SPDX-License-Identifier: Apache-2.0 */
/*
 * /proc/self/mountinfo: which file system is mounted where, as the process sees it. Text in, rows
 * out; pure.
 *
 *     crest_mount_row row;
 *     while (crest_mountinfo_next(&text, &row, &fault))
 *         ...row.point, row.type...
 *
 * What the kernel writes as an octal escape, a blank as \040, is decoded. Later rows are mounted
 * on top of earlier ones. Source: proc_pid_mountinfo(5).
 */
#ifndef CREST_SYSTEM_MOUNT_TEXT_H
#define CREST_SYSTEM_MOUNT_TEXT_H

#include "system/parse/proc_table.h"

/* Bytes of a mount point or of the mounted folder's path, and of a type, each with its NUL. A row
 * with longer texts is a fault. */
#define CREST_MOUNT_PATH_BYTES 1024u
#define CREST_MOUNT_TYPE_BYTES 64u

typedef struct crest_mount_row {
    uint64_t major, minor;
    char root[CREST_MOUNT_PATH_BYTES];  /* which folder of the file system is mounted */
    char point[CREST_MOUNT_PATH_BYTES]; /* where */
    char type[CREST_MOUNT_TYPE_BYTES];
    int read_only;
} crest_mount_row;

/* The next mount; 0 at the end. */
int crest_mountinfo_next(crest_text *text, crest_mount_row *row, crest_fault *fault);

/* Copies a path and decodes \ooo; 0 when it does not fit or has a NUL. Other backslashes stay. */
int crest_mount_path(crest_text escaped, char *path, size_t size);

#endif
