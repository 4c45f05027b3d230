/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Profiles from begin to end. See <crest/profile.h>.
 */
#define _GNU_SOURCE
#include "base/alloc.h"
#include "base/forked.h"
#include "base/sync.h"
#include "profiling/profile_otlp.h"
#include "profiling/profiler.h"
#include "profiling/sample_label.h"
#include "profiling/sample_taps.h"
#include "profiling/slow_operations.h"
#include "profiling/wall_sampler.h"

struct crest_profile {
    crest_profile_about about;
    uint64_t run; /* of the profiler */
    uint64_t began_ns;
    crest_samples_mark *mark;
    int open; /* it has not ended */
    crest_rows rows;
};

/* Under the profiler's lock: the one that is under way. */
static crest_profile *profiles_open;
static uint64_t profiles_open_run;

/* ---- rows ---- */

/* A crest_samples_each. */
static int profiles_cpu_row(void *context, const uint64_t *frames, unsigned depth, uint64_t label,
                            uint64_t count)
{
    crest_profile *profile = context;
    crest_row row = {.metric = crest_sample_label_metric(label),
                     .stage = crest_sample_label_stage(label),
                     .value = {count, count * profile->about.period_ns}};
    crest_rows_add(&profile->rows, frames, depth, &row);
    return profile->rows.failed;
}

/* A crest_slow_each_fn. */
static int profiles_slow_row(void *context, const crest_slow_stack *stack)
{
    crest_profile *profile = context;
    crest_row row = {.metric = stack->metric,
                     .stage = stack->stage,
                     .op = *stack->op,
                     .age_ns = stack->took_ns,
                     .value = {1, profile->about.period_ns}};
    crest_rows_add(&profile->rows, stack->frames, stack->depth, &row);
    return profile->rows.failed;
}

/* ---- begin and end ---- */

static crest_status profiles_open_one(crest_profile *profile, crest_error *error)
{
    if (!crest_profiler_runs())
        return crest_error_set(error, CREST_NOT_RUNNING,
                               "There is no profile, because the profiler does not run: start the "
                               "program with profile=on");
    if (profiles_open != NULL && profiles_open_run == crest_profiler_run())
        return crest_error_set(error, CREST_ALREADY,
                               "Another profile is being taken; one can be taken at a time");
    profile->run = crest_profiler_run();
    profile->about.period_ns = crest_profiler_period_ns();
    profile->about.began_unix_ns = crest_kernel_ns(CLOCK_REALTIME);
    profile->began_ns = crest_monotonic_ns();
    int good = 1;
    if (profile->about.kind == CREST_PROFILE_CPU)
        good = (profile->mark = crest_samples_mark_new()) != NULL;
    else if (profile->about.kind == CREST_PROFILE_WALL)
        good = crest_wall_begin(profile->began_ns);
    if (!good)
        return crest_error_set(error, CREST_NO_MEMORY, "There is no memory for a profile");
    crest_profiler_hold(profile->mark);
    profiles_open = profile;
    profiles_open_run = profile->run;
    profile->open = 1;
    return CREST_OK;
}

crest_profile *crest_profile_begin(crest_profile_kind kind, crest_error *error)
{
    if ((unsigned)kind >= CREST_PROFILE_KINDS) {
        crest_error_set(error, CREST_INVALID_ARGUMENT, "There is no kind %d of profiles",
                        (int)kind);
        return NULL;
    }
    crest_profile *profile = crest_alloc(1, sizeof *profile);
    if (profile == NULL) {
        crest_error_set(error, CREST_NO_MEMORY, "There is no memory for a profile");
        return NULL;
    }
    profile->about.kind = kind;
    crest_forked_check();
    crest_profiler_lock();
    crest_status status = profiles_open_one(profile, error);
    crest_profiler_unlock();
    if (status == CREST_OK)
        return profile;
    crest_profile_free(profile);
    return NULL;
}

/* Under the lock: takes what was seen, or nothing when that is not wanted. */
static void profiles_close(crest_profile *profile, int wanted)
{
    uint64_t now_ns = crest_monotonic_ns();
    int running = wanted && crest_profiler_runs() && profile->run == crest_profiler_run();
    if (running)
        crest_profiler_refresh();
    switch (profile->about.kind) {
    case CREST_PROFILE_CPU:
        if (running)
            (void)crest_samples_since(profile->mark, profiles_cpu_row, profile);
        break;
    case CREST_PROFILE_WALL:
        if (running)
            crest_wall_end(&profile->rows);
        else if (profile->run == crest_profiler_run())
            crest_wall_drop(); /* else it is that of a later profile */
        break;
    case CREST_PROFILE_THREADS:
        if (running)
            crest_wall_threads(crest_profiler_signal(), &profile->rows);
        break;
    default:
        if (running)
            (void)crest_slow_each(crest_now(), profiles_slow_row, profile);
        break;
    }
    if (running)
        crest_rows_modules(&profile->rows, crest_modules_now());
    profile->about.duration_ns = now_ns - profile->began_ns;
    if (profiles_open == profile) {
        profiles_open = NULL;
        if (crest_profiler_runs())
            crest_profiler_hold(NULL);
    }
    profile->open = 0;
}

crest_status crest_profile_end(crest_profile *profile, crest_error *error)
{
    if (!profile->open)
        return crest_error_set(error, CREST_NOT_RUNNING, "This profile has ended already");
    crest_forked_check();
    crest_profiler_lock();
    int running = crest_profiler_runs() && profile->run == crest_profiler_run();
    profiles_close(profile, 1);
    crest_profiler_unlock();
    if (!running)
        return crest_error_set(error, CREST_NOT_RUNNING,
                               "The profiler was stopped while this profile was taken");
    return profile->rows.failed
               ? crest_error_set(error, CREST_NO_MEMORY, "There is no memory for this profile")
               : CREST_OK;
}

void crest_profile_free(crest_profile *profile)
{
    if (profile == NULL)
        return;
    crest_forked_check();
    crest_profiler_lock();
    if (profile->open)
        profiles_close(profile, 0);
    crest_profiler_unlock();
    crest_samples_mark_free(profile->mark);
    crest_rows_free(&profile->rows);
    crest_alloc_free(profile);
}

uint64_t crest_profile_samples(const crest_profile *profile)
{
    uint64_t samples = 0;
    for (size_t i = 0; i < profile->rows.count; i++)
        samples += profile->rows.row[i].value[0];
    return samples;
}

/* ---- streams ---- */

struct crest_profile_stream {
    crest_tap tap;
};

crest_profile_stream *crest_profile_stream_open(crest_error *error)
{
    crest_profile_stream *stream = crest_alloc(1, sizeof *stream);
    if (stream == NULL) {
        crest_error_set(error, CREST_NO_MEMORY, "There is no memory for profiles to send");
        return NULL;
    }
    crest_forked_check();
    crest_profiler_lock();
    (void)crest_tap_open(&stream->tap); /* else the next one tries */
    crest_profiler_unlock();
    return stream;
}

crest_profile *crest_profile_stream_next(crest_profile_stream *stream, crest_error *error)
{
    crest_profile *profile = crest_alloc(1, sizeof *profile);
    int good = profile != NULL;
    if (good) {
        crest_forked_check();
        crest_profiler_lock();
        profile->about =
            (crest_profile_about){.kind = CREST_PROFILE_CPU, .period_ns = stream->tap.period_ns};
        good = crest_tap_take(&stream->tap, &profile->rows, &profile->about.began_unix_ns,
                              &profile->about.duration_ns);
        crest_profiler_unlock();
    }
    if (good && !profile->rows.failed)
        return profile;
    crest_profile_free(profile);
    crest_error_set(error, CREST_NO_MEMORY, "There is no memory for a profile to send");
    return NULL;
}

void crest_profile_stream_close(crest_profile_stream *stream)
{
    if (stream == NULL)
        return;
    crest_forked_check();
    crest_profiler_lock();
    crest_tap_close(&stream->tap);
    crest_profiler_unlock();
    crest_alloc_free(stream);
}

/* ---- writing ---- */

/* What is written: one of the formats, or OTLP with the attributes of a resource. */
typedef struct profiles_form {
    crest_profile_format format;
    int otlp;
    const crest_page_label *attributes;
    unsigned count;
} profiles_form;

static int profiles_put(crest_buffer *out, const crest_profile *profile,
                        const crest_code_places *places, const profiles_form *form)
{
    if (form->otlp)
        return crest_profile_otlp_write(out, &profile->about, &profile->rows, places,
                                        form->attributes, form->count);
    if (form->format == CREST_PROFILE_PPROF)
        crest_pprof_write(out, &profile->about, &profile->rows, places);
    else
        crest_folded_write(out, &profile->rows, places);
    return 1;
}

static crest_status profiles_write(const crest_profile *profile, const profiles_form *form,
                                   crest_write_fn *write, void *context, crest_error *error)
{
    crest_buffer out;
    crest_code_places places;
    if (!crest_buffer_init(&out, write, context))
        return crest_error_set(error, CREST_NO_MEMORY, "There is no memory to write a profile");
    if (!crest_code_places_find(&places, &profile->rows)) {
        crest_buffer_fini(&out);
        return crest_error_set(error, CREST_NO_MEMORY, "There is no memory for a profile's names");
    }
    int put = profiles_put(&out, profile, &places, form), whole = crest_buffer_flush(&out);
    crest_code_places_free(&places);
    crest_buffer_fini(&out);
    if (!put)
        return crest_error_set(error, CREST_NO_MEMORY, "There is no memory to write a profile");
    return whole ? CREST_OK
                 : crest_error_set(error, CREST_IO,
                                   "A profile could not be written: the receiver "
                                   "refused it");
}

crest_status crest_profile_write(const crest_profile *profile, crest_profile_format format,
                                 crest_write_fn *write, void *context, crest_error *error)
{
    if ((format != CREST_PROFILE_PPROF && format != CREST_PROFILE_FOLDED) || profile->open)
        return crest_error_set(error, CREST_INVALID_ARGUMENT,
                               profile->open ? "A profile is written after it has ended"
                                             : "There is no format %d of profiles",
                               (int)format);
    return profiles_write(profile, &(profiles_form){.format = format}, write, context, error);
}

crest_status crest_profile_write_otlp(const crest_profile *profile,
                                      const crest_page_label *attributes, unsigned count,
                                      crest_write_fn *write, void *context, crest_error *error)
{
    if (profile->open || profile->about.kind != CREST_PROFILE_CPU)
        return crest_error_set(error, CREST_INVALID_ARGUMENT,
                               profile->open ? "A profile is written after it has ended"
                                             : "Only profiles of CPU time are written as OTLP");
    return profiles_write(profile,
                          &(profiles_form){.otlp = 1, .attributes = attributes, .count = count},
                          write, context, error);
}
