/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What makes a program need the library of reporters, of which it calls nothing by name: they
 * register themselves when they are loaded. crest-reporters.pc asks the linker for this symbol,
 * which is in an archive of its own; its reference keeps the shared library where --as-needed is
 * the default, and takes the member that registers out of the archive. Build systems see plain -l
 * words, which they may look up, reorder and replace by paths.
 */
#include <crest/pushgateway.h>

extern const int *const crest_reporters_wanted;
__attribute__((visibility("hidden"))) const int *const crest_reporters_wanted =
    &crest_reporters_linked;
