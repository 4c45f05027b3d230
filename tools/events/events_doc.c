/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Declared events, shown. See events_doc.h.
 */
#include "events/events_doc.h"
#include "events/events_text.h"

#include <string.h>

/* A cell of a table: no line ends, no bars. */
static void events_doc_cell(const char *text, FILE *to)
{
    for (; *text != '\0'; text++) {
        if (*text == '|')
            fputs("\\|", to);
        else
            fputc((unsigned char)*text < ' ' ? ' ' : *text, to);
    }
}

static void events_doc_fields(const events_note *note, FILE *to)
{
    for (unsigned i = 0; i < note->field_count; i++) {
        fprintf(to, "%s`%s` %s", i == 0 ? "" : ", ", note->field[i].name, note->field[i].type);
        if (note->field[i].bound != 0)
            fprintf(to, " up to %u", note->field[i].bound);
    }
}

static size_t events_doc_space(const char *name)
{
    return strcspn(name, ".-");
}

void events_doc_page(const events_notes *notes, FILE *to)
{
    const char *space = "";
    size_t length = 0;
    for (size_t i = 0; i < notes->count; i++) {
        const events_note *note = &notes->note[i];
        if (i == 0 || events_doc_space(note->name) != length ||
            strncmp(space, note->name, length) != 0) {
            space = note->name;
            length = events_doc_space(space);
            fprintf(to,
                    "%s## %.*s\n\n| event | severity | values | what it says |\n"
                    "| --- | --- | --- | --- |\n",
                    i == 0 ? "" : "\n", (int)length, space);
        }
        fprintf(to, "| `%s` | %s", note->name, note->severity);
        if (strcmp(note->detail, "normal") != 0)
            fprintf(to, ", %s", note->detail);
        if (strcmp(note->privacy, "confidential") == 0)
            fputs(", confidential", to);
        fputs(" | ", to);
        events_doc_fields(note, to);
        fputs(" | ", to);
        events_doc_cell(note->doc, to);
        fputs(" |\n", to);
    }
}

void events_doc_list(const events_notes *notes, unsigned width, FILE *to)
{
    for (size_t i = 0; i < notes->count; i++) {
        const events_note *note = &notes->note[i];
        int confidential = strcmp(note->privacy, "confidential") == 0;
        fprintf(to, "%-9s %-8s  ", note->severity, note->detail);
        events_text_plain(note->name, strlen(note->name), to);
        for (unsigned f = 0; f < note->field_count; f++) {
            fprintf(to, "%s", f == 0 ? "(" : ", ");
            events_text_plain(note->field[f].name, strlen(note->field[f].name), to);
        }
        fprintf(to, "%s%s\n", note->field_count != 0 ? ")" : "",
                confidential ? "  confidential" : "");
        events_text_wrapped(note->doc, 20, width, to);
    }
}

void events_doc_json(const events_notes *notes, FILE *to)
{
    for (size_t i = 0; i < notes->count; i++) {
        const events_note *note = &notes->note[i];
        fputs("{\"event\":", to);
        events_text_json(note->name, strlen(note->name), to);
        fprintf(to, ",\"severity\":\"%s\",\"detail\":\"%s\",\"privacy\":\"%s\",\"doc\":",
                note->severity, note->detail, note->privacy);
        events_text_json(note->doc, strlen(note->doc), to);
        fputs(",\"fields\":[", to);
        for (unsigned f = 0; f < note->field_count; f++) {
            fputs(f == 0 ? "{\"name\":" : ",{\"name\":", to);
            events_text_json(note->field[f].name, strlen(note->field[f].name), to);
            fprintf(to, ",\"type\":\"%s\"", note->field[f].type);
            if (note->field[f].bound != 0)
                fprintf(to, ",\"bound\":%u", note->field[f].bound);
            fputc('}', to);
        }
        fputs("]}\n", to);
    }
}
