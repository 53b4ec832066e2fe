/* SPDX-License-Identifier: Apache-2.0 */
/* Drivers may call abort() when they are asked what devices there are: PoCL does where it finds no description of the
 * CPUs below /sys, as in a bare chroot. There a child asks first. Elsewhere that would cost the time of asking once
 * more, and nothing is gained. */
#include "probe.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

bool wk__cl_needs_probe(void)
{
    return access("/sys/devices/system/cpu", F_OK) != 0;
}

/* The driver's last words are for nobody, nor is its core. */
static _Noreturn void run_child(void (*ask)(void), int report)
{
    const struct rlimit no_core = {0, 0};
    const int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
    signal(SIGABRT, SIG_DFL);
    setrlimit(RLIMIT_CORE, &no_core);
    for (int stream = STDOUT_FILENO; stream <= STDERR_FILENO; stream++)
        if (nowhere < 0 || dup2(nowhere, stream) < 0) close(stream);
    ask();
    _exit(write(report, "", 1) == 1 ? 0 : 1);
}

/* One byte comes when the driver has answered, the end of the pipe when it has not: that the program's own handler of
 * SIGCHLD may have taken the child's status does not matter. */
bool wk__cl_probe_survives(void (*ask)(void), int milliseconds)
{
    int end[2];
    char answer;
    if (pipe2(end, O_CLOEXEC) != 0) return true;
    const pid_t child = fork();
    if (child == 0) run_child(ask, end[1]);
    close(end[1]);
    struct pollfd report = {.fd = end[0], .events = POLLIN};
    int ready = 0;
    while (child >= 0 && (ready = poll(&report, 1, milliseconds)) < 0 && errno == EINTR) continue;
    const bool answered = ready == 1 && read(end[0], &answer, 1) == 1;
    close(end[0]);
    if (child < 0) return true;
    if (!answered) kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    return answered;
}
