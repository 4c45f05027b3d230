/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sorted list of options and the parser that fills it. See options.h; reading values as
 * durations and the like is in option_values.c, knowing keys in option_keys.c.
 */
#define _GNU_SOURCE

#include "run/options.h"
#include "base/alloc.h"
#include "base/descriptor.h"
#include "base/host_name.h"
#include "base/utf8.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Bytes of the user's own text that a message repeats. */
#define OPTIONS_SHOWN_BYTES 80
#define OPTIONS_ORIGIN_BYTES 512
#define OPTIONS_PATH_BYTES_MAX 400u

typedef struct options_entry {
    char *key;
    char *value;
    char *origin;
} options_entry;

struct crest_options {
    options_entry *entries; /* sorted by key, each key once */
    size_t count;
};

/* What is being read: a whole string, or one line of a file, where commas mean nothing. */
typedef struct options_reader {
    crest_options *options;
    const char *at;
    const char *end;
    const char *origin;
    int in_file;
    crest_error *error;
} options_reader;

/* ---- the list ---- */

crest_options *crest_options_new(void)
{
    return crest_alloc(1, sizeof(crest_options));
}

static void options_entry_fini(options_entry *entry)
{
    crest_alloc_free(entry->key);
    crest_alloc_free(entry->value);
    crest_alloc_free(entry->origin);
}

void crest_options_free(crest_options *options)
{
    if (options == NULL)
        return;
    for (size_t i = 0; i < options->count; i++)
        options_entry_fini(&options->entries[i]);
    crest_alloc_free(options->entries);
    crest_alloc_free(options);
}

/* The index of the key, or of the first greater key; *found says which. */
static size_t options_place(const crest_options *options, const char *key, int *found)
{
    size_t low = 0, high = options->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = strcmp(options->entries[middle].key, key);
        if (order == 0) {
            *found = 1;
            return middle;
        }
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    *found = 0;
    return low;
}

static crest_status options_no_memory(crest_error *error)
{
    return crest_error_set(error, CREST_NO_MEMORY, "no memory to keep the options");
}

crest_status crest_options_set(crest_options *options, const char *key, const char *value,
                               const char *origin, crest_error *error)
{
    int found;
    size_t place = options_place(options, key, &found);
    if (!found && options->count == CREST_OPTION_COUNT_MAX)
        return crest_error_set(error, CREST_INVALID_OPTIONS,
                               "more than %u options; the one too many is \"%s\" %s",
                               CREST_OPTION_COUNT_MAX, key, origin);
    options_entry entry = {crest_alloc_text(key), crest_alloc_text(value),
                           crest_alloc_text(origin)};
    if (entry.key == NULL || entry.value == NULL || entry.origin == NULL) {
        options_entry_fini(&entry);
        return options_no_memory(error);
    }
    if (found) {
        options_entry_fini(&options->entries[place]);
    } else {
        options_entry *entries =
            crest_alloc_resize(options->entries, options->count + 1, sizeof *entries);
        if (entries == NULL) {
            options_entry_fini(&entry);
            return options_no_memory(error);
        }
        memmove(entries + place + 1, entries + place, (options->count - place) * sizeof *entries);
        options->entries = entries;
        options->count++;
    }
    options->entries[place] = entry;
    return CREST_OK;
}

const char *crest_option(const crest_options *options, const char *key)
{
    if (options == NULL || key == NULL)
        return NULL;
    int found;
    size_t place = options_place(options, key, &found);
    return found ? options->entries[place].value : NULL;
}

const char *crest_option_origin(const crest_options *options, const char *key)
{
    int found;
    size_t place = options_place(options, key, &found);
    return found ? options->entries[place].origin : NULL;
}

int crest_option_next(const crest_options *options, const char *prefix, size_t *cursor,
                      const char **key, const char **value)
{
    if (options == NULL || prefix == NULL)
        return 0;
    size_t length = strlen(prefix);
    for (size_t i = *cursor; i < options->count; i++) {
        const options_entry *entry = &options->entries[i];
        if (strncmp(entry->key, prefix, length) == 0 && entry->key[length] != '\0') {
            *cursor = i + 1;
            *key = entry->key;
            *value = entry->value;
            return 1;
        }
    }
    *cursor = options->count;
    return 0;
}

/* ---- small steps of the parser ---- */

static int options_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static void options_skip_blanks(options_reader *reader)
{
    while (reader->at < reader->end && options_blank(*reader->at))
        reader->at++;
}

/* The first line feed or carriage return; NULL if there is none. */
static const char *options_line_end(const char *text, const char *end)
{
    while (text < end && *text != '\n' && *text != '\r')
        text++;
    return text < end ? text : NULL;
}

/* How many bytes of a text a message repeats: up to a line's end, cut between characters. */
static int options_shown(const char *text, size_t length)
{
    const char *line_end = options_line_end(text, text + length);
    if (line_end != NULL)
        length = (size_t)(line_end - text);
    return (int)crest_utf8_cut(text, length, OPTIONS_SHOWN_BYTES);
}

static int options_key_byte(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '-' || c == '_' || c == '@';
}

/* The end of a value without quotes: a comma, or the line's end. */
static const char *options_bare_end(const options_reader *reader)
{
    if (reader->in_file || reader->at >= reader->end)
        return reader->end;
    const char *comma = memchr(reader->at, ',', (size_t)(reader->end - reader->at));
    return comma != NULL ? comma : reader->end;
}

/* ---- values ---- */

typedef struct options_value {
    char text[CREST_OPTION_VALUE_BYTES_MAX + 1];
    size_t length;
} options_value;

/* Whether the value so far is a URL whose user and password may be next. */
static int options_in_login(const options_value *value)
{
    return strstr(value->text, "://") != NULL && strchr(value->text, '@') == NULL;
}

static int options_append(options_value *value, const char *bytes, size_t length)
{
    if (length > CREST_OPTION_VALUE_BYTES_MAX - value->length)
        return 0;
    memcpy(value->text + value->length, bytes, length);
    value->length += length;
    value->text[value->length] = '\0';
    return 1;
}

static crest_status options_too_long(const options_reader *reader, const char *key)
{
    return crest_error_set(reader->error, CREST_INVALID_OPTIONS,
                           "the value of \"%s\" %s is longer than %u bytes", key, reader->origin,
                           CREST_OPTION_VALUE_BYTES_MAX);
}

/* The replacement for the ${NAME} at `at`, and its length; NULL if NAME is unknown. */
static const char *options_variable(const char *at, const char *end, size_t *length,
                                    char text[CREST_HOST_BYTES])
{
    const char *close = memchr(at, '}', (size_t)(end - at));
    *length = close != NULL ? (size_t)(close - at) + 1 : (size_t)(end - at);
    if (*length == 7 && memcmp(at, "${HOST}", 7) == 0)
        crest_host_name(text);
    else if (*length == 6 && memcmp(at, "${PID}", 6) == 0)
        snprintf(text, CREST_HOST_BYTES, "%ld", (long)getpid());
    else
        return NULL;
    return text;
}

/* Copies the bytes up to `end` into *value: a doubled `quote` (0: none) becomes one, ${...} is
 * replaced, and $${ stands for ${ itself. */
static crest_status options_expand(const options_reader *reader, const char *key, const char *end,
                                   char quote, options_value *value)
{
    value->length = 0;
    value->text[0] = '\0';
    if (options_line_end(reader->at, end) != NULL)
        return crest_error_set(reader->error, CREST_INVALID_OPTIONS,
                               "the value of \"%s\" %s goes over a line's end; options are "
                               "separated by commas",
                               key, reader->origin);
    for (const char *at = reader->at; at < end;) {
        const char *piece = at;
        size_t length = 1, taken = 1;
        char text[CREST_HOST_BYTES];
        if (end - at >= 3 && memcmp(at, "$${", 3) == 0) {
            piece = at + 1;
            length = 2;
            taken = 3;
        } else if (end - at >= 2 && memcmp(at, "${", 2) == 0) {
            piece = options_variable(at, end, &taken, text);
            if (piece == NULL)
                return crest_error_set(reader->error, CREST_INVALID_OPTIONS,
                                       "%.*s in the value of \"%s\" %s is not known: ${PID} and "
                                       "${HOST} are replaced, and $${ stands for a plain ${",
                                       options_in_login(value) ? 2 : options_shown(at, taken), at,
                                       key, reader->origin);
            length = strlen(piece);
        } else if (quote != 0 && *at == quote) {
            taken = 2;
        }
        if (!options_append(value, piece, length))
            return options_too_long(reader, key);
        at += taken;
    }
    return CREST_OK;
}

static crest_status options_read_quoted(options_reader *reader, const char *key,
                                        options_value *value)
{
    char quote = *reader->at++;
    const char *close = reader->at;
    while (close < reader->end &&
           (*close != quote || (close + 1 < reader->end && close[1] == quote)))
        close += *close == quote ? 2 : 1;
    if (close >= reader->end)
        return crest_error_set(reader->error, CREST_INVALID_OPTIONS,
                               "the value of \"%s\" %s begins with %c, but no %c ends it", key,
                               reader->origin, quote, quote);
    crest_status status = options_expand(reader, key, close, quote, value);
    if (status != CREST_OK)
        return status;
    reader->at = close + 1;
    options_skip_blanks(reader);
    if (reader->at == options_bare_end(reader))
        return CREST_OK;
    int hidden = options_in_login(value);
    return crest_error_set(
        reader->error, CREST_INVALID_OPTIONS,
        "after the quoted value of \"%s\" %s comes \"%.*s%s\"; write a comma between options, "
        "and a quote inside quotes twice",
        key, reader->origin,
        hidden ? 0 : options_shown(reader->at, (size_t)(reader->end - reader->at)), reader->at,
        hidden ? "..." : "");
}

/* Reads a value and leaves the reader at the comma or the end behind it. */
static crest_status options_read_value(options_reader *reader, const char *key,
                                       options_value *value)
{
    options_skip_blanks(reader);
    if (reader->at < reader->end && (*reader->at == '"' || *reader->at == '\''))
        return options_read_quoted(reader, key, value);
    const char *comma = options_bare_end(reader), *end = comma;
    while (end > reader->at && options_blank(end[-1]))
        end--;
    crest_status status = options_expand(reader, key, end, 0, value);
    reader->at = comma;
    return status;
}

/* ---- items ---- */

/* A comma in the password of a URL ends the value before it: the rest is not repeated in
 * messages. */
static int options_is_rest_of_login(const options_reader *reader, const options_value *before)
{
    size_t length = (size_t)(reader->end - reader->at);
    const char *equals = memchr(reader->at, '=', length);
    if (equals != NULL)
        length = (size_t)(equals - reader->at);
    return options_in_login(before) && memchr(reader->at, '@', length) != NULL;
}

static crest_status options_read_file(options_reader *reader, options_value *value);

static crest_status options_refuse_rest(const options_reader *reader)
{
    return crest_error_set(reader->error, CREST_INVALID_OPTIONS,
                           "what comes after a URL and a comma %s is not an option, and is not "
                           "repeated here as it may be a part of a password: write a comma as %%2C "
                           "in a URL",
                           reader->origin);
}

static crest_status options_read_pair(options_reader *reader, options_value *value)
{
    char key[CREST_OPTION_KEY_BYTES_MAX + 1];
    size_t length = 0;
    const char *start = reader->at;
    int hidden = options_is_rest_of_login(reader, value);
    while (reader->at < reader->end && options_key_byte(*reader->at)) {
        if (length < sizeof key - 1)
            key[length] = *reader->at;
        length++;
        reader->at++;
    }
    options_skip_blanks(reader);
    int malformed = length == 0 || reader->at == reader->end || *reader->at != '=';
    if (hidden && (malformed || length > CREST_OPTION_KEY_BYTES_MAX))
        return options_refuse_rest(reader);
    if (malformed) {
        reader->at = start;
        return crest_error_set(
            reader->error, CREST_INVALID_OPTIONS,
            "\"%.*s\" %s is not an option: write key=value, the key of letters, digits, "
            "'.', '-', '_' and '@'",
            options_shown(start, (size_t)(options_bare_end(reader) - start)), start,
            reader->origin);
    }
    if (length > CREST_OPTION_KEY_BYTES_MAX)
        return crest_error_set(reader->error, CREST_INVALID_OPTIONS,
                               "an option's key %s is longer than %u bytes: \"%.*s...\"",
                               reader->origin, CREST_OPTION_KEY_BYTES_MAX, OPTIONS_SHOWN_BYTES,
                               start);
    key[length] = '\0';
    reader->at++;
    crest_status status = options_read_value(reader, key, value);
    return status == CREST_OK
               ? crest_options_set(reader->options, key, value->text, reader->origin, reader->error)
               : status;
}

/* Reads one item, from a byte that is neither blank nor a comma. */
static crest_status options_read_item(options_reader *reader, options_value *value)
{
    if (*reader->at != '@')
        return options_read_pair(reader, value);
    if (reader->in_file)
        return crest_error_set(reader->error, CREST_INVALID_OPTIONS,
                               "\"%.*s\" %s: a file of options may not name another one",
                               options_shown(reader->at, (size_t)(reader->end - reader->at)),
                               reader->at, reader->origin);
    reader->at++;
    crest_status status = options_read_value(reader, "@", value);
    return status == CREST_OK ? options_read_file(reader, value) : status;
}

/* Refuses bytes that no option may hold. */
static crest_status options_check_text(const char *text, size_t length, const char *origin,
                                       crest_error *error)
{
    size_t valid = crest_utf8_valid_length(text, length);
    for (size_t i = 0; i < valid; i++) {
        unsigned char c = (unsigned char)text[i];
        if ((c < ' ' && !options_blank((char)c)) || c == 127)
            valid = i;
    }
    if (valid == length)
        return CREST_OK;
    return crest_error_set(
        error, CREST_INVALID_OPTIONS, "the text %s has a byte 0x%02x at offset %zu, which is %s",
        origin, (unsigned char)text[valid], valid,
        (unsigned char)text[valid] < 128 ? "a control character" : "not valid UTF-8");
}

static crest_status options_read_lines(options_reader *reader, const char *path,
                                       options_value *value, const char *text, size_t length)
{
    char origin[OPTIONS_ORIGIN_BYTES];
    const char *end = text + length;
    unsigned number = 0;
    for (const char *line = text; line < end;) {
        const char *feed = memchr(line, '\n', (size_t)(end - line));
        options_reader inner = *reader;
        inner.in_file = 1;
        inner.at = line;
        inner.end = feed != NULL ? feed : end;
        inner.origin = origin;
        snprintf(origin, sizeof origin, "in %s line %u", path, ++number);
        options_skip_blanks(&inner);
        if (inner.at < inner.end && *inner.at != '#') {
            crest_status status = options_read_item(&inner, value);
            if (status != CREST_OK)
                return status;
        }
        line = inner.end + 1;
    }
    return CREST_OK;
}

/* Reads a regular file into `bytes` of `size`; -1 with errno, or the length. */
static ssize_t options_load(const char *path, char *bytes, size_t size)
{
    /* O_NONBLOCK: opening a pipe without a writer would block for ever before its type is known. */
    int file = crest_descriptor_high(open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
    if (file < 0)
        return -1;
    struct stat about;
    ssize_t used = fstat(file, &about) == 0 ? 0 : -1;
    if (used == 0 && !S_ISREG(about.st_mode)) {
        errno = S_ISDIR(about.st_mode) ? EISDIR : EINVAL;
        used = -1;
    }
    while (used >= 0 && (size_t)used < size) {
        ssize_t got = read(file, bytes + used, size - (size_t)used);
        if (got == 0)
            break;
        if (got < 0 && errno == EINTR)
            continue;
        used = got < 0 ? -1 : used + got;
    }
    int kept = errno;
    close(file);
    errno = kept;
    return used;
}

static crest_status options_read_file(options_reader *reader, options_value *value)
{
    char path[OPTIONS_PATH_BYTES_MAX + 1], origin[OPTIONS_ORIGIN_BYTES];
    if (value->length == 0 || value->length > OPTIONS_PATH_BYTES_MAX)
        return crest_error_set(reader->error, CREST_INVALID_OPTIONS,
                               "@ %s is to be followed by the path of a file, of at most %u bytes",
                               reader->origin, OPTIONS_PATH_BYTES_MAX);
    memcpy(path, value->text, value->length + 1);
    char *text = crest_alloc(CREST_OPTIONS_BYTES_MAX + 1, 1);
    if (text == NULL)
        return options_no_memory(reader->error);
    crest_status status;
    ssize_t length = options_load(path, text, CREST_OPTIONS_BYTES_MAX + 1);
    const char *why = errno == EINVAL ? "it is not a regular file" : strerror(errno);
    snprintf(origin, sizeof origin, "in %s", path);
    if (length < 0)
        status = crest_error_set(reader->error, CREST_INVALID_OPTIONS,
                                 "the file of options %s, named %s, cannot be read: %s", path,
                                 reader->origin, why);
    else if (length > (ssize_t)CREST_OPTIONS_BYTES_MAX)
        status = crest_error_set(reader->error, CREST_INVALID_OPTIONS,
                                 "the file of options %s, named %s, is larger than %u bytes", path,
                                 reader->origin, CREST_OPTIONS_BYTES_MAX);
    else
        status = options_check_text(text, (size_t)length, origin, reader->error);
    if (status == CREST_OK)
        status = options_read_lines(reader, path, value, text, (size_t)length);
    crest_alloc_free(text);
    return status;
}

crest_status crest_options_add(crest_options *options, const char *text, const char *origin,
                               crest_error *error)
{
    if (text == NULL)
        return CREST_OK;
    size_t length = strnlen(text, CREST_OPTIONS_BYTES_MAX + 1);
    if (length > CREST_OPTIONS_BYTES_MAX)
        return crest_error_set(error, CREST_INVALID_OPTIONS, "the text %s is longer than %u bytes",
                               origin, CREST_OPTIONS_BYTES_MAX);
    crest_status status = options_check_text(text, length, origin, error);
    if (status != CREST_OK)
        return status;
    /* on the heap, for threads with small stacks */
    options_value *value = crest_alloc(1, sizeof *value);
    if (value == NULL)
        return options_no_memory(error);
    options_reader reader = {options, text, text + length, origin, 0, error};
    while (status == CREST_OK) {
        while (reader.at < reader.end && (options_blank(*reader.at) || *reader.at == ','))
            reader.at++;
        if (reader.at == reader.end)
            break;
        status = options_read_item(&reader, value);
    }
    crest_alloc_free(value);
    return status;
}
