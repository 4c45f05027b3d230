/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The options as one of several reporters of a kind sees them: KIND@NAME and KIND@NAME.x read KIND
 * and KIND.x. See options.h.
 */
#include "run/options.h"

#include <stdio.h>
#include <string.h>

/* Bytes of an origin, the name of a reporter before it included; a longer one is cut. */
#define OPTION_VIEWS_ORIGIN_BYTES 640

/* Whether the key is `name`, or `name` and a dot with more. */
static int option_views_belongs(const char *key, const char *name, size_t length)
{
    return strncmp(key, name, length) == 0 && (key[length] == '\0' || key[length] == '.');
}

static crest_status option_views_copy(crest_options *view, const crest_options *options,
                                      const char *key, const char *value, const char *reporter)
{
    size_t length = strlen(reporter), kind_length = strcspn(reporter, "@");
    const char *origin = crest_option_origin(options, key);
    if (option_views_belongs(key, reporter, length)) {
        char plain[CREST_OPTION_KEY_BYTES_MAX + 1], where[OPTION_VIEWS_ORIGIN_BYTES];
        snprintf(plain, sizeof plain, "%.*s%s", (int)kind_length, reporter, key + length);
        snprintf(where, sizeof where, "(of %s) %s", reporter, origin);
        return crest_options_set(view, plain, value, where, NULL);
    }
    if (strchr(key, '@') != NULL || option_views_belongs(key, reporter, kind_length))
        return CREST_OK;
    return crest_options_set(view, key, value, origin, NULL);
}

crest_options *crest_options_view(const crest_options *options, const char *reporter)
{
    crest_options *view = crest_options_new();
    crest_status status = view != NULL ? CREST_OK : CREST_NO_MEMORY;
    const char *key, *value;
    size_t cursor = 0;
    while (status == CREST_OK && crest_option_next(options, "", &cursor, &key, &value))
        status = option_views_copy(view, options, key, value, reporter);
    if (status == CREST_OK)
        return view;
    crest_options_free(view);
    return NULL;
}
