/* SPDX-License-Identifier: Apache-2.0 */
/* Tests how ranks join over TCP while other connections arrive: garbage, slow connections, ranks with another secret,
 * rank or world size. They are rejected without effect on the job. */
#include "support/ranks.h"

#include "distributed/session.h"
#include "distributed/tcp/tcp.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

enum { SHORT = 3 /* seconds of WICK_TIMEOUT in tests that reach it */ };

static void expect_world(int size)
{
    WK_SCOPE;
    wk_tensor *x = wk_full((3), 1.0);
    RANK_CHECK(wk_dist_size() == size && wk_dist_all_reduce_(x) && wk_item(wk_amax(x)) == size);
}

static void join_and_leave(int rank)
{
    (void)rank;
    RANK_CHECK(wk_dist_init() == WK_OK);
    RANK_CHECK(wk_dist_local_rank() == wk_dist_rank()); /* all ranks are on one machine */
    expect_world(the_ranks->size);
    RANK_CHECK(wk_dist_finish() == WK_OK && !wk_error());
}

/* ---- address of rank 0 ------------------------------------------------------------------------------------------- */

static void by_name(int rank)
{
    char host[32];
    (void)rank;
    snprintf(host, sizeof host, "localhost:%d", the_ranks->port);
    setenv("WICK_COORDINATOR", host, 1);
}

static void torchrun(int rank)
{
    char text[16];
    unsetenv("WICK_RANK");
    unsetenv("WICK_WORLD_SIZE");
    unsetenv("WICK_COORDINATOR");
    snprintf(text, sizeof text, "%d", rank);
    setenv("RANK", text, 1);
    setenv("WORLD_SIZE", "3", 1);
    setenv("MASTER_ADDR", "127.0.0.1", 1);
    snprintf(text, sizeof text, "%d", the_ranks->port);
    setenv("MASTER_PORT", text, 1);
}

static void addresses_of_rank_0(void **state)
{
    (void)state;
    ranks named = {.size = 2, .body = join_and_leave, .prepare = by_name};
    ranks_run(&named);
    ranks_free(&named);
    ranks torch = {.size = 3, .body = join_and_leave, .prepare = torchrun};
    ranks_run(&torch);
    ranks_free(&torch);
}

static void over_ipv6(void **state)
{
    (void)state;
    int port;
    const int there = ranks_listen(true, &port);
    if (there < 0) skip();
    close(there);
    ranks r = {.size = 3, .body = join_and_leave, .ipv6 = true};
    ranks_run(&r);
    ranks_free(&r);
}

static char no_such[64];

static void use_unknown_host(int rank)
{
    (void)rank;
    setenv("WICK_COORDINATOR", no_such, 1);
}

static void does_not_join(int rank)
{
    (void)rank;
    RANK_CHECK(wk_dist_init() != WK_OK && !wk_dist_is_initialized() && wk_dist_size() == 1);
    rank_save_error();
    RANK_CHECK(wk_dist_barrier() == WK_ERR_STATE && strstr(wk_error(), "this one has not joined them"));
    wk_clear_error();
    RANK_CHECK(wk_dist_finish() == WK_OK); /* no world to leave */
}

static void an_unknown_host(void **state)
{
    (void)state;
    snprintf(no_such, sizeof no_such, "no-such-host.invalid:29500");
    ranks r = {.size = 2, .body = does_not_join, .prepare = use_unknown_host, .timeout = SHORT};
    ranks_run(&r);
    expect_rank_error(&r, 0, WK_ERR_TIMEOUT, "dist_init: rank 0 of 2 (by WICK_RANK): rank 1 did not join within 3 s",
                      NULL);
    expect_rank_error(
        &r, 1, WK_ERR_IO,
        "dist_init: rank 1 of 2 (by WICK_RANK): cannot resolve the host of rank 0, \"no-such-host.invalid\"", NULL);
    ranks_free(&r);
}

/* The test itself listens on this port. */
static void a_port_in_use(void **state)
{
    (void)state;
    int port;
    const int taken = ranks_listen(false, &port);
    snprintf(no_such, sizeof no_such, "127.0.0.1:%d", port);
    ranks r = {.size = 2, .body = does_not_join, .prepare = use_unknown_host, .no_listener = true, .timeout = SHORT};
    ranks_run(&r);
    expect_rank_error(&r, 0, WK_ERR_IO, "is in use by another program", NULL);
    expect_rank_error(&r, 1, WK_ERR_TIMEOUT, "cannot reach rank 0 at 127.0.0.1 port ", " within 3 s: ", NULL);
    ranks_free(&r);
    close(taken);
}

static void only_rank_1(int rank)
{
    if (rank == 1) does_not_join(rank);
}

static void rank_0_does_not_listen(void **state)
{
    (void)state;
    int port;
    close(ranks_listen(false, &port));
    snprintf(no_such, sizeof no_such, "127.0.0.1:%d", port);
    ranks r = {.size = 2, .body = only_rank_1, .prepare = use_unknown_host, .no_listener = true, .timeout = 1};
    ranks_run(&r);
    expect_rank_error(&r, 1, WK_ERR_TIMEOUT, " within 1 s: Connection refused", NULL);
    ranks_free(&r);
}

static void another_program_listens(void **state)
{
    (void)state;
    static const char answer[] = "HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
    int port;
    const int listener = ranks_listen(false, &port);
    snprintf(no_such, sizeof no_such, "127.0.0.1:%d", port);
    ranks r = {.size = 2, .body = only_rank_1, .prepare = use_unknown_host, .no_listener = true};
    ranks_start(&r);
    const int visitor = accept(listener, NULL, NULL);
    assert_int_equal(send(visitor, answer, sizeof answer - 1, MSG_NOSIGNAL), sizeof answer - 1);
    ranks_end(&r, false);
    close(visitor);
    close(listener);
    expect_rank_error(&r, 1, WK_ERR_IO, "at 127.0.0.1 port ",
                      ": the process listening there is not a rank of this job: not a Wick peer", NULL);
    ranks_free(&r);
}

/* ---- other connections ------------------------------------------------------------------------------------------- */

static int visit(int port)
{
    const struct sockaddr_in at = {
        .sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr = {htonl(INADDR_LOOPBACK)}};
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(fd >= 0);
    assert_int_equal(connect(fd, (const struct sockaddr *)&at, sizeof at), 0);
    return fd;
}

/* Sends message k of a stranger: nothing, an HTTP request, half a HELLO, a HELLO and an invalid proof, or garbage. */
static void send_as_stranger(int fd, int k)
{
    uint8_t said[WK__HELLO_MESSAGE_BYTES + WK__PROOF_MESSAGE_BYTES];
    const wk__hello hello = {.purpose = (wk__hello_purpose)(k & 1), .rank = 1, .size = 2, .host = "stranger"};
    memset(said, k * 37 + 11, sizeof said);
    if (k % 5 == 0) return;
    if (k % 5 == 1) memcpy(said, "GET / HTTP/1.1\r\n\r\n", 18);
    if (k % 5 == 2 || k % 5 == 3) wk__hello_write(&hello, said);
    if (k % 5 == 3)
        wk__wire_header_write(&(wk__wire_header){.kind = WK__WIRE_PROOF, .bytes = WK__WIRE_PROOF_BYTES},
                              said + WK__HELLO_MESSAGE_BYTES);
    send(fd, said, k % 5 == 2 ? 80 : sizeof said, MSG_NOSIGNAL);
}

/* Connects as a stranger and waits until it is rejected. */
static void connect_as_stranger(int port)
{
    uint8_t received[512];
    const int fd = visit(port);
    send_as_stranger(fd, 1);
    while (recv(fd, received, sizeof received, 0) > 0) continue;
    close(fd);
}

/* ---- ranks that do not fit this job ------------------------------------------------------------------------------ */

static void with_another_secret(int rank)
{
    if (rank == 1) setenv("WICK_SECRET", "WICK_SECRET", 1);
}

/* A later stranger is not reported as the cause of the timeout. */
static void another_secret(void **state)
{
    (void)state;
    ranks r = {.size = 3, .body = does_not_join, .prepare = with_another_secret, .timeout = SHORT};
    ranks_start(&r);
    while (!atomic_load(&r.note[1].ended)) usleep(2000);
    connect_as_stranger(r.port);
    ranks_end(&r, false);
    expect_rank_error(&r, 0, WK_ERR_ARGUMENT, "rank 1 did not join within 3 s; last rejected: ",
                      "disconnected during authentication; its WICK_SECRET probably differs", NULL);
    expect_rank_error(&r, 1, WK_ERR_ARGUMENT,
                      "the process listening there does not know the secret of this job (WICK_SECRET)", NULL);
    expect_rank_error(&r, 2, WK_ERR_ARGUMENT,
                      "rejected by rank 0: rank 1 did not join within 3 s; last rejected: ", "WICK_SECRET", NULL);
    ranks_free(&r);
}

/* Rank 0 starts last, so that its answer to the waiting ranks is late. */
static void of_another_world(int rank)
{
    if (rank == 0) usleep(700000);
    if (rank == 1) setenv("WICK_WORLD_SIZE", "4", 1);
}

static void another_world_size(void **state)
{
    (void)state;
    ranks r = {.size = 3, .body = does_not_join, .prepare = of_another_world, .timeout = SHORT};
    ranks_run(&r);
    expect_rank_error(&r, 0, WK_ERR_ARGUMENT,
                      "rank 1 did not join within 3 s; last rejected: ", "WICK_WORLD_SIZE differs", NULL);
    expect_rank_error(&r, 1, WK_ERR_ARGUMENT, "rejected by rank 0: its WICK_WORLD_SIZE differs from that of rank 0",
                      NULL);
    expect_rank_error(&r, 2, WK_ERR_ARGUMENT,
                      "rejected by rank 0: rank 1 did not join within 3 s; last rejected: ", "WICK_WORLD_SIZE", NULL);
    ranks_free(&r);
}

/* Processes 1 and 2 both claim rank 1: one of them is rejected; then process 3 joins as rank 2. */
static void claims_rank_1_twice(int rank)
{
    setenv("WICK_WORLD_SIZE", "3", 1);
    if (rank == 2) setenv("WICK_RANK", "1", 1);
    if (rank == 3) setenv("WICK_RANK", "2", 1);
}

static void comes_twice(int rank)
{
    while (rank == 3 && !atomic_load(&note_of(1)->flag) && !atomic_load(&note_of(2)->flag)) usleep(2000);
    if (wk_dist_init() != WK_OK) {
        rank_save_error();
        atomic_store(&my_note()->flag, 1);
        return;
    }
    expect_world(3);
    RANK_CHECK(wk_dist_finish() == WK_OK && !wk_error());
}

static void a_rank_that_has_joined_already(void **state)
{
    (void)state;
    ranks r = {.size = 4, .body = comes_twice, .prepare = claims_rank_1_twice};
    ranks_run(&r);
    const int refused = r.note[1].error[0] ? 1 : 2;
    assert_true(!r.note[1].error[0] != !r.note[2].error[0] && !r.note[0].error[0] && !r.note[3].error[0]);
    expect_rank_error(&r, refused, WK_ERR_ARGUMENT, "rejected by rank 0: duplicate WICK_RANK", NULL);
    ranks_free(&r);
}

/* Process 2 also claims rank 1 of two, and connects when the world is complete. */
static void claims_a_rank_too_many(int rank)
{
    setenv("WICK_WORLD_SIZE", "2", 1);
    if (rank == 2) setenv("WICK_RANK", "1", 1);
}

static void comes_to_a_complete_world(int rank)
{
    while (rank == 2 && !atomic_load(&note_of(0)->flag)) usleep(2000);
    if (rank == 2) {
        RANK_CHECK(wk_dist_init() != WK_OK);
        rank_save_error();
        atomic_store(&my_note()->flag, 1);
        return;
    }
    RANK_CHECK(wk_dist_init() == WK_OK);
    atomic_store(&my_note()->flag, 1);
    while (!atomic_load(&note_of(2)->flag)) usleep(2000);
    expect_world(2);
    RANK_CHECK(wk_dist_finish() == WK_OK && !wk_error());
}

static void a_complete_world(void **state)
{
    (void)state;
    ranks r = {.size = 3, .body = comes_to_a_complete_world, .prepare = claims_a_rank_too_many};
    ranks_run(&r);
    expect_rank_error(&r, 2, WK_ERR_ARGUMENT, "rejected by rank 0: the world is already complete",
                      "WICK_RANK is duplicated", NULL);
    ranks_free(&r);
}

/* Process 1 first connects with a wrong secret and is rejected; then with the right one. Rank 2 does not join, for an
 * unknown reason. */
static void corrects_its_secret(int rank)
{
    if (rank == 2) return;
    if (rank == 1) {
        setenv("WICK_SECRET", "WICK_SECRET", 1);
        RANK_CHECK(wk_dist_init() == WK_ERR_ARGUMENT);
        wk_clear_error();
        setenv("WICK_SECRET", "a secret", 1);
    }
    RANK_CHECK(wk_dist_init() == WK_ERR_TIMEOUT);
    rank_save_error();
}

static void a_corrected_secret(void **state)
{
    (void)state;
    ranks r = {.size = 3, .body = corrects_its_secret, .timeout = SHORT};
    ranks_run(&r);
    expect_rank_error(&r, 0, WK_ERR_TIMEOUT, "rank 2 did not join within 3 s", NULL);
    expect_rank_error(&r, 1, WK_ERR_TIMEOUT, "rejected by rank 0: rank 2 did not join within 3 s", NULL);
    ranks_free(&r);
}

/* ---- strangers --------------------------------------------------------------------------------------------------- */

enum { STRANGERS = 100 };

static void crowd(int fd[STRANGERS], int port)
{
    for (int k = 0; k < STRANGERS; k++) send_as_stranger(fd[k] = visit(port), k);
}

static void disperse(const int fd[STRANGERS])
{
    for (int k = 0; k < STRANGERS; k++) close(fd[k]);
}

/* Rank 1 joins after the strangers have connected. */
static void comes_late(int rank)
{
    while (rank == 1 && !atomic_load(&my_note()->flag)) usleep(2000);
    join_and_leave(rank);
}

static void strangers_before_the_world_is_complete(void **state)
{
    (void)state;
    int fd[STRANGERS];
    ranks r = {.size = 2, .body = comes_late};
    ranks_start(&r);
    crowd(fd, r.port);
    atomic_store(&r.note[1].flag, 1);
    ranks_end(&r, false);
    disperse(fd);
    ranks_free(&r);
}

/* A stranger that sends garbage receives the reason of its rejection; a silent one is rejected after a while. */
static void strangers_get_no_details(void **state)
{
    (void)state;
    ranks r = {.size = 2, .body = comes_late, .timeout = 12};
    ranks_start(&r);
    const int loud = visit(r.port), silent = visit(r.port);
    uint8_t received[512];
    send_as_stranger(loud, 1);
    const ssize_t got = recv(loud, received, sizeof received, MSG_WAITALL);
    assert_true(got > WK__WIRE_HEADER_BYTES);
    assert_non_null(memmem(received, (size_t)got, "not a Wick peer", 15));
    send_as_stranger(silent, 2);
    assert_true(recv(silent, received, sizeof received, 0) <= 0); /* after 3 of 12 seconds */
    atomic_store(&r.note[1].flag, 1);
    ranks_end(&r, false);
    close(loud);
    close(silent);
    ranks_free(&r);
}

/* Strangers connect to each rank's listener during the collectives. */
static void computes_among_strangers(int rank)
{
    (void)rank;
    RANK_CHECK(wk_dist_init() == WK_OK);
    my_note()->number[0] = wk__socket_port(((wk__tcp *)wk__dist_session_now.world)->acceptor.listener);
    atomic_store(&my_note()->flag, 1);
    for (int k = 0;; k++) { /* rank 0 decides for all when to stop */
        WK_SCOPE;
        wk_tensor *go_on = wk_full((1), atomic_load(&note_of(0)->flag) < 2 || k < 99);
        expect_world(the_ranks->size);
        wk_dist_all_to_all(wk_ones((the_ranks->size, 1000)));
        wk_dist_broadcast_(go_on, 0);
        if (wk_item(go_on) == 0) break;
    }
    RANK_CHECK(wk_dist_finish() == WK_OK && !wk_error());
}

static void strangers_in_a_complete_world(void **state)
{
    (void)state;
    int fd[3][STRANGERS];
    ranks r = {.size = 3, .body = computes_among_strangers};
    ranks_start(&r);
    for (int k = 0; k < 3; k++) ranks_await(&r, k, 1);
    for (int k = 0; k < 3; k++) crowd(fd[k], (int)r.note[k].number[0]);
    atomic_store(&r.note[0].flag, 2);
    ranks_end(&r, false);
    for (int k = 0; k < 3; k++) disperse(fd[k]);
    ranks_free(&r);
}

/* Strangers do not prevent ranks from joining, so the launcher may restart the job. */
static void only_rank_0(int rank)
{
    if (rank == 0) does_not_join(rank);
}

static void strangers_without_other_ranks(void **state)
{
    (void)state;
    ranks r = {.size = 2, .body = only_rank_0, .timeout = SHORT};
    ranks_start(&r);
    const int fd = visit(r.port);
    send_as_stranger(fd, 2);
    close(fd);
    connect_as_stranger(r.port);
    ranks_end(&r, false);
    expect_rank_error(&r, 0, WK_ERR_TIMEOUT, "rank 1 did not join within 3 s; last rejected: 127.0.0.1: ", NULL);
    ranks_free(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(addresses_of_rank_0),
        cmocka_unit_test(over_ipv6),
        cmocka_unit_test(an_unknown_host),
        cmocka_unit_test(a_port_in_use),
        cmocka_unit_test(rank_0_does_not_listen),
        cmocka_unit_test(another_program_listens),
        cmocka_unit_test(another_secret),
        cmocka_unit_test(another_world_size),
        cmocka_unit_test(a_rank_that_has_joined_already),
        cmocka_unit_test(a_complete_world),
        cmocka_unit_test(a_corrected_secret),
        cmocka_unit_test(strangers_before_the_world_is_complete),
        cmocka_unit_test(strangers_get_no_details),
        cmocka_unit_test(strangers_in_a_complete_world),
        cmocka_unit_test(strangers_without_other_ranks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
