/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the status lines that a rank sends to its launcher: writing them never blocks or ends the rank, whatever the
 * reader does. */
#include "support/wick.h"

#include "distributed/agree.h"
#include "base/launcher_status.h"
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* The pipe is looked up once per process, so each test runs in a child, which must return 0 within a minute. */
static void in_a_process(int (*run)(int to, int from))
{
    int ends[2], status;
    char number[16];
    assert_int_equal(pipe(ends), 0);
    snprintf(number, sizeof number, "%d", ends[1]);
    const pid_t process = fork();
    if (process == 0) {
        alarm(60);
        setenv("WICK_STATUS_FD", number, 1);
        _exit(run(ends[1], ends[0]));
    }
    close(ends[0]), close(ends[1]);
    assert_int_equal(waitpid(process, &status, 0), process);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        fail_msg("exit %d, signal %d", WEXITSTATUS(status), WTERMSIG(status));
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static int lines_of(char *text, size_t room, int from)
{
    int lines = 0;
    const ssize_t got = read(from, text, room - 1);
    text[got > 0 ? got : 0] = 0;
    for (const char *p = text; *p; p++) lines += *p == '\n';
    return lines;
}

static int sends_steps(int to, int from)
{
    (void)to;
    char text[4096];
    const double began = now();
    for (int step = 1; now() - began < 1.2; step++) wk__launcher_status_step(step);
    const int most = 1 + (int)((now() - began) / 0.5), lines = lines_of(text, sizeof text, from);
    double rate = 0;
    const char *second = strchr(text, '\n');
    if (strncmp(text, "step=1\n", 7) != 0 || lines < 2 || lines > most) return 1;
    return sscanf(second + 1, "step=%*d rate=%lf", &rate) == 1 && rate > 0 ? 0 : 2;
}

/* A step that is not later than the previous one has no rate, because the program restarted. */
static int sends_no_rate(int to, int from)
{
    (void)to;
    char text[4096];
    const struct timespec pause = {0, 600000000};
    wk__launcher_status_step(40);
    nanosleep(&pause, NULL);
    wk__launcher_status_step(20);
    lines_of(text, sizeof text, from);
    return strcmp(text, "step=40\nstep=20\n") != 0;
}

static int fills_the_pipe(int to, int from)
{
    (void)from;
    char block[4096] = "";
    fcntl(to, F_SETFL, O_NONBLOCK);
    while (write(to, block, sizeof block) > 0) {
    }
    while (write(to, block, 1) > 0) {
    }
    fcntl(to, F_SETFL, 0); /* its writes block again, as without the flag */
    wk__launcher_status_step(1);
    return 0;
}

/* The parent keeps the pipe's end open for a moment longer. */
static void close_for_all(int to, int from)
{
    struct pollfd p = {to, 0, 0};
    close(from);
    while (poll(&p, 1, 10) >= 0 && !(p.revents & POLLERR)) {
    }
}

static int loses_its_reader(int to, int from)
{
    close_for_all(to, from);
    signal(SIGPIPE, SIG_DFL);
    wk__launcher_status_step(1);
    return 0;
}

/* A SIGPIPE that the program itself waits for is not consumed. */
static int keeps_a_signal(int to, int from)
{
    sigset_t pipe, pending;
    sigemptyset(&pipe);
    sigaddset(&pipe, SIGPIPE);
    sigprocmask(SIG_BLOCK, &pipe, NULL);
    raise(SIGPIPE);
    close_for_all(to, from);
    wk__launcher_status_step(1);
    sigpending(&pending);
    return sigismember(&pending, SIGPIPE) != 1;
}

/* A file that the program opened after its parent closed the pipe must not be taken for the pipe. */
static int has_a_file_as_pipe(int to, int from)
{
    FILE *file = tmpfile();
    (void)from;
    if (!file || dup2(fileno(file), to) != to) return 1;
    wk__launcher_status_send("wick=open\n");
    return lseek(to, 0, SEEK_END) != 0;
}

static int has_no_pipe(int to, int from)
{
    close(from), close(to);
    wk__launcher_status_step(1);
    return 0;
}

static int closes_the_pipe_on_exec(int to, int from)
{
    (void)from;
    wk__launcher_status_step(1);
    return fcntl(to, F_GETFD) != FD_CLOEXEC;
}

static void steps_go_into_the_pipe(void **state)
{
    (void)state;
    in_a_process(sends_steps);
    in_a_process(sends_no_rate);
    in_a_process(closes_the_pipe_on_exec);
}

/* Lines before a step and between steps: neither affects the time of the other. */
static int sends_lines(int to, int from)
{
    (void)to;
    char text[4096];
    wk__launcher_status_send("a=1\n");
    wk__launcher_status_step(1);
    wk__launcher_status_send("b=2\n");
    wk__launcher_status_step(2);
    lines_of(text, sizeof text, from);
    return strcmp(text, "a=1\nstep=1\nb=2\n") != 0;
}

static int sends_the_state_of_the_world(int to, int from)
{
    (void)to;
    char text[4096];
    WK_SCOPE;
    wk_ones((2));
    lines_of(text, sizeof text, from);
    if (strcmp(text, "wick=open\n") != 0) return 1;
    wk_dist_init();
    lines_of(text, sizeof text, from);
    if (strcmp(text, "world=joined\n") != 0) return 2;
    wk_dist_finish();
    lines_of(text, sizeof text, from);
    return strcmp(text, "world=left\n") != 0;
}

static const char *host_of(void *world, int rank)
{
    (void)world, (void)rank;
    return "nodeB";
}

/* A call that fails because of another rank's error names that rank, for the launcher. */
static int names_the_rank_that_failed(int to, int from)
{
    (void)to, (void)from;
    const wk__dist_transport transport = {.host_name = host_of};
    const wk__agreement all = {.code = WK_ERR_IO, .failed_rank = 1, .text = "no disk"};
    wk__dist_error fail;
    if (wk__agreement_result(&all, &transport, NULL, &fail) != WK_ERR_IO) return 1;
    return fail.failed_rank_plus_1 != 2 || strcmp(fail.text, "rank 1 on nodeB failed: no disk") != 0;
}

static void lines_go_into_the_pipe(void **state)
{
    (void)state;
    in_a_process(sends_lines);
    in_a_process(sends_the_state_of_the_world);
    in_a_process(names_the_rank_that_failed);
}

static void a_full_pipe_does_not_block(void **state)
{
    (void)state;
    in_a_process(fills_the_pipe);
}

static void a_closed_reader_does_not_end_the_rank(void **state)
{
    (void)state;
    in_a_process(loses_its_reader);
    in_a_process(keeps_a_signal);
    in_a_process(has_no_pipe);
    in_a_process(has_a_file_as_pipe);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_go_into_the_pipe),
        cmocka_unit_test(lines_go_into_the_pipe),
        cmocka_unit_test(a_full_pipe_does_not_block),
        cmocka_unit_test(a_closed_reader_does_not_end_the_rank),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
