/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Declarations of events out of ELF files. See events_note.h. Nothing in a file is trusted: each
 * offset and length is checked against what was read.
 */
#include "events/events_note.h"

#include <crest/event_lines.h>

#include <ctype.h>
#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EVENTS_NOTE_SECTION "crest_events"
#define EVENTS_NOTE_BEGIN "crest-event"
#define EVENTS_NOTE_SECTION_BYTES_MAX (16u << 20)
#define EVENTS_NOTE_SECTIONS_MAX 65536u

int events_notes_is_object(const char *path)
{
    char begin[SELFMAG] = "";
    FILE *file = fopen(path, "rbe");
    size_t got = file != NULL ? fread(begin, 1, sizeof begin, file) : 0;
    if (file != NULL)
        fclose(file);
    return got == sizeof begin && memcmp(begin, ELFMAG, SELFMAG) == 0;
}

static int events_note_at(FILE *file, uint64_t offset, void *bytes, size_t length)
{
    return offset < (uint64_t)INT64_MAX && fseeko(file, (off_t)offset, SEEK_SET) == 0 &&
           fread(bytes, 1, length, file) == length;
}

/* The section's header; 0 when there is none. */
static int events_note_find(FILE *file, const Elf64_Ehdr *head, Elf64_Shdr *found)
{
    Elf64_Shdr names, section;
    char name[sizeof EVENTS_NOTE_SECTION];
    if (head->e_shentsize != sizeof section || head->e_shoff == 0 ||
        !events_note_at(file, head->e_shoff + (uint64_t)head->e_shstrndx * sizeof names, &names,
                        sizeof names))
        return 0;
    for (unsigned i = 0; i < head->e_shnum; i++) {
        if (!events_note_at(file, head->e_shoff + (uint64_t)i * sizeof section, &section,
                            sizeof section))
            return 0;
        if (section.sh_name < names.sh_size &&
            events_note_at(file, names.sh_offset + section.sh_name, name, sizeof name) &&
            memcmp(name, EVENTS_NOTE_SECTION, sizeof name) == 0) {
            *found = section;
            return 1;
        }
    }
    return 0;
}

/* Room for one more note; NULL without memory. */
static events_note *events_note_new(events_notes *notes)
{
    events_note *grown = realloc(notes->note, (notes->count + 1) * sizeof *grown);
    if (grown == NULL)
        return NULL;
    notes->note = grown;
    grown += notes->count++;
    memset(grown, 0, sizeof *grown);
    return grown;
}

/* Keeps the text, so that notes may point into it. */
static int events_note_keep(events_notes *notes, char *text)
{
    char **grown = realloc(notes->texts, (notes->text_count + 1) * sizeof *grown);
    if (grown == NULL)
        return 0;
    notes->texts = grown;
    grown[notes->text_count++] = text;
    return 1;
}

/* The next text, and *at behind it; NULL when no NUL ends it. */
static char *events_note_text(char **at, char *end)
{
    char *text = *at, *nul = memchr(text, '\0', (size_t)(end - text));
    if (nul == NULL)
        return NULL;
    *at = nul + 1;
    return text;
}

/* CREST_INFO becomes info. */
static const char *events_note_word(char *text)
{
    if (strncmp(text, "CREST_", 6) == 0)
        text += 6;
    for (char *at = text; *at != '\0'; at++)
        *at = (char)tolower((unsigned char)*at);
    return text;
}

/* "text proposer 64". */
static int events_note_field(events_note *note, char *text)
{
    if (note->field_count == CREST_EVENT_FIELDS_MAX)
        return 0;
    struct events_note_field *field = &note->field[note->field_count++];
    char *name = strchr(text, ' '), *bound = name != NULL ? strchr(name + 1, ' ') : NULL;
    if (bound == NULL)
        return 0;
    *name++ = *bound++ = '\0';
    field->type = strcmp(text, "_Bool") == 0 ? "bool" : text;
    field->name = name;
    if (strcmp(text, "text") == 0 || strcmp(text, "bytes") == 0) {
        unsigned long bytes = strtoul(bound, NULL, 0);
        field->bound = bytes != 0 && bytes <= CREST_EVENT_BOUND_MAX ? (unsigned)bytes
                                                                    : CREST_EVENT_BOUND_DEFAULT;
    }
    return 1;
}

/* The notes of a section, of which each begins with a text that marks it. */
static const char *events_note_parse(events_notes *notes, char *at, char *end)
{
    char *text, *words[5];
    while (at < end && (text = events_note_text(&at, end)) != NULL) {
        if (strcmp(text, EVENTS_NOTE_BEGIN) != 0)
            continue; /* what the linker put between */
        for (size_t i = 0; i < 5; i++)
            if ((words[i] = events_note_text(&at, end)) == NULL)
                return "its section crest_events ends within a declaration";
        events_note *note = events_note_new(notes);
        if (note == NULL)
            return "no memory";
        note->name = words[0];
        note->severity = events_note_word(words[1]);
        note->detail = events_note_word(words[2]);
        note->privacy = events_note_word(words[3]);
        note->doc = words[4];
        while (at < end && *at != '\0')
            if ((text = events_note_text(&at, end)) == NULL || !events_note_field(note, text))
                return "its section crest_events has a field that is none";
    }
    return NULL;
}

static const char *events_note_open(events_notes *notes, FILE *file)
{
    Elf64_Ehdr head;
    Elf64_Shdr section;
    if (!events_note_at(file, 0, &head, sizeof head) ||
        memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 || head.e_ident[EI_CLASS] != ELFCLASS64)
        return "it is no 64-bit ELF file";
    if (!events_note_find(file, &head, &section))
        return "it declares no events: it has no section crest_events";
    if (section.sh_size > EVENTS_NOTE_SECTION_BYTES_MAX)
        return "its section crest_events is too large to be one";
    char *text = malloc(section.sh_size + 1);
    if (text == NULL || !events_note_keep(notes, text)) {
        free(text);
        return "no memory";
    }
    if (!events_note_at(file, section.sh_offset, text, section.sh_size))
        return "its section crest_events lies beyond its end";
    return events_note_parse(notes, text, text + section.sh_size);
}

const char *events_notes_read(events_notes *notes, const char *path, crest_error *error)
{
    FILE *file = fopen(path, "rbe");
    const char *wrong = file != NULL ? events_note_open(notes, file) : strerror(errno);
    if (file != NULL)
        fclose(file);
    if (wrong == NULL)
        return NULL;
    crest_error_set(error, CREST_IO, "%s: %s", path, wrong);
    return error->message;
}

int events_notes_add(events_notes *notes, const crest_event_info *info)
{
    static const char *const types[] = {"", "u64", "i64", "double", "bool", "text", "bytes", "op"};
    events_note *note = events_note_new(notes);
    if (note == NULL)
        return 0;
    note->name = info->name;
    note->doc = info->doc;
    note->severity = crest_severity_text(info->severity);
    note->detail = crest_detail_text(info->detail);
    note->privacy = info->privacy == CREST_CONFIDENTIAL ? "confidential" : "public";
    note->field_count = info->field_count;
    for (unsigned i = 0; i < info->field_count; i++)
        note->field[i] = (struct events_note_field){
            info->fields[i].type < CREST_EVENT_TYPE_COUNT ? types[info->fields[i].type] : "",
            info->fields[i].name, info->fields[i].bound};
    return 1;
}

static int events_note_order(const void *one, const void *other)
{
    return strcmp(((const events_note *)one)->name, ((const events_note *)other)->name);
}

void events_notes_sort(events_notes *notes)
{
    size_t kept = 0;
    if (notes->count != 0)
        qsort(notes->note, notes->count, sizeof *notes->note, events_note_order);
    for (size_t i = 0; i < notes->count; i++)
        if (kept == 0 || strcmp(notes->note[kept - 1].name, notes->note[i].name) != 0)
            notes->note[kept++] = notes->note[i];
    notes->count = kept;
}

void events_notes_free(events_notes *notes)
{
    for (size_t i = 0; i < notes->text_count; i++)
        free(notes->texts[i]);
    free(notes->texts);
    free(notes->note);
}
