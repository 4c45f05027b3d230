/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keys of options: which are known, and which known key an unknown one probably meant. See
 * options.h.
 */
#include "run/options.h"

#include <stdio.h>
#include <string.h>

/* Words further apart than this are not taken for a typing error. */
#define OPTION_KEYS_DISTANCE_MAX 3u

/* Kinds of reporters in libraries of their own; a program that does not link them lacks their
 * keys. */
static const char *const option_keys_elsewhere[] = {"console",     "json",   "prometheus",
                                                    "pushgateway", "statsd", "textfile"};

/* The key without a reporter's own name: KIND@NAME.x becomes KIND.x. */
static void option_keys_plain(const char *key, char plain[CREST_OPTION_KEY_BYTES_MAX + 1])
{
    size_t kind = strcspn(key, "@"), name = key[kind] != '\0' ? strcspn(key + kind, ".") : 0;
    snprintf(plain, CREST_OPTION_KEY_BYTES_MAX + 1, "%.*s%s", (int)kind, key, key + kind + name);
}

static int option_keys_match(const char *known, const char *key)
{
    size_t length = strlen(known);
    if (length > 0 && known[length - 1] == '.')
        return strncmp(known, key, length) == 0 && key[length] != '\0';
    return strcmp(known, key) == 0;
}

/*
 * The optimal string alignment distance: inserted, missing, other and swapped bytes. Source: the
 * Wagner-Fischer table, three rows of it. Both texts are at most CREST_OPTION_KEY_BYTES_MAX long.
 */
static unsigned option_keys_distance(const char *a, const char *b)
{
    unsigned rows[3][CREST_OPTION_KEY_BYTES_MAX + 1];
    size_t width = strlen(b);
    unsigned *before = rows[0], *last = rows[1], *row = rows[2];
    for (size_t j = 0; j <= width; j++)
        last[j] = (unsigned)j;
    for (size_t i = 1; a[i - 1] != '\0'; i++) {
        row[0] = (unsigned)i;
        for (size_t j = 1; j <= width; j++) {
            unsigned least = last[j - 1] + (a[i - 1] != b[j - 1]);
            if (last[j] + 1 < least)
                least = last[j] + 1;
            if (row[j - 1] + 1 < least)
                least = row[j - 1] + 1;
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
                before[j - 2] + 1 < least)
                least = before[j - 2] + 1;
            row[j] = least;
        }
        unsigned *spare = before;
        before = last;
        last = row;
        row = spare;
    }
    return last[width];
}

/* The known key that was probably meant; NULL if none is close. */
static const char *option_keys_meant(const char *key, const char *const *known, size_t known_count)
{
    const char *meant = NULL;
    size_t third = strlen(key) / 3;
    unsigned limit = third < OPTION_KEYS_DISTANCE_MAX ? (unsigned)third : OPTION_KEYS_DISTANCE_MAX;
    unsigned least = limit > 0 ? limit + 1 : 2;
    for (size_t i = 0; i < known_count; i++) {
        if (strlen(known[i]) > CREST_OPTION_KEY_BYTES_MAX)
            continue;
        unsigned distance = option_keys_distance(key, known[i]);
        if (distance < least) {
            least = distance;
            meant = known[i];
        }
    }
    return meant;
}

/* The library whose kind the key belongs to, if this program does not link it. */
static const char *option_keys_library(const char *key, const char *const *known,
                                       size_t known_count)
{
    size_t count = sizeof option_keys_elsewhere / sizeof *option_keys_elsewhere;
    for (size_t i = 0; i < count; i++) {
        const char *kind = option_keys_elsewhere[i];
        size_t length = strlen(kind);
        if (strncmp(key, kind, length) != 0 || (key[length] != '\0' && key[length] != '.'))
            continue;
        for (size_t k = 0; k < known_count; k++) {
            if (strcmp(known[k], kind) == 0)
                return NULL;
        }
        return kind;
    }
    return NULL;
}

/* What a message puts behind a key that stands for all that begin with it. */
static const char *option_keys_rest(const char *known)
{
    size_t length = known != NULL ? strlen(known) : 0;
    return length > 0 && known[length - 1] == '.' ? "KEY" : "";
}

/* Bytes of the key's group: what comes before the first dot and is a key itself, dot included; 0:
 * none. */
static size_t option_keys_group(const char *key, const char *const *known, size_t known_count)
{
    size_t length = strcspn(key, ".");
    for (size_t i = 0; key[length] == '.' && i < known_count; i++)
        if (strlen(known[i]) == length && strncmp(known[i], key, length) == 0)
            return length + 1;
    return 0;
}

/* Lists the known keys of `key`'s group, without the group's name; without a group, the keys that
 * are in none. All keys of all reporters would not fit into a message. */
static void option_keys_list(const char *key, size_t group, const char *const *known,
                             size_t known_count, char list[CREST_ERROR_BYTES])
{
    size_t used = 0;
    list[0] = '\0';
    for (size_t i = 0; i < known_count && used < CREST_ERROR_BYTES; i++) {
        if (option_keys_group(known[i], known, known_count) != group ||
            strncmp(known[i], key, group) != 0)
            continue;
        used +=
            (size_t)snprintf(list + used, CREST_ERROR_BYTES - used, "%s%s%s", used > 0 ? ", " : "",
                             known[i] + group, option_keys_rest(known[i]));
    }
}

static crest_status option_keys_refuse(const char *key, const char *origin,
                                       const char *const *known, size_t known_count,
                                       crest_error *error)
{
    char plain[CREST_OPTION_KEY_BYTES_MAX + 1];
    option_keys_plain(key, plain);
    const char *kind = option_keys_library(plain, known, known_count);
    if (kind != NULL)
        return crest_error_set(error, CREST_INVALID_OPTIONS,
                               "%s %s needs the %s reporter, which this program was linked "
                               "without: link it with `pkg-config --libs crest-reporters`",
                               key, origin, kind);
    char list[CREST_ERROR_BYTES], slip[CREST_OPTION_KEY_BYTES_MAX + 24] = "";
    size_t group = option_keys_group(plain, known, known_count);
    option_keys_list(plain, group, known, known_count, list);
    const char *meant = option_keys_meant(plain, known, known_count);
    if (meant != NULL)
        snprintf(slip, sizeof slip, " Did you mean \"%s%s\"?", meant, option_keys_rest(meant));
    if (group > 0)
        return crest_error_set(error, CREST_INVALID_OPTIONS,
                               "there is no option \"%s\" (%s).%s Those of %.*s are: %s", key,
                               origin, slip, (int)group - 1, plain, list);
    return crest_error_set(error, CREST_INVALID_OPTIONS,
                           "there is no option \"%s\" (%s).%s There are: %s; and those that begin "
                           "with one of these and a dot",
                           key, origin, slip, list);
}

crest_status crest_options_check_keys(const crest_options *options, const char *const *known,
                                      size_t known_count, crest_error *error)
{
    size_t cursor = 0;
    const char *key, *value;
    while (crest_option_next(options, "", &cursor, &key, &value)) {
        char plain[CREST_OPTION_KEY_BYTES_MAX + 1];
        option_keys_plain(key, plain);
        int found = 0;
        for (size_t i = 0; i < known_count && !found; i++)
            found = option_keys_match(known[i], plain);
        if (!found)
            return option_keys_refuse(key, crest_option_origin(options, key), known, known_count,
                                      error);
    }
    return CREST_OK;
}
