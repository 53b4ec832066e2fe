/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the TCP transport: its parts, and two ranks while a third fails or leaves. */
#include "support/ranks.h"

#include "base/alloc.h"
#include "base/platform/clock.h"
#include "distributed/tcp/tcp.h"

#include <arpa/inet.h>
#include <errno.h>
#include <net/if.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- parts ------------------------------------------------------------------------------------------------------- */

/* A connection whose buffer is full is closed after a complete frame: the other side never receives half of one. */
static void control_send_buffer_full(void **state)
{
    (void)state;
    int line[2];
    uint8_t bytes[4096];
    size_t got = 0, took;
    ssize_t n;
    wk__tcp tcp = {.control = &line[0]};
    wk__wire_parser in = {.error = NULL};
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, line), 0);
    char text[WK__WIRE_TEXT_MAX];
    memset(text, 'x', sizeof text);
    for (int k = 0; k < 100000; k++)
        wk__tcp_control_send(&tcp, 0, (wk__wire_header){.kind = WK__WIRE_STALLED}, text, 1 + (size_t)k % sizeof text);
    while ((n = recv(line[1], bytes, sizeof bytes, 0)) > 0)
        for (size_t at = 0; at < (size_t)n; at += took) {
            const wk__parse_status coming = wk__wire_parser_feed(&in, bytes + at, (size_t)n - at, &took);
            assert_true(coming != WK__PARSE_INVALID);
            if (coming != WK__PARSE_DONE) continue;
            got++;
            wk__wire_parser_reset(&in);
        }
    assert_true(n == 0 && got > 0); /* closed after a complete frame */
    close(line[0]);
    close(line[1]);
}

static const char *not_asked(void *user, const wk__hello *hello, const wk__address *from, int fd)
{
    (void)user, (void)hello, (void)from, (void)fd;
    return "unexpected proof";
}

/* A pending connection makes the listener readable all the time: it is not polled for a while. */
static void a_listener_without_descriptors(void **state)
{
    (void)state;
    struct pollfd polls[WK__TCP_MAX_PENDING + 1];
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    struct rlimit usual, none;
    wk__tcp_acceptor door;
    wk__dist_error fail;
    wk__tcp_acceptor_init(&door, wk__socket_listen("127.0.0.1", 0, &fail), "a secret", 60);
    at.sin_port = htons((uint16_t)wk__socket_port(door.listener));
    const int guest = socket(AF_INET, SOCK_STREAM, 0), next = dup(guest);
    assert_int_equal(connect(guest, (struct sockaddr *)&at, sizeof at), 0);
    close(next);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &usual), 0);
    none = (struct rlimit){(rlim_t)next, usual.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
    wk__tcp_acceptor_run(&door, not_asked, NULL);
    setrlimit(RLIMIT_NOFILE, &usual);
    assert_int_equal(door.pending[0].fd, -1);
    assert_int_equal(wk__tcp_acceptor_pollfds(&door, polls), 1);
    assert_int_equal(polls[0].fd, -1);
    const int64_t until = wk__tcp_acceptor_deadline(&door);
    assert_true(until < INT64_MAX);
    while (wk__monotonic_ns() <= until) usleep(1000);
    assert_int_equal(wk__tcp_acceptor_pollfds(&door, polls), 1);
    assert_int_equal(polls[0].fd, door.listener);
    assert_true(wk__tcp_acceptor_deadline(&door) == INT64_MAX);
    wk__tcp_acceptor_run(&door, not_asked, NULL);
    assert_true(door.pending[0].fd >= 0);
    close(guest);
    wk__tcp_acceptor_close(&door);
}

/* The system may assign a connection the local port that it connects to. */
static void a_connection_to_itself(void **state)
{
    (void)state;
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t bytes = sizeof at;
    int port;
    const int itself = socket(AF_INET, SOCK_STREAM, 0), other = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(bind(itself, (struct sockaddr *)&at, sizeof at), 0);
    assert_int_equal(getsockname(itself, (struct sockaddr *)&at, &bytes), 0);
    assert_int_equal(connect(itself, (struct sockaddr *)&at, sizeof at), 0);
    assert_true(wk__socket_is_self_connected(itself));
    const int listener = ranks_listen(false, &port);
    at.sin_port = htons((uint16_t)port);
    assert_int_equal(connect(other, (struct sockaddr *)&at, sizeof at), 0);
    assert_false(wk__socket_is_self_connected(other));
    close(itself);
    close(other);
    close(listener);
}

/* Rank 1's part of the handshake: it learns that rank 2 belongs to the job, sends nothing more, and the world
 * breaks. */
typedef struct host {
    wk__tcp *tcp;
    int listener;
} host;

static void *proves_and_is_silent(void *user)
{
    const host *h = user;
    const int fd = accept(h->listener, NULL, NULL);
    wk__handshake_server visitor = {.nonce = {1}};
    wk__reply reply;
    uint8_t bytes[512];
    wk__handshake_status said = WK__HANDSHAKE_MORE;
    while (said != WK__HANDSHAKE_DONE) {
        const ssize_t got = recv(fd, bytes, sizeof bytes, 0);
        if (got <= 0) break;
        for (size_t at = 0, took; at < (size_t)got; at += took) {
            said = wk__handshake_server_feed(&visitor, "a secret", bytes + at, (size_t)got - at, &took, &reply);
            if (said == WK__HANDSHAKE_REPLY && send(fd, reply.at, reply.bytes, 0) < 0) break;
        }
    }
    pthread_mutex_lock(&h->tcp->lock);
    wk__tcp_abort(h->tcp, WK_ERR_TIMEOUT, (wk__wire_header){.kind = 0}, "lost rank 0 on nodeA: it ended");
    pthread_mutex_unlock(&h->tcp->lock);
    return (void *)(intptr_t)(said == WK__HANDSHAKE_DONE ? fd : -1);
}

/* A rank that is stopped between proof and welcome blocks no other rank when the world breaks. */
static void a_world_that_breaks_before_the_welcome(void **state)
{
    (void)state;
    wk__tcp_rank_address place[3] = {{.host = "nodeA"}, {.host = "nodeB"}, {.host = "nodeC"}};
    _Atomic int peer[3] = {-1, -1, -1};
    int control[1] = {-1}, port;
    uint64_t left[3] = {0};
    char secret[] = "a secret";
    wk__tcp tcp = {.rank = 2, .size = 3, .seconds = 1000, .secret = secret, .rank_address = place, .peer = peer};
    tcp.control = control;
    tcp.leave_sequence = left;
    tcp.caller_wakeup = eventfd(0, EFD_NONBLOCK);
    pthread_mutex_init(&tcp.lock, NULL);
    pthread_cond_init(&tcp.changed, NULL);
    host h = {&tcp, ranks_listen(false, &port)};
    *(struct sockaddr_in *)&place[1].address.at = (struct sockaddr_in){
        .sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr = {htonl(INADDR_LOOPBACK)}};
    place[1].address.bytes = sizeof(struct sockaddr_in);
    const wk__dist_request request = {.kind = WK__DIST_SEND, .peer = 1};
    const wk__dist_call call = {
        .request = &request, .group = wk__dist_world(), .deadline = wk__monotonic_ns() + INT64_C(1000000000000)};
    wk__dist_error fail;
    pthread_t thread;
    void *fd;
    assert_int_equal(pthread_create(&thread, NULL, proves_and_is_silent, &h), 0);
    assert_int_equal(wk__tcp_connect_peers(&tcp, &call, 1, -1, &fail), WK_ERR_TIMEOUT);
    assert_true(fail.fatal && strstr(fail.text, "lost rank 0 on nodeA: it ended"));
    assert_int_equal(peer[1], -1);
    pthread_join(thread, &fd);
    assert_true((intptr_t)fd >= 0);
    close((int)(intptr_t)fd);
    close(h.listener);
    close(tcp.caller_wakeup);
    pthread_cond_destroy(&tcp.changed);
    pthread_mutex_destroy(&tcp.lock);
}

/* A call that fails by a timeout reports its own duration if it is the unfinished call, otherwise the unfinished
 * call's. The sequence number is not enough: ranks that disagree make different calls with one number. */
static void errors_name_the_unfinished_call(void **state)
{
    (void)state;
    wk__tcp tcp = {.aborted = true, .code = WK_ERR_TIMEOUT, .cause = "rank 1 on nodeB has not called it"};
    tcp.unfinished =
        (wk__wire_header){.collective = WK__DIST_ALL_REDUCE, .group = 5, .sequence = 7, .detail = WK__WIRE_UNFINISHED};
    pthread_mutex_init(&tcp.lock, NULL);
    static const struct {
        wk__dist_kind kind;
        uint32_t group;
        uint64_t sequence;
        bool is_it;
    } of[] = {{WK__DIST_ALL_REDUCE, 5, 7, true},
              {WK__DIST_ALL_REDUCE, 5, 8, false},
              {WK__DIST_ALL_REDUCE, 0, 7, false},
              {WK__DIST_BARRIER, 5, 7, false},
              {WK__DIST_FINISH, 5, 7, false}};
    for (size_t k = 0; k < sizeof of / sizeof *of; k++) {
        wk__dist_group group = {.rank = 0, .size = 2, .id = of[k].group};
        const wk__dist_request request = {.kind = of[k].kind};
        const wk__dist_call call = {
            .request = &request, .group = &group, .sequence = of[k].sequence, .started = wk__monotonic_ns()};
        wk__dist_error fail = {.code = WK_OK}, before = fail;
        assert_int_equal(wk__tcp_give_up(&tcp, &call, WK_ERR_TIMEOUT, NULL, &fail), WK_ERR_TIMEOUT);
        assert_true(fail.fatal && strstr(fail.text, tcp.cause) && strstr(fail.text, "restart"));
        const bool own = strncmp(fail.text, "timed out after ", 16) == 0,
                   other = strncmp(fail.text, "all_reduce 7 of group 5 timed out: ", 35) == 0;
        if (own != of[k].is_it || other == of[k].is_it) fail_msg("call %zu: %s", k, fail.text);
        /* Broken before the call began: its own duration is 0. */
        assert_false(wk__tcp_call_begin(&tcp, &call, &before));
        assert_int_equal(strncmp(before.text, "all_reduce 7 of group 5 timed out: ", 35), 0);
    }
    pthread_mutex_destroy(&tcp.lock);
}

static bool write_to(const char *path, const char *text)
{
    FILE *file = fopen(path, "we");
    const bool written = file && fputs(text, file) >= 0;
    return file && fclose(file) == 0 && written;
}

/* A separate network in which connections have two ports to choose from. */
static bool has_few_ports(void)
{
    struct ifreq lo = {.ifr_name = "lo", .ifr_flags = IFF_UP};
    if (unshare(CLONE_NEWNET) != 0 && unshare(CLONE_NEWUSER | CLONE_NEWNET) != 0) return false;
    const int fd = socket(AF_INET, SOCK_DGRAM, 0);
    return ioctl(fd, SIOCSIFFLAGS, &lo) == 0 && write_to("/proc/sys/net/ipv4/ip_local_port_range", "40000 40001");
}

/* Returns 0 if no connection succeeds where nothing listens. */
static int connects_without_a_listener(void)
{
    enum { CANNOT = 77 };
    if (!has_few_ports()) return CANNOT;
    wk__address to = {.bytes = sizeof(struct sockaddr_in)};
    *(struct sockaddr_in *)&to.at =
        (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons(40000), .sin_addr = {htonl(INADDR_LOOPBACK)}};
    for (int k = 0; k < 100; k++)
        if (wk__socket_connect(&to, wk__monotonic_ns() + 1000000000) >= 0 || errno != ECONNREFUSED) return 1;
    return 0;
}

static void self_connections(void **state)
{
    (void)state;
    int status;
    const pid_t child = fork();
    if (child == 0) _exit(connects_without_a_listener());
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    if (WEXITSTATUS(status) == 77) skip(); /* the system does not allow network namespaces */
    assert_int_equal(WEXITSTATUS(status), 0);
}

/* ---- a false rank 0 ---------------------------------------------------------------------------------------------- */

static char false_host[64];

static void use_false_host(int rank)
{
    (void)rank;
    setenv("WICK_COORDINATOR", false_host, 1);
}

static void rank_1_does_not_join(int rank)
{
    if (rank == 0) return;
    RANK_CHECK(wk_dist_init() != WK_OK);
    rank_save_error();
}

/* It knows the secret, and announces a MiB where at most 80 KiB is allowed. */
static void a_false_rank_0(void **state)
{
    (void)state;
    int port;
    const int listener = ranks_listen(false, &port);
    snprintf(false_host, sizeof false_host, "127.0.0.1:%d", port);
    ranks r = {
        .size = 2, .body = rank_1_does_not_join, .prepare = use_false_host, .no_listener = true, .secret = "known"};
    ranks_start(&r);
    const int guest = accept(listener, NULL, NULL);
    wk__handshake_server visitor = {.challenged = false};
    wk__handshake_status visit = WK__HANDSHAKE_MORE;
    while (visit == WK__HANDSHAKE_MORE || visit == WK__HANDSHAKE_REPLY) {
        uint8_t byte;
        size_t took;
        wk__reply reply = {.bytes = 0};
        assert_int_equal(recv(guest, &byte, 1, 0), 1);
        visit = wk__handshake_server_feed(&visitor, "known", &byte, 1, &took, &reply);
        if (visit == WK__HANDSHAKE_REPLY) assert_true(send(guest, reply.at, reply.bytes, MSG_NOSIGNAL) > 0);
    }
    assert_int_equal(visit, WK__HANDSHAKE_DONE);
    uint8_t head[WK__WIRE_HEADER_BYTES];
    static const uint8_t rest[1 << 20];
    wk__wire_header_write(&(wk__wire_header){.kind = WK__WIRE_SEND, .bytes = sizeof rest}, head);
    send(guest, head, sizeof head, MSG_NOSIGNAL);
    send(guest, rest, sizeof rest, MSG_NOSIGNAL);
    ranks_end(&r, false);
    close(guest);
    close(listener);
    expect_rank_error(&r, 1, WK_ERR_TIMEOUT, "rank 0 did not complete the handshake: unexpected message", NULL);
    ranks_free(&r);
}

/* ---- two ranks, and a third -------------------------------------------------------------------------------------- */

/* Rank 2 has left when the others begin, and takes no part in their calls. */
static void sends_when_a_third_has_left(int rank)
{
    WK_SCOPE;
    RANK_CHECK(wk_dist_init() == WK_OK);
    wk_tensor *x = wk_full((5), rank + 1.0);
    if (rank < 2) usleep(300000); /* usually rank 0 knows by then */
    if (rank == 0) RANK_CHECK(wk_dist_send(x, 1) == WK_OK && wk_dist_recv_(x, 1) == x && wk_item(wk_amax(x)) == 2);
    if (rank == 1) {
        wk_tensor *y = wk_zeros((5));
        RANK_CHECK(wk_dist_recv_(y, 0) == y && wk_item(wk_amax(y)) == 1 && wk_dist_send(x, 0) == WK_OK);
    }
    RANK_CHECK(wk_dist_finish() == WK_OK && !wk_error());
}

static void pairs_while_a_third_has_left(void **state)
{
    (void)state;
    ranks r = {.size = 3, .body = sends_when_a_third_has_left};
    ranks_run(&r);
    ranks_free(&r);
}

/* Rank 1 is stopped, so that rank 2's visit finds its listener open but not served, or its sends find no reader; then
 * rank 0 ends, and the world with it. That is reported long before the deadline, which is past that of this test. */
static void visits_while_the_world_breaks(int rank)
{
    WK_SCOPE;
    RANK_CHECK(wk_dist_init() == WK_OK);
    if (rank == 1) raise(SIGSTOP);
    while (rank == 0 && !atomic_load(&note_of(2)->flag)) usleep(2000);
    if (rank == 0) sleep(1), _exit(9); /* usually rank 2 is connecting by then */
    if (rank == 2) {
        wk_tensor *x = wk_ones((100000));
        atomic_store(&my_note()->flag, 1);
        while (wk_dist_send(x, 1) == WK_OK) continue;
        rank_save_error();
        atomic_store(&my_note()->flag, 2);
    }
    _exit(0);
}

static void a_world_that_breaks_during_a_visit(void **state)
{
    (void)state;
    ranks r = {.size = 3, .body = visits_while_the_world_breaks, .timeout = 1000};
    ranks_start(&r);
    ranks_await(&r, 2, 2);
    kill(r.note[1].process, SIGCONT);
    ranks_end(&r, true);
    expect_rank_error(&r, 2, WK_ERR_TIMEOUT, "dist_send: rank 2 of 3 on ", "rank 0 on ", "lost rank ", NULL);
    ranks_free(&r);
}

/* Rank 0 does something else. Rank 2, which is not involved, reports the unfinished call. */
static void waits_for_a_missing_send(int rank)
{
    WK_SCOPE;
    RANK_CHECK(wk_dist_init() == WK_OK);
    wk_tensor *x = wk_full((5), rank + 1.0);
    if (rank == 1) RANK_CHECK(!wk_dist_recv_(x, 0));
    while (rank != 1 && !atomic_load(&note_of(1)->flag)) usleep(2000);
    if (rank == 0) RANK_CHECK(wk_dist_send(x, 1) != WK_OK);
    if (rank == 2) RANK_CHECK(wk_dist_barrier() != WK_OK);
    rank_save_error();
    atomic_store(&my_note()->flag, 1);
    wk_dist_finish();
    wk_clear_error();
}

static void invalid_messages(void **state)
{
    (void)state;
    ranks r = {.size = 3, .body = waits_for_a_missing_send, .timeout = 2};
    ranks_run(&r);
    expect_rank_error(&r, 1, WK_ERR_TIMEOUT, "dist_recv_: rank 1 of 3 on ", ": recv (20 bytes): timed out after ",
                      ": rank 0 on ", " has not called it; its last call was barrier 1; restart", NULL);
    expect_rank_error(&r, 0, WK_ERR_TIMEOUT, "dist_send: rank 0 of 3 on ", ": send (20 bytes): recv timed out: ", NULL);
    expect_rank_error(&r, 2, WK_ERR_TIMEOUT, ": barrier 2: recv timed out: rank 0 on ", NULL);
    ranks_free(&r);
}

/* The message does not blame the network. */
static void receives_from_the_other(int rank)
{
    WK_SCOPE;
    RANK_CHECK(wk_dist_init() == WK_OK);
    RANK_CHECK(!wk_dist_recv_(wk_ones((5)), 1 - rank));
    rank_save_error();
    wk_dist_finish();
    wk_clear_error();
}

static void both_receive(void **state)
{
    (void)state;
    ranks r = {.size = 2, .body = receives_from_the_other, .timeout = 2};
    ranks_run(&r);
    for (int k = 0; k < 2; k++)
        expect_rank_error(&r, k, WK_ERR_TIMEOUT, ": recv (20 bytes): timed out after ", ": rank ",
                          " is in recv; restart", NULL);
    ranks_free(&r);
}

/* Each of three ranks waits for the next one, all in the first call of a group. A call that begins after the failure
 * has not waited. */
static void waits_in_a_circle(int rank)
{
    static const int first[] = {0, 1, 2}, second[] = {2, 0, 1};
    WK_SCOPE;
    RANK_CHECK(wk_dist_init() == WK_OK);
    wk_dist_group *group[] = {wk_dist_new_group((0, 1)), wk_dist_new_group((1, 2)), wk_dist_new_group((2, 0))};
    RANK_CHECK(!wk_dist_all_reduce_(wk_ones((2)), .group = group[first[rank]]));
    rank_save_error();
    RANK_CHECK(!wk_dist_all_reduce_(wk_ones((2)), .group = group[second[rank]]));
    RANK_CHECK(!strstr(wk_error(), " timed out after "));
    wk_clear_error();
    wk_dist_finish();
    wk_clear_error();
}

static void groups_in_a_circle(void **state)
{
    (void)state;
    ranks r = {.size = 3, .body = waits_in_a_circle, .timeout = 2};
    ranks_run(&r);
    for (int k = 0; k < 3; k++)
        expect_rank_error(&r, k, WK_ERR_TIMEOUT, "all_reduce 1", "timed out", ": rank ",
                          " is in all_reduce 1 of group ", NULL);
    ranks_free(&r);
}

/* Like a program that becomes a daemon. */
static void closes_all(int rank)
{
    WK_SCOPE;
    (void)rank;
    RANK_CHECK(wk_dist_init() == WK_OK);
    for (int fd = 3; fd < 100; fd++) close(fd);
    RANK_CHECK(!wk_dist_all_reduce_(wk_ones((2))));
    rank_save_error();
    RANK_CHECK(wk_dist_finish() != WK_OK);
}

static void a_process_closes_its_descriptors(void **state)
{
    (void)state;
    ranks r = {.size = 2, .body = closes_all};
    ranks_run(&r);
    for (int k = 0; k < 2; k++) {
        /* The call or the listening thread finds its descriptors closed, or the closed end of the other is detected
         * first. */
        const char *error = r.note[k].error;
        const bool lost = strstr(error, "lost rank ") && strstr(error, ": connection closed");
        if (!strstr(error, "Bad file descriptor") && !lost)
            expect_rank_error(&r, k, WK_ERR_IO, "closed file descriptors", NULL);
        assert_non_null(strstr(error, "all_reduce 2"));
    }
    ranks_free(&r);
}

/* It gets no message, and its deadline is past that of this test. The other rank would have left if it had asked for
 * that before. */
static void closes_all_and_finishes(int rank)
{
    RANK_CHECK(wk_dist_init() == WK_OK);
    if (rank == 0) {
        for (int fd = 3; fd < 100; fd++) close(fd);
        atomic_store(&my_note()->flag, 1);
    }
    while (!atomic_load(&note_of(0)->flag)) usleep(1000);
    RANK_CHECK(wk_dist_finish() != WK_OK);
    rank_save_error();
}

static void a_process_closes_its_descriptors_and_finishes(void **state)
{
    (void)state;
    ranks r = {.size = 2, .body = closes_all_and_finishes, .timeout = 1000};
    ranks_run(&r);
    expect_rank_error(&r, 0, WK_ERR_IO, "the program closed file descriptors of the library", NULL);
    ranks_free(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(control_send_buffer_full),
        cmocka_unit_test(a_listener_without_descriptors),
        cmocka_unit_test(a_connection_to_itself),
        cmocka_unit_test(a_world_that_breaks_before_the_welcome),
        cmocka_unit_test(errors_name_the_unfinished_call),
        cmocka_unit_test(self_connections),
        cmocka_unit_test(a_false_rank_0),
        cmocka_unit_test(pairs_while_a_third_has_left),
        cmocka_unit_test(a_world_that_breaks_during_a_visit),
        cmocka_unit_test(invalid_messages),
        cmocka_unit_test(both_receive),
        cmocka_unit_test(groups_in_a_circle),
        cmocka_unit_test(a_process_closes_its_descriptors),
        cmocka_unit_test(a_process_closes_its_descriptors_and_finishes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
