/* SPDX-License-Identifier: Apache-2.0 */
/* Progress lines for the launcher; see launcher_status.h. */
#include "launcher_status.h"
#include "base/platform/clock.h"
#include "environment.h"
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { NOT_ASKED = -2, NONE = -1 };
static const double min_interval = 0.5; /* seconds */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
    int fd;
    int64_t step; /* in the last line */
    double at;    /* time of that line; 0: none yet */
} status_pipe = {.fd = NOT_ASKED};

static double now(void)
{
    return 1e-9 * (double)wk__monotonic_ns();
}

/* Takes over the pipe: it becomes non-blocking and is not inherited by child processes. A child still has the variable
 * and may have opened another file under that number, so anything but a pipe is rejected. */
static int open_status_pipe(void)
{
    struct stat file;
    const int fd = (int)wk__setting_number(WK__SETTING_STATUS_FD, NONE);
    if (fstat(fd, &file) != 0 || !S_ISFIFO(file.st_mode)) return NONE;
    if (fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK) != 0) return NONE;
    fcntl(fd, F_SETFD, FD_CLOEXEC);
    return fd;
}

/* Writes without raising SIGPIPE, which would kill a program that does not know of the pipe. Returns false if the
 * reader has closed it. */
static bool write_quietly(int fd, const char *text, size_t count)
{
    static const struct timespec at_once = {0, 0};
    sigset_t pipe, before, pending;
    sigemptyset(&pipe);
    sigaddset(&pipe, SIGPIPE);
    sigpending(&pending);
    const bool was_pending = sigismember(&pending, SIGPIPE) == 1;
    pthread_sigmask(SIG_BLOCK, &pipe, &before);
    const bool gone = write(fd, text, count) < 0 && errno != EAGAIN && errno != EINTR;
    if (gone && !was_pending)
        while (sigtimedwait(&pipe, NULL, &at_once) < 0 && errno == EINTR) {
        }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return !gone;
}

static void write_line(const char *line, size_t count)
{
    if (status_pipe.fd == NOT_ASKED) status_pipe.fd = open_status_pipe();
    if (status_pipe.fd >= 0 && !write_quietly(status_pipe.fd, line, count)) status_pipe.fd = NONE;
}

void wk__launcher_status_send(const char *line)
{
    pthread_mutex_lock(&lock);
    write_line(line, strlen(line));
    pthread_mutex_unlock(&lock);
}

void wk__launcher_status_step(int64_t step)
{
    if (pthread_mutex_trylock(&lock) != 0) return; /* another thread is reporting */
    const bool first = status_pipe.at == 0;
    const double passed = status_pipe.fd != NONE ? now() - status_pipe.at : 0;
    if (status_pipe.fd != NONE && (first || passed >= min_interval)) {
        char text[80];
        int count = snprintf(text, sizeof text, "step=%lld", (long long)step);
        if (!first && step > status_pipe.step)
            count += snprintf(text + count, sizeof text - (size_t)count, " rate=%.2f",
                              (double)(step - status_pipe.step) / passed);
        text[count++] = '\n';
        write_line(text, (size_t)count);
        status_pipe.step = step;
        status_pipe.at += passed;
    }
    pthread_mutex_unlock(&lock);
}
