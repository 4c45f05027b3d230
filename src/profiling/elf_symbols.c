/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Symbols of ELF files. See elf_symbols.h. Source: System V ABI, chapters 4 and 5.
 */
#define _GNU_SOURCE
#include "profiling/elf_symbols.h"
#include "base/alloc.h"

#include <elf.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A section that is larger is not read. */
#define ELF_SECTION_BYTES_MAX (UINT64_C(512) << 20)

int crest_elf_open(crest_elf *elf, const char *path)
{
    struct stat about;
    *elf = (crest_elf){.file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)};
    if (elf->file < 0)
        return 0;
    if (fstat(elf->file, &about) == 0 && S_ISREG(about.st_mode)) {
        elf->size = (uint64_t)about.st_size;
        return 1;
    }
    close(elf->file);
    return 0;
}

void crest_elf_close(crest_elf *elf)
{
    if (elf->bytes == NULL)
        close(elf->file);
}

/* Reads bytes at an offset; 0 when they are not all there. */
static int elf_read(const crest_elf *elf, uint64_t offset, void *to, uint64_t bytes)
{
    if (offset > elf->size || bytes > elf->size - offset)
        return 0;
    if (elf->bytes != NULL) {
        memcpy(to, elf->bytes + offset, bytes);
        return 1;
    }
    for (uint64_t done = 0; done < bytes;) {
        ssize_t part = pread(elf->file, (char *)to + done, bytes - done, (off_t)(offset + done));
        if (part <= 0)
            return 0;
        done += (uint64_t)part;
    }
    return 1;
}

/* The header, if it is a file of 64 bits with sections. */
static int elf_header(const crest_elf *elf, Elf64_Ehdr *header)
{
    return elf_read(elf, 0, header, sizeof *header) &&
           memcmp(header->e_ident, ELFMAG, SELFMAG) == 0 &&
           header->e_ident[EI_CLASS] == ELFCLASS64 && header->e_ident[EI_DATA] == ELFDATA2LSB &&
           header->e_shentsize == sizeof(Elf64_Shdr);
}

static int elf_section(const crest_elf *elf, const Elf64_Ehdr *header, unsigned number,
                       Elf64_Shdr *section)
{
    return number < header->e_shnum && header->e_shoff < elf->size &&
           elf_read(elf, header->e_shoff + (uint64_t)number * sizeof *section, section,
                    sizeof *section);
}

static int elf_find(const crest_elf *elf, const Elf64_Ehdr *header, uint32_t type,
                    Elf64_Shdr *section)
{
    for (unsigned i = 0; i < header->e_shnum; i++)
        if (elf_section(elf, header, i, section) && section->sh_type == type)
            return 1;
    return 0;
}

/* A section's bytes and a NUL behind them, to be freed; NULL when they cannot be had. */
static char *elf_content(const crest_elf *elf, const Elf64_Shdr *section)
{
    if (section->sh_size > elf->size || section->sh_size > ELF_SECTION_BYTES_MAX)
        return NULL;
    char *content = crest_alloc_resize(NULL, section->sh_size + 1, 1);
    if (content != NULL && elf_read(elf, section->sh_offset, content, section->sh_size)) {
        content[section->sh_size] = '\0';
        return content;
    }
    crest_alloc_free(content);
    return NULL;
}

static void elf_symbols(const char *symbols, uint64_t bytes, const char *names, uint64_t length,
                        crest_elf_each *each, void *context)
{
    Elf64_Sym symbol;
    for (uint64_t at = 0; bytes - at >= sizeof symbol; at += sizeof symbol) {
        memcpy(&symbol, symbols + at, sizeof symbol);
        unsigned type = ELF64_ST_TYPE(symbol.st_info);
        if ((type == STT_FUNC || type == STT_GNU_IFUNC) && symbol.st_shndx != SHN_UNDEF &&
            symbol.st_size != 0 && symbol.st_name != 0 && symbol.st_name < length)
            each(context, symbol.st_value, symbol.st_size, names + symbol.st_name);
    }
}

size_t crest_elf_functions(const crest_elf *elf, crest_elf_each *each, crest_elf_done *done,
                           void *context)
{
    Elf64_Ehdr header;
    Elf64_Shdr table, texts;
    if (!elf_header(elf, &header))
        return 0;
    int whole = elf_find(elf, &header, SHT_SYMTAB, &table);
    if ((!whole && !elf_find(elf, &header, SHT_DYNSYM, &table)) ||
        !elf_section(elf, &header, table.sh_link, &texts))
        return 0;
    char *symbols = elf_content(elf, &table), *names = elf_content(elf, &texts);
    int good = symbols != NULL && names != NULL;
    if (good) {
        elf_symbols(symbols, table.sh_size, names, texts.sh_size, each, context);
        done(context, names, texts.sh_size);
    }
    crest_alloc_free(symbols);
    crest_alloc_free(names);
    return good && whole ? table.sh_size / sizeof(Elf64_Sym) : 0;
}

size_t crest_elf_build_id(const crest_elf *elf, uint8_t *id, size_t room)
{
    Elf64_Ehdr header;
    Elf64_Shdr notes;
    struct {
        Elf64_Nhdr words;
        char name[4];
    } note;
    if (!elf_header(elf, &header))
        return 0;
    for (unsigned i = 0; i < header.e_shnum; i++) {
        if (!elf_section(elf, &header, i, &notes) || notes.sh_type != SHT_NOTE ||
            notes.sh_size < sizeof note || !elf_read(elf, notes.sh_offset, &note, sizeof note) ||
            note.words.n_type != NT_GNU_BUILD_ID || note.words.n_namesz != 4 ||
            memcmp(note.name, "GNU", 4) != 0 || note.words.n_descsz > notes.sh_size - sizeof note)
            continue;
        size_t bytes = note.words.n_descsz < room ? note.words.n_descsz : room;
        return elf_read(elf, notes.sh_offset + sizeof note, id, bytes) ? bytes : 0;
    }
    return 0;
}
