/* SPDX-License-Identifier: Apache-2.0 */
/* Drivers may call abort() when they enumerate devices: PoCL does if /sys doesn't describe the CPUs, as in a minimal
 * chroot. In that case a child process enumerates first. Elsewhere this would only double the time. */
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

/* Discards the driver's output and core dump. */
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

/* The child writes one byte after the driver has returned; otherwise the pipe ends. The exit status is not used,
 * because a SIGCHLD handler of the program may have consumed it. */
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
