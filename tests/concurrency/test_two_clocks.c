/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two processes over a real socket, of which one has a wall clock that is three seconds off and
 * runs too fast or too slowly. What the receiver records of a message is the truth, which
 * both know from the machine's CLOCK_BOOTTIME, to within the error that it says; without
 * correction it is three seconds wrong.
 */
#include "support/core_fixture.h"

#include <crest/crest.h>
#include <crest/testing.h>

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define CLOCKS_S INT64_C(1000000000)
#define CLOCKS_ROUNDS 12
#define CLOCKS_DRIFT_PPM 100u

CREST_TIMER(clocks_propagation, "test.propagation-time", "Origin to receipt.");
CREST_TIMER(clocks_uncorrected, "test.uncorrected-time", "The same without correction.");

typedef struct clocks_answer {
    uint64_t t2, t3;
} clocks_answer;

typedef struct clocks_message {
    crest_stamp stamp;
    uint64_t from_ns, to_ns; /* the truth: between these, by CLOCK_BOOTTIME, it was made */
} clocks_message;

static uint64_t clocks_truth(void)
{
    struct timespec now;
    clock_gettime(CLOCK_BOOTTIME, &now);
    return (uint64_t)now.tv_sec * (uint64_t)CLOCKS_S + (uint64_t)now.tv_nsec;
}

static void clocks_sleep(unsigned us)
{
    struct timespec pause = {0, us * 1000L};
    nanosleep(&pause, NULL);
}

static int clocks_send(int socket, const void *bytes, size_t size)
{
    return send(socket, bytes, size, MSG_NOSIGNAL) == (ssize_t)size;
}

static int clocks_receive(int socket, void *bytes, size_t size)
{
    return recv(socket, bytes, size, MSG_WAITALL) == (ssize_t)size;
}

/* ---- the peer ---- */

/* Answers 'p', a ping, and 'b', a block; on the way there they take longer than back, or not. */
static void clocks_serve(int socket)
{
    char what;
    for (unsigned i = 0; clocks_receive(socket, &what, 1); i++) {
        if (what == 'p') {
            clocks_answer answer;
            clocks_sleep(i % 3 * 700); /* on the way */
            answer.t2 = crest_wall_now();
            clocks_sleep(i % 2 * 2000); /* thinking */
            answer.t3 = crest_wall_now();
            clocks_sleep(i % 5 * 300); /* on the way back */
            if (!clocks_send(socket, &answer, sizeof answer))
                break;
        } else {
            clocks_message message = {.from_ns = clocks_truth()};
            crest_stamp_make(crest_op_u64(i + 1), &message.stamp, NULL);
            message.to_ns = clocks_truth();
            clocks_sleep(5000 + i % 7 * 1000);
            if (!clocks_send(socket, &message, sizeof message))
                break;
        }
    }
}

/* A process that does that, and a connection to it. */
static pid_t clocks_fork(int64_t ahead_ns, int64_t too_fast, int *connection)
{
    struct sockaddr_in address = {.sin_family = AF_INET};
    socklen_t size = sizeof address;
    int one = 1, listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    assert_int_equal(bind(listener, (struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(listen(listener, 1), 0);
    assert_int_equal(getsockname(listener, (struct sockaddr *)&address, &size), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        crest_testing_clock_shift_wall(ahead_ns, too_fast);
        int accepted = accept(listener, NULL, NULL);
        setsockopt(accepted, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
        clocks_serve(accepted);
        _exit(0);
    }
    *connection = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(connect(*connection, (struct sockaddr *)&address, sizeof address), 0);
    setsockopt(*connection, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    close(listener);
    return child;
}

/* ---- the receiver ---- */

static void clocks_ping(int connection, crest_peer_clock *clock)
{
    clocks_answer answer;
    crest_error error;
    uint64_t t1 = crest_wall_now();
    assert_true(clocks_send(connection, "p", 1));
    assert_true(clocks_receive(connection, &answer, sizeof answer));
    if (crest_peer_clock_add(clock, t1, answer.t2, answer.t3, crest_wall_now(), &error) != CREST_OK)
        fail_msg("%s", error.message);
}

/* A measurement that lies this far outside of what is true by more than its error. */
static void clocks_near(int64_t measured, uint64_t least, uint64_t most, uint64_t error)
{
    if (measured < (int64_t)least - (int64_t)error || measured > (int64_t)(most + error))
        fail_msg("measured %lld ns, give or take %llu, of %llu to %llu", (long long)measured,
                 (unsigned long long)error, (unsigned long long)least, (unsigned long long)most);
}

static void clocks_block(int connection, const crest_peer_clock *clock, int64_t ahead_ns)
{
    clocks_message message;
    crest_stamp_view view;
    crest_propagation corrected, uncorrected;
    assert_true(clocks_send(connection, "b", 1));
    assert_true(clocks_receive(connection, &message, sizeof message));
    assert_int_equal(crest_stamp_read(&message.stamp, sizeof message.stamp, &view, NULL), CREST_OK);
    uint64_t before = clocks_truth();
    crest_status status =
        crest_stamp_record(&clocks_propagation, &view, clock, CREST_OUTCOME_OK, NULL, &corrected);
    uint64_t after = clocks_truth();
    assert_int_equal(status, CREST_OK);
    assert_true(corrected.corrected);
    uint64_t least = before - message.to_ns, most = after - message.from_ns;
    /* a microsecond for processors whose clocks are not quite the same */
    clocks_near(corrected.duration_ns, least, most, corrected.error_ns + 1000);
    assert_true(corrected.error_ns < 1000000000);
    status =
        crest_stamp_record(&clocks_uncorrected, &view, NULL, CREST_OUTCOME_OK, NULL, &uncorrected);
    int64_t wrong = uncorrected.duration_ns + ahead_ns;
    clocks_near(wrong, least, clocks_truth() - message.from_ns, 10000000);
    assert_int_equal(status, uncorrected.duration_ns < 0 ? CREST_NEGATIVE : CREST_OK);
    assert_true(uncorrected.error_ns == CREST_STAMP_UNKNOWN);
}

/* How far the clocks of this process and of the peer are off. */
static const struct {
    int64_t here_ns, there_ns, too_fast;
} clocks_cases[] = {
    {0, 3 * CLOCKS_S, 90000}, /* by 90 ppm too fast */
    {0, -3 * CLOCKS_S, -90000},
    {3 * CLOCKS_S, 0, 90000},
};

static struct {
    pid_t child;
    int connection;
} clocks_peers[3];

/* All at once, before there are threads, which a fork would leave in the middle of something. */
static int clocks_setup(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++)
        clocks_peers[i].child = clocks_fork(
            clocks_cases[i].there_ns, clocks_cases[i].there_ns != 0 ? clocks_cases[i].too_fast : 0,
            &clocks_peers[i].connection);
    return 0;
}

static void clocks_run(int which)
{
    int connection = clocks_peers[which].connection;
    int64_t here_ns = clocks_cases[which].here_ns;
    int64_t ahead_ns = clocks_cases[which].there_ns - here_ns;
    crest_testing_clock_shift_wall(here_ns, here_ns != 0 ? clocks_cases[which].too_fast : 0);
    crest_peer_clock_options options = {.drift_ppm = CLOCKS_DRIFT_PPM};
    crest_peer_clock *clock = crest_peer_clock_new(NULL, "other", &options, NULL);
    assert_non_null(clock);
    for (int i = 0; i < CLOCKS_ROUNDS; i++) {
        clocks_ping(connection, clock);
        clocks_block(connection, clock, ahead_ns);
    }
    crest_peer_clock_state state;
    assert_int_equal(crest_peer_clock_read(clock, &state), CREST_OK);
    /* besides by the drift of all the time there was */
    clocks_near(state.offset_ns - ahead_ns, 0, 0, state.error_ns + 10000000);
    crest_testing_reading steps;
    assert_int_equal(crest_testing_read(NULL, NULL, &steps, NULL, "peer.clock-steps", NULL),
                     CREST_OK);
    assert_int_equal(steps.counter, 0);
    crest_peer_clock_free(clock);
    crest_testing_clock_real();
    shutdown(connection, SHUT_RDWR); /* the other peers have the descriptor too */
    close(connection);
    int status;
    assert_int_equal(waitpid(clocks_peers[which].child, &status, 0), clocks_peers[which].child);
    assert_int_equal(status, 0);
}

static void test_peer_is_ahead(void **state)
{
    (void)state;
    clocks_run(0);
}

static void test_peer_is_behind(void **state)
{
    (void)state;
    clocks_run(1);
}

static void test_oneself_is_ahead(void **state)
{
    (void)state;
    clocks_run(2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_peer_is_ahead),
        cmocka_unit_test(test_peer_is_behind),
        cmocka_unit_test(test_oneself_is_ahead),
    };
    return cmocka_run_group_tests(tests, clocks_setup, NULL);
}
