/* SPDX-License-Identifier: Apache-2.0 */
/*
 * crest events: what a node's rings of events have, of a node that runs or was killed. Manual:
 * crest-events(1).
 */
#define _GNU_SOURCE
#include "events/events_doc.h"
#include "events/events_find.h"
#include "events/events_text.h"

#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#define EVENTS_LAST_DEFAULT 20u
#define EVENTS_LAST_MAX 1000000u
#define EVENTS_COLUMNS_MIN 40u
#define EVENTS_POLL_NS 100000000

static const char events_usage[] =
    "usage: crest events list|doc|tail|stat [OPTION]... FILE|DIRECTORY|PID|PROGRAM\n"
    "\n"
    "Shows the events of a node that runs, or of one that was killed.\n"
    "\n"
    "  list           the events that it declares, or a program or library that is not run\n"
    "  doc            the same as a page of Markdown\n"
    "  tail           the last events, and those to come while it runs\n"
    "  stat           how many there are of each, and how many were overwritten\n"
    "\n"
    "  -n N, -n all   tail: begin with so many; 20\n"
    "  --once         tail: those that there are\n"
    "  --dead         of the last run that has ended\n"
    "  --json         list, tail, stat: a line of JSON each\n"
    "  --chrome       tail: what there is, for chrome://tracing and Perfetto\n"
    "  --confidential the values of confidential events too\n"
    "  --help         this text\n";

typedef struct events_wish {
    const char *what;
    size_t last; /* SIZE_MAX: all */
    int once, dead, json, chrome;
    events_look look;
} events_wish;

static volatile sig_atomic_t events_stop;

static void events_stopped(int signal_number)
{
    (void)signal_number;
    events_stop = 1;
}

/* A time since 1970, in UTC. */
static const char *events_moment(uint64_t wall_ns, char text[40])
{
    time_t seconds = (time_t)(wall_ns / 1000000000u);
    struct tm parts;
    if (gmtime_r(&seconds, &parts) == NULL || strftime(text, 40, "%Y-%m-%dT%H:%M:%SZ", &parts) == 0)
        strcpy(text, "?");
    return text;
}

/* ---- who it is ---- */

static void events_head(crest_event_reader *reader, FILE *to)
{
    char opened[40], beat[40];
    crest_event_reader_about about;
    crest_event_reader_tell(reader, &about);
    fputs("# ", to);
    events_text_plain(about.name, strlen(about.name), to);
    fprintf(to, ", pid %llu, from %s: ", (unsigned long long)about.pid,
            events_moment(about.opened_wall_ns, opened));
    if (about.farewell_wall_ns != 0)
        fprintf(to, "stopped %s", events_moment(about.farewell_wall_ns, beat));
    else if (about.alive)
        fputs("runs", to);
    else
        fprintf(to, "was killed, last heartbeat %s", events_moment(about.beat_wall_ns, beat));
    fprintf(to, "; %zu events declared\n", about.events);
}

/* How far the reader is, where that is of interest. */
static void events_foot(crest_event_reader *reader, FILE *to)
{
    crest_event_reader_totals totals;
    crest_event_reader_totals_read(reader, &totals);
    fprintf(to, "# %llu read and %llu overwritten of %llu events", (unsigned long long)totals.read,
            (unsigned long long)totals.lost, (unsigned long long)totals.written);
    if (totals.refused != 0)
        fprintf(to, "; %llu found no room", (unsigned long long)totals.refused);
    if (totals.unreadable != 0)
        fprintf(to, "; %llu could not be read", (unsigned long long)totals.unreadable);
    fputc('\n', to);
}

static int events_runs(crest_event_reader *reader)
{
    crest_event_reader_about about;
    crest_event_reader_tell(reader, &about);
    return about.alive && about.farewell_wall_ns == 0;
}

/* ---- tail ---- */

static int events_write(void *to, const void *bytes, size_t length)
{
    return fwrite(bytes, 1, length, to) == length ? 0 : EIO;
}

static void events_show(const crest_event_view *event, events_wish *wish, FILE *to)
{
    crest_event_view masked;
    if (wish->json)
        (void)crest_event_line_write(events_text_masked(event, &wish->look, &masked),
                                     CREST_EVENT_FORM_JSON, events_write, to);
    else
        events_text_event(event, &wish->look, to);
}

/* An event as text, until it is known whether it is among the last. */
typedef struct events_kept {
    char *text;
    uint64_t wall_ns;
} events_kept;

static void events_keep(const crest_event_view *event, events_wish *wish, events_kept *kept)
{
    size_t bytes;
    free(kept->text);
    *kept = (events_kept){.wall_ns = event->wall_ns};
    FILE *to = open_memstream(&kept->text, &bytes);
    if (to == NULL)
        events_die("no memory for an event");
    events_show(event, wish, to);
    fclose(to);
}

static void events_show_now(const crest_event_view *event, events_wish *wish)
{
    if (!wish->json)
        events_text_day(event->wall_ns, &wish->look, stdout);
    events_show(event, wish, stdout);
}

/* The last so many events that there are. */
static void events_show_last(crest_event_reader *reader, events_wish *wish)
{
    crest_event_view event;
    crest_event_reader_totals totals;
    size_t count = 0, room = wish->last < EVENTS_LAST_MAX ? wish->last : EVENTS_LAST_MAX;
    crest_event_reader_totals_read(reader, &totals);
    events_kept *kept = calloc(room + 1, sizeof *kept);
    if (kept == NULL)
        events_die("no memory for %zu events", room);
    /* beyond that it emits faster than we read */
    for (uint64_t left = totals.written + EVENTS_LAST_MAX;
         left > 0 && !events_stop && !ferror(stdout) && crest_event_reader_next(reader, &event);
         left--) {
        if (wish->last == SIZE_MAX)
            events_show_now(&event, wish);
        else if (room != 0)
            events_keep(&event, wish, &kept[count++ % room]);
    }
    for (size_t i = count > room ? count - room : 0; i < count; i++) {
        if (!wish->json)
            events_text_day(kept[i % room].wall_ns, &wish->look, stdout);
        fputs(kept[i % room].text != NULL ? kept[i % room].text : "", stdout);
    }
    for (size_t i = 0; i < room; i++)
        free(kept[i].text);
    free(kept);
}

/* Says how many were overwritten since the last time. */
static void events_tell_lost(crest_event_reader *reader, events_wish *wish, uint64_t *told)
{
    crest_event_reader_totals totals;
    crest_event_reader_totals_read(reader, &totals);
    if (totals.lost == *told)
        return;
    if (wish->json)
        printf("{\"lost\":%llu}\n", (unsigned long long)(totals.lost - *told));
    else
        printf("# %llu events were overwritten before they were read\n",
               (unsigned long long)(totals.lost - *told));
    *told = totals.lost;
}

static void events_follow(crest_event_reader *reader, events_wish *wish)
{
    const struct timespec pause = {0, EVENTS_POLL_NS};
    crest_event_view event;
    crest_event_reader_totals totals;
    crest_event_reader_totals_read(reader, &totals);
    uint64_t told = totals.lost;
    for (int runs = 1; runs && !events_stop && !ferror(stdout);) {
        runs = events_runs(reader); /* before the last look */
        while (!events_stop && crest_event_reader_next(reader, &event))
            events_show_now(&event, wish);
        events_tell_lost(reader, wish, &told);
        fflush(stdout);
        if (runs)
            nanosleep(&pause, NULL);
    }
    if (!events_stop && !wish->json)
        events_head(reader, stderr); /* it has ended */
}

/* Names as wide as the longest of those that are declared, so that values begin in one column. */
static void events_measure(crest_event_reader *reader, events_look *look)
{
    crest_event_reader_about about;
    crest_event_reader_tell(reader, &about);
    for (size_t i = 0; i < about.events; i++) {
        const crest_event_info *info = crest_event_reader_info(reader, i);
        if (info != NULL)
            events_text_measure(info->name, look);
    }
}

static void events_tail(crest_event_reader *reader, events_wish *wish)
{
    events_measure(reader, &wish->look);
    int follows = !wish->once && !wish->dead && events_runs(reader);
    if (!wish->json)
        events_head(reader, stderr);
    events_show_last(reader, wish);
    fflush(stdout);
    if (follows)
        events_follow(reader, wish);
    fflush(stdout);
    events_foot(reader, stderr);
}

/* ---- Chrome ---- */

typedef struct events_thread {
    uint64_t number;
    char name[32];
} events_thread;

static void events_chrome(crest_event_reader *reader, events_wish *wish)
{
    static events_thread threads[1024];
    size_t thread_count = 0;
    crest_event_view event;
    crest_event_reader_about about;
    crest_event_reader_tell(reader, &about);
    fputs("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[", stdout);
    int first = 1;
    while (!events_stop && crest_event_reader_next(reader, &event)) {
        uint64_t number = event.thread != 0 ? event.thread : event.ring;
        size_t i = 0;
        events_text_chrome(&event, &wish->look, about.pid, first, stdout);
        first = 0;
        while (i < thread_count && threads[i].number != number)
            i++;
        if (i < thread_count || i == sizeof threads / sizeof *threads || !*event.thread_name)
            continue;
        threads[i].number = number;
        snprintf(threads[i].name, sizeof threads[i].name, "%s", event.thread_name);
        thread_count++;
    }
    for (size_t i = 0; i < thread_count; i++) {
        printf("%s\n{\"name\":\"thread_name\",\"ph\":\"M\",\"pid\":%llu,\"tid\":%llu,"
               "\"args\":{\"name\":",
               first ? "" : ",", (unsigned long long)about.pid,
               (unsigned long long)threads[i].number);
        events_text_json(threads[i].name, strlen(threads[i].name), stdout);
        fputs("}}", stdout);
        first = 0;
    }
    printf("%s\n{\"name\":\"process_name\",\"ph\":\"M\",\"pid\":%llu,\"tid\":0,\"args\":{\"name\":",
           first ? "" : ",", (unsigned long long)about.pid);
    events_text_json(about.name, strlen(about.name), stdout);
    fputs("}}\n]}\n", stdout);
    events_foot(reader, stderr);
}

/* ---- stat ---- */

typedef struct events_sum {
    const crest_event_info *info;
    uint64_t count, bytes, last_ns;
} events_sum;

static int events_sum_order(const void *one, const void *other)
{
    const events_sum *a = one, *b = other;
    if (a->count != b->count)
        return a->count < b->count ? 1 : -1;
    return strcmp(a->info->name, b->info->name);
}

/* Counts the events that are there; the caller frees the sums. */
static events_sum *events_count(crest_event_reader *reader, size_t *count)
{
    crest_event_view event;
    crest_event_reader_totals totals;
    events_sum *sums = calloc(CREST_EVENTS_MAX + 1, sizeof *sums);
    if (sums == NULL)
        events_die("no memory for sums");
    crest_event_reader_totals_read(reader, &totals);
    for (uint64_t seen = 0; !events_stop && crest_event_reader_next(reader, &event); seen++) {
        if (seen >= totals.written + EVENTS_LAST_MAX)
            break; /* it emits faster than we read */
        events_sum *sum = &sums[event.info->number <= CREST_EVENTS_MAX ? event.info->number : 0];
        sum->info = event.info;
        sum->count++;
        sum->bytes += event.bytes;
        sum->last_ns = event.wall_ns > sum->last_ns ? event.wall_ns : sum->last_ns;
    }
    *count = 0;
    for (size_t i = 0; i <= CREST_EVENTS_MAX; i++)
        if (sums[i].count != 0)
            sums[(*count)++] = sums[i];
    qsort(sums, *count, sizeof *sums, events_sum_order);
    return sums;
}

static void events_stat(crest_event_reader *reader, const events_wish *wish)
{
    char last[40];
    size_t count;
    events_sum *sums = events_count(reader, &count);
    crest_event_reader_totals totals;
    crest_event_reader_totals_read(reader, &totals);
    if (!wish->json) {
        events_head(reader, stdout);
        printf("# %llu events in %llu bytes were written by %llu thread%s\n",
               (unsigned long long)totals.written, (unsigned long long)totals.written_bytes,
               (unsigned long long)totals.rings, totals.rings == 1 ? "" : "s");
        printf("%10s %12s  %-20s  %s\n", "events", "bytes", "last", "event");
    } else {
        printf("{\"written\":%llu,\"writtenBytes\":%llu,\"read\":%llu,\"readBytes\":%llu,"
               "\"lost\":%llu,\"lostBytes\":%llu,\"refused\":%llu,\"refusedBytes\":%llu,"
               "\"unreadable\":%llu,\"rings\":%llu,\"ringsRefused\":%llu}\n",
               (unsigned long long)totals.written, (unsigned long long)totals.written_bytes,
               (unsigned long long)totals.read, (unsigned long long)totals.read_bytes,
               (unsigned long long)totals.lost, (unsigned long long)totals.lost_bytes,
               (unsigned long long)totals.refused, (unsigned long long)totals.refused_bytes,
               (unsigned long long)totals.unreadable, (unsigned long long)totals.rings,
               (unsigned long long)totals.rings_refused);
    }
    for (size_t i = 0; i < count; i++) {
        const events_sum *sum = &sums[i];
        if (wish->json)
            printf("{\"event\":\"%s\",\"count\":%llu,\"bytes\":%llu,\"lastUnixNano\":%llu}\n",
                   sum->info->name, (unsigned long long)sum->count, (unsigned long long)sum->bytes,
                   (unsigned long long)sum->last_ns);
        else {
            printf("%10llu %12llu  %-20s  ", (unsigned long long)sum->count,
                   (unsigned long long)sum->bytes, events_moment(sum->last_ns, last));
            events_text_plain(sum->info->name, strlen(sum->info->name), stdout);
            putchar('\n');
        }
    }
    free(sums);
    if (!wish->json)
        events_foot(reader, stdout);
}

/* ---- what is declared ---- */

static void events_declared(const char *named, const events_wish *wish)
{
    events_notes notes = {.count = 0};
    crest_event_reader *reader = NULL;
    crest_event_reader_about about;
    crest_error error;
    char path[PATH_MAX];
    if (events_notes_is_object(named)) {
        const char *wrong = events_notes_read(&notes, named, &error);
        if (wrong != NULL)
            events_die("%s", wrong);
    } else {
        events_find(named, wish->dead, path);
        if (crest_event_reader_open(path, &reader, &error) != CREST_OK)
            events_die("%s", error.message);
        crest_event_reader_tell(reader, &about);
        for (size_t i = 0; i < about.events; i++) {
            const crest_event_info *info = crest_event_reader_info(reader, i);
            if (info != NULL && !events_notes_add(&notes, info))
                events_die("no memory for %zu events", about.events);
        }
    }
    events_notes_sort(&notes);
    if (wish->json)
        events_doc_json(&notes, stdout);
    else if (wish->what[0] == 'd')
        events_doc_page(&notes, stdout);
    else
        events_doc_list(&notes, wish->look.width, stdout);
    events_notes_free(&notes);
    crest_event_reader_free(reader);
}

/* ---- the command line ---- */

static int events_wrong(const char *what)
{
    fprintf(stderr, "crest events: %s; 'crest events --help' says what there is\n", what);
    return 2;
}

static int events_number(const char *text, size_t *number)
{
    char *end;
    if (strcmp(text, "all") == 0) {
        *number = SIZE_MAX;
        return 1;
    }
    errno = 0;
    unsigned long long value = strtoull(text, &end, 10);
    *number = (size_t)value;
    return *text >= '0' && *text <= '9' && *end == '\0' && errno == 0 && value <= EVENTS_LAST_MAX;
}

/* On a terminal: its width, and colours unless NO_COLOR is set. */
static void events_terminal(events_look *look)
{
    struct winsize size;
    const char *term = getenv("TERM"), *none = getenv("NO_COLOR");
    look->day = UINT64_MAX;
    if (!isatty(STDOUT_FILENO))
        return;
    look->width =
        ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col != 0 ? size.ws_col : 80;
    if (look->width < EVENTS_COLUMNS_MIN)
        look->width = EVENTS_COLUMNS_MIN;
    look->colours = term != NULL && strcmp(term, "dumb") != 0 && (none == NULL || *none == '\0');
}

static int events_run(const char *named, events_wish *wish)
{
    crest_event_reader *reader;
    crest_error error;
    char path[PATH_MAX];
    const struct sigaction stop = {.sa_handler = events_stopped};
    if (wish->what[0] == 'l' || wish->what[0] == 'd') {
        events_declared(named, wish);
    } else {
        sigaction(SIGINT, &stop, NULL);
        sigaction(SIGTERM, &stop, NULL);
        events_find(named, wish->dead, path);
        if (crest_event_reader_open(path, &reader, &error) != CREST_OK)
            events_die("%s", error.message);
        if (wish->what[0] == 's')
            events_stat(reader, wish);
        else if (wish->chrome)
            events_chrome(reader, wish);
        else
            events_tail(reader, wish);
        crest_event_reader_free(reader);
    }
    if (fflush(stdout) != 0 || ferror(stdout))
        events_die("standard output: %s", strerror(errno));
    return 0;
}

int main(int argc, char **argv)
{
    static const struct option known[] = {{"once", no_argument, NULL, 'o'},
                                          {"dead", no_argument, NULL, 'd'},
                                          {"json", no_argument, NULL, 'j'},
                                          {"chrome", no_argument, NULL, 'c'},
                                          {"confidential", no_argument, NULL, 'p'},
                                          {"help", no_argument, NULL, 'h'},
                                          {NULL, 0, NULL, 0}};
    static const char *const commands[] = {"list", "doc", "tail", "stat"};
    events_wish wish = {.last = EVENTS_LAST_DEFAULT};
    for (int letter; (letter = getopt_long(argc, argv, "n:h", known, NULL)) != -1;)
        switch (letter) {
        case 'n':
            if (!events_number(optarg, &wish.last))
                return events_wrong("-n takes a number up to 1000000, or all");
            break;
        case 'o': wish.once = 1; break;
        case 'd': wish.dead = 1; break;
        case 'j': wish.json = 1; break;
        case 'c': wish.chrome = 1; break;
        case 'p': wish.look.confidential = 1; break;
        case 'h': fputs(events_usage, stdout); return 0;
        default: return events_wrong("wrong usage");
        }
    for (size_t i = 0; optind < argc && i < 4; i++)
        if (strcmp(argv[optind], commands[i]) == 0)
            wish.what = commands[i];
    if (wish.what == NULL)
        return events_wrong("one of list, doc, tail and stat is needed");
    if (optind + 2 != argc)
        return events_wrong("one file, directory, process or program is needed");
    if (wish.chrome && (wish.json || wish.what[0] != 't'))
        return events_wrong("--chrome is a form of tail, and not with --json");
    if (wish.json && wish.what[0] == 'd')
        return events_wrong("doc is Markdown; list --json is the same as JSON");
    events_terminal(&wish.look);
    return events_run(argv[optind + 1], &wish);
}
