/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Options about native histograms. See scrape_native.h.
 */
#include "scrape/scrape_native.h"

#include <string.h>

/* Digits of a number, before and after its point. */
#define SCRAPE_NATIVE_DIGITS_MAX 9u

static crest_status scrape_native_mode(const crest_options *options, int *mode, crest_error *error)
{
    static const char *const words[] = {"off", "on", "only"};
    const char *text = crest_option(options, CREST_SCRAPE_NATIVE);
    for (int i = 0; text != NULL && i < 3; i++)
        if (strcmp(text, words[i]) == 0) {
            *mode = i + CREST_PAGE_NATIVE_OFF;
            return CREST_OK;
        }
    if (text == NULL)
        return CREST_OK;
    return crest_error_set(error, CREST_INVALID_OPTIONS,
                           CREST_SCRAPE_NATIVE
                           "=%.60s is not on (native and classic buckets), only "
                           "(native ones) or off",
                           text);
}

/* Reads a decimal number without an exponent, in no locale. Returns its end; NULL if malformed. */
static const char *scrape_native_decimal(const char *at, double *value)
{
    double whole = 0, scale = 1;
    size_t digits = strspn(at, "0123456789");
    if (digits == 0 || digits > SCRAPE_NATIVE_DIGITS_MAX)
        return NULL;
    for (size_t i = 0; i < digits; i++)
        whole = whole * 10 + (*at++ - '0');
    if (*at == '.') {
        digits = strspn(++at, "0123456789");
        if (digits > SCRAPE_NATIVE_DIGITS_MAX)
            return NULL;
        for (size_t i = 0; i < digits; i++, scale *= 10)
            whole = whole * 10 + (*at++ - '0');
    }
    *value = whole / scale;
    return at;
}

static crest_status scrape_native_number(const crest_options *options, const char *key,
                                         double *value, const char *wanted, crest_error *error)
{
    const char *text = crest_option(options, key);
    if (text == NULL)
        return CREST_OK;
    const char *end = scrape_native_decimal(text, value);
    if (end != NULL && *end == '\0')
        return CREST_OK;
    return crest_error_set(error, CREST_INVALID_OPTIONS, "%s=%.60s is not %s", key, text, wanted);
}

crest_status crest_scrape_native_read(const crest_options *options, crest_prometheus_options *made,
                                      crest_error *error)
{
    double buckets = CREST_PAGE_NATIVE_BUCKETS_DEFAULT;
    made->native_factor = CREST_PAGE_NATIVE_FACTOR_DEFAULT;
    crest_status status = scrape_native_mode(options, &made->native, error);
    if (status == CREST_OK)
        status = scrape_native_number(options, CREST_SCRAPE_NATIVE_FACTOR, &made->native_factor,
                                      "a number above 1, such as 1.1", error);
    if (status == CREST_OK)
        status = scrape_native_number(options, CREST_SCRAPE_NATIVE_BUCKETS, &buckets,
                                      "a number of buckets", error);
    if (status != CREST_OK)
        return status;
    if (!(made->native_factor > 1))
        return crest_error_set(error, CREST_INVALID_OPTIONS,
                               CREST_SCRAPE_NATIVE_FACTOR "=%.60s is not a number above 1, such as "
                                                          "1.1",
                               crest_option(options, CREST_SCRAPE_NATIVE_FACTOR));
    if (buckets < CREST_PAGE_NATIVE_BUCKETS_MIN || buckets > CREST_PAGE_NATIVE_BUCKETS_MAX ||
        buckets != (unsigned)buckets)
        return crest_error_set(error, CREST_INVALID_OPTIONS,
                               CREST_SCRAPE_NATIVE_BUCKETS "=%.60s is not a number from %u to %u",
                               crest_option(options, CREST_SCRAPE_NATIVE_BUCKETS),
                               CREST_PAGE_NATIVE_BUCKETS_MIN, CREST_PAGE_NATIVE_BUCKETS_MAX);
    made->native_buckets = (unsigned)buckets;
    return CREST_OK;
}

crest_status crest_scrape_native_check(const crest_prometheus_options *options, crest_error *error)
{
    if (options->native < CREST_PAGE_NATIVE_OFF || options->native > CREST_PAGE_NATIVE_ONLY)
        return crest_error_set(error, CREST_INVALID_ARGUMENT,
                               "The native histograms of a scrape endpoint are %d, which is no "
                               "CREST_PAGE_NATIVE_",
                               options->native);
    if (options->native_factor != 0 && !(options->native_factor > 1))
        return crest_error_set(error, CREST_INVALID_ARGUMENT,
                               "Native buckets cannot grow by %g; above 1 is possible",
                               options->native_factor);
    if (options->native_buckets != 0 && (options->native_buckets < CREST_PAGE_NATIVE_BUCKETS_MIN ||
                                         options->native_buckets > CREST_PAGE_NATIVE_BUCKETS_MAX))
        return crest_error_set(error, CREST_INVALID_ARGUMENT,
                               "A native histogram cannot have up to %u buckets; %u to %u is "
                               "possible",
                               options->native_buckets, CREST_PAGE_NATIVE_BUCKETS_MIN,
                               CREST_PAGE_NATIVE_BUCKETS_MAX);
    return CREST_OK;
}

void crest_scrape_native_copy(crest_page_options *page, const crest_prometheus_options *options)
{
    page->native = options->native;
    page->native_factor = options->native_factor;
    page->native_buckets = options->native_buckets;
}
