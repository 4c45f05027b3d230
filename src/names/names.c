/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The grammar of names, and the mapping of canonical to exported names. See names.h.
 */
#include "names/names.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ---- grammar ---- */

/* Not isalpha and its relatives: they ask the locale. */
static int names_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static int names_word(char c)
{
    return names_letter(c) || (c >= '0' && c <= '9') || c == '_';
}

__attribute__((format(printf, 4, 5))) static crest_status
names_refuse(crest_status status, char *why, size_t size, const char *format, ...)
{
    if (why == NULL || size == 0)
        return status;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(why, size, format, arguments);
    va_end(arguments);
    return status;
}

/* Any byte as an operator can read it. */
static const char *names_byte(char c, char text[8])
{
    if (c > ' ' && c < 127)
        snprintf(text, 8, "'%c'", c);
    else
        snprintf(text, 8, "\\x%02x", (unsigned char)c);
    return text;
}

/*
 * Names of series that others add beside ours: Prometheus for each scrape and for its alerts, the
 * Pushgateway for each group, the page for its target. A server would drop, overwrite or duplicate
 * a metric of such a name, depending on the server.
 */
static const char *const names_reserved[] = {
    "ALERTS",
    "ALERTS_FOR_STATE",
    "crest_target",
    "crest_target_info",
    "push_failure_time",
    "push_failure_time_seconds",
    "push_time",
    "push_time_seconds",
    "scrape_body_size",
    "scrape_body_size_bytes",
    "scrape_duration",
    "scrape_duration_seconds",
    "scrape_sample_limit",
    "scrape_samples_post_metric_relabeling",
    "scrape_samples_scraped",
    "scrape_series_added",
    "scrape_timeout",
    "scrape_timeout_seconds",
    "up",
};

static crest_status names_check_reserved(const char *name, char *why, size_t size)
{
    char base[CREST_NAME_BYTES_MAX + 1];
    crest_exported_base(name, base, sizeof base);
    for (size_t i = 0; i < sizeof names_reserved / sizeof names_reserved[0]; i++)
        if (strcmp(base, names_reserved[i]) == 0)
            return names_refuse(CREST_INVALID_NAME, why, size,
                                "%s is exported by Prometheus, the Pushgateway or Crest itself",
                                base);
    return CREST_OK;
}

crest_status crest_name_check(const char *name, char *why, size_t size)
{
    const crest_status bad = CREST_INVALID_NAME;
    char byte[8];
    if (why != NULL && size != 0)
        why[0] = '\0';
    if (name == NULL || name[0] == '\0')
        return names_refuse(bad, why, size, "it is empty");
    if (!names_letter(name[0]))
        return names_refuse(bad, why, size, "it begins with %s, not with a letter",
                            names_byte(name[0], byte));
    size_t at = 1;
    for (; name[at] != '\0'; at++) {
        char c = name[at];
        if (at >= CREST_NAME_BYTES_MAX)
            return names_refuse(bad, why, size, "it is longer than %u bytes, prefix included",
                                CREST_NAME_BYTES_MAX);
        if (names_word(c))
            continue;
        if (c != '.' && c != '-')
            return names_refuse(bad, why, size,
                                "it has %s at byte %zu; only letters, digits, _, . and - are valid",
                                names_byte(c, byte), at + 1);
        if (!names_word(name[at - 1]))
            return names_refuse(bad, why, size, "it has two separators in a row, at byte %zu", at);
    }
    if (!names_word(name[at - 1]))
        return names_refuse(bad, why, size, "it ends with a separator");
    return names_check_reserved(name, why, size);
}

crest_status crest_label_key_syntax(const char *key, char *why, size_t size)
{
    const crest_status bad = CREST_INVALID_LABEL;
    char byte[8];
    if (why != NULL && size != 0)
        why[0] = '\0';
    if (key == NULL || key[0] == '\0')
        return names_refuse(bad, why, size, "a label key is empty");
    if (!names_letter(key[0]))
        return names_refuse(bad, why, size, "label key %.100s begins with %s, not with a letter",
                            key, names_byte(key[0], byte));
    for (size_t at = 1; key[at] != '\0'; at++) {
        if (at >= CREST_LABEL_KEY_BYTES_MAX)
            return names_refuse(bad, why, size, "a label key is longer than %u bytes",
                                CREST_LABEL_KEY_BYTES_MAX);
        if (!names_word(key[at]))
            return names_refuse(bad, why, size,
                                "a label key has %s at byte %zu; only letters, digits and _ are "
                                "valid",
                                names_byte(key[at], byte), at + 1);
    }
    return CREST_OK;
}

crest_status crest_label_key_check(const char *key, char *why, size_t size)
{
    static const char *const reserved[] = {"le", "quantile", "outcome", "job", "instance"};
    crest_status status = crest_label_key_syntax(key, why, size);
    if (status != CREST_OK)
        return status;
    for (size_t i = 0; i < sizeof reserved / sizeof reserved[0]; i++)
        if (strcmp(key, reserved[i]) == 0)
            return names_refuse(CREST_INVALID_LABEL, why, size,
                                "label key %s is one that exporters use themselves", key);
    return CREST_OK;
}

crest_status crest_label_keys_check(const char *const *keys, unsigned count, char *why, size_t size)
{
    if (why != NULL && size != 0)
        why[0] = '\0';
    if (count > CREST_LABELS_MAX)
        return names_refuse(CREST_INVALID_LABEL, why, size, "it has %u label keys; %u is the limit",
                            count, CREST_LABELS_MAX);
    for (unsigned i = 0; i < count; i++) {
        crest_status status = crest_label_key_check(keys[i], why, size);
        if (status != CREST_OK)
            return status;
        for (unsigned other = 0; other < i; other++)
            if (strcmp(keys[other], keys[i]) == 0)
                return names_refuse(CREST_INVALID_LABEL, why, size, "label key %s is there twice",
                                    keys[i]);
    }
    return CREST_OK;
}

/* ---- units ---- */

const char *crest_unit_suffix(crest_unit unit)
{
    switch (unit) {
    case CREST_NONE: return "";
    case CREST_BYTES: return "bytes";
    case CREST_NANOSECONDS:
    case CREST_MICROSECONDS:
    case CREST_MILLISECONDS:
    case CREST_SECONDS: return "seconds";
    case CREST_RATIO: return "ratio";
    }
    return "";
}

unsigned crest_unit_decimals(crest_unit unit)
{
    switch (unit) {
    case CREST_NANOSECONDS: return 9;
    case CREST_MICROSECONDS: return 6;
    case CREST_MILLISECONDS: return 3;
    case CREST_NONE:
    case CREST_BYTES:
    case CREST_SECONDS:
    case CREST_RATIO: return 0;
    }
    return 0;
}

crest_unit crest_unit_of(crest_kind kind, crest_unit unit)
{
    return kind == CREST_KIND_TIMER ? CREST_NANOSECONDS : unit;
}

/* ---- exported names ---- */

static char names_export_byte(char c)
{
    return c == '.' || c == '-' ? '_' : c;
}

/* A name being built in a text that may be too short for it: the length counts on. */
typedef struct names_text {
    char *text;
    size_t size;
    size_t length;
} names_text;

static void names_put(names_text *out, const char *bytes, size_t length)
{
    for (size_t i = 0; i < length; i++, out->length++)
        if (out->length + 1 < out->size)
            out->text[out->length] = names_export_byte(bytes[i]);
}

static void names_put_word(names_text *out, const char *word)
{
    if (word[0] == '\0')
        return;
    names_put(out, "_", 1);
    names_put(out, word, strlen(word));
}

static size_t names_end(names_text *out)
{
    if (out->size != 0)
        out->text[out->length < out->size ? out->length : out->size - 1] = '\0';
    return out->length;
}

size_t crest_exported_base(const char *canonical, char *text, size_t size)
{
    names_text out = {text, size, 0};
    if (canonical != NULL)
        names_put(&out, canonical, strlen(canonical));
    return names_end(&out);
}

/* The length of a canonical name without this last word, if it ends in it and is longer. */
static size_t names_without(const char *canonical, size_t length, const char *word)
{
    size_t bytes = strlen(word);
    if (bytes == 0 || length < bytes + 2 || memcmp(canonical + length - bytes, word, bytes) != 0 ||
        names_export_byte(canonical[length - bytes - 1]) != '_')
        return length;
    return length - bytes - 1;
}

/* Rates and peaks of a distribution count events, so they do not take the recorded values' unit. */
static int names_counts_events(crest_kind kind, const char *qualifier)
{
    return crest_kind_is_distribution(kind) &&
           (strncmp(qualifier, "rate", 4) == 0 || strncmp(qualifier, "peak", 4) == 0);
}

/* The length of a canonical name without those last words that composing appends again. */
static size_t names_stem(const char *canonical, crest_kind kind, crest_unit unit)
{
    size_t length = strlen(canonical);
    if (kind == CREST_KIND_COUNTER)
        length = names_without(canonical, length, "total");
    return names_without(canonical, length, crest_unit_suffix(crest_unit_of(kind, unit)));
}

/*
 * Base, qualifier, unit and a last word, each but the base possibly "". Words that the name ends in
 * already are taken off first and put back in their place. So no word is doubled, and the qualifier
 * always precedes the unit: net.received-bytes in bytes gives net_received_bytes_total and
 * net_received_rate1m_bytes. A name that is only such a word keeps it.
 */
static size_t names_compose(const crest_metric_options *metric, crest_kind kind,
                            const char *qualifier, const char *last, names_text *out)
{
    const char *suffix = crest_unit_suffix(crest_unit_of(kind, metric->unit));
    names_put(out, metric->name, names_stem(metric->name, kind, metric->unit));
    names_put_word(out, qualifier);
    if (!names_counts_events(kind, qualifier))
        names_put_word(out, suffix);
    names_put_word(out, last);
    return names_end(out);
}

size_t crest_exported_name(const char *canonical, crest_kind kind, crest_unit unit,
                           const char *qualifier, char *text, size_t size)
{
    const crest_metric_options metric = {.name = canonical != NULL ? canonical : "", .unit = unit};
    names_text out = {text, size, 0};
    if (qualifier == NULL)
        qualifier = "";
    const char *last = kind == CREST_KIND_COUNTER && qualifier[0] == '\0' ? "total" : "";
    return names_compose(&metric, kind, qualifier, last, &out);
}

size_t crest_exported_stem(const char *canonical, crest_kind kind, crest_unit unit, char *text,
                           size_t size)
{
    names_text out = {text, size, 0};
    names_put(&out, canonical, names_stem(canonical, kind, unit));
    return names_end(&out);
}

/* The last word of each name. OpenMetrics names a counter's family without _total, and the time a
 * series was created _created. */
static const char *const names_of_counter[] = {"total", "", "created"};
static const char *const names_of_one_sample[] = {""};
static const char *const names_of_distribution[] = {"", "bucket", "sum", "count", "created"};

#define NAMES_COUNT(claims) ((unsigned)(sizeof(claims) / sizeof(claims)[0]))
_Static_assert(NAMES_COUNT(names_of_distribution) == CREST_EXPORTED_CLAIMS_MAX,
               "the longest list of claims fits");

unsigned crest_exported_claims(const char *canonical, crest_kind kind, crest_unit unit,
                               char (*names)[CREST_EXPORTED_BYTES_MAX], unsigned max)
{
    const crest_metric_options metric = {.name = canonical != NULL ? canonical : "", .unit = unit};
    const char *const *claims = NULL;
    unsigned count = 0;
    switch (kind) {
    case CREST_KIND_NONE: break;
    case CREST_KIND_COUNTER:
        claims = names_of_counter;
        count = NAMES_COUNT(names_of_counter);
        break;
    case CREST_KIND_GAUGE:
    case CREST_KIND_RANGE_SAMPLER:
        claims = names_of_one_sample;
        count = NAMES_COUNT(names_of_one_sample);
        break;
    case CREST_KIND_HISTOGRAM:
    case CREST_KIND_TIMER:
    case CREST_KIND_STAGES:
        claims = names_of_distribution;
        count = NAMES_COUNT(names_of_distribution);
        break;
    }
    for (unsigned i = 0; i < count && i < max; i++) {
        names_text out = {names[i], CREST_EXPORTED_BYTES_MAX, 0};
        names_compose(&metric, kind, "", claims[i], &out);
    }
    return count;
}
