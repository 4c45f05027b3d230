/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Frames that another runtime has named, as a JVM its methods: each name is a number beyond all
 * addresses of a process, so that tables of stacks and profiles hold both alike. A name stays for
 * the life of the process.
 */
#ifndef CREST_PROFILING_NAMED_FRAMES_H
#define CREST_PROFILING_NAMED_FRAMES_H

#include <crest/profile.h>

/* No address of user space has this bit; those of vsyscall, which the kernel maps, have all high
 * bits. */
#define CREST_NAMED_FRAME (UINT64_C(1) << 63)
#define CREST_NAMED_FRAME_END (CREST_NAMED_FRAME + CREST_PROFILE_NAMES_MAX)

/* The name of a frame, or NULL: it is an address. Any thread. */
const char *crest_named_frame(uint64_t frame);

/* Whether another runtime samples the code that is in no module: crest_profile_cover. Any handler.
 */
int crest_named_frames_cover(void);

#endif
