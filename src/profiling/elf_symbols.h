/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions of an ELF file, as its tables of symbols list them. The file is not ours: everything
 * in it is checked against its size.
 */
#ifndef CREST_PROFILING_ELF_SYMBOLS_H
#define CREST_PROFILING_ELF_SYMBOLS_H

#include <stddef.h>
#include <stdint.h>

/* In memory, or a file, which is read piece by piece: a mapping of it would raise SIGBUS when the
 * file is cut short meanwhile. */
typedef struct crest_elf {
    const unsigned char *bytes; /* NULL: `file` */
    int file;
    uint64_t size;
} crest_elf;

/* Opens a regular file; 0 when that is impossible. Closed with crest_elf_close. */
int crest_elf_open(crest_elf *elf, const char *path);
void crest_elf_close(crest_elf *elf);

/* Called for every function with a size and a name, in the file's order and addresses. The name
 * lies there until `done` returns. */
typedef void crest_elf_each(void *context, uint64_t from, uint64_t bytes, const char *name);
/* Called once after them: the memory that names lie in is freed afterwards. */
typedef void crest_elf_done(void *context, const char *names, size_t bytes);

/* Calls both: for .symtab, or .dynsym where that is all there is. Returns how many symbols of a
 * .symtab there were; 0: it has none, or something is broken. 64 bits, little-endian. */
size_t crest_elf_functions(const crest_elf *elf, crest_elf_each *each, crest_elf_done *done,
                           void *context);

/* The file's build id; the number of bytes, 0: it has none. */
size_t crest_elf_build_id(const crest_elf *elf, uint8_t *id, size_t room);

#endif
