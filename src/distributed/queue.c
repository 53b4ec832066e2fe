/* SPDX-License-Identifier: Apache-2.0 */
/* Queue of pending collectives; see group.h. There is one per process, and it runs one request at a time, in order.
 *
 *     submit    appends a request; the queue thread runs requests in order
 *     wait      if the transport honors deadlines, runs requests in the waiting thread up to its own, so that a request
 *               awaited immediately wakes no thread; otherwise waits for the queue thread, and at the deadline abandons
 *               the call, which leaves the queue stuck for good
 *
 * Threads: any thread submits and waits. queue.lock protects all fields but fatal_error, and is released while a call
 * of the transport runs; busy keeps other threads from starting the next one.
 * Ownership: tickets belong to the threads that submitted them, and do not move until done. */
#include "base/alloc.h"
#include "base/launcher_status.h"
#include "base/platform/clock.h"
#include "base/pool.h"
#include "agree.h"
#include "session.h"
#include <string.h>
#include <unistd.h>

enum { BILLION = 1000000000 };

const char *const wk__dist_names[WK__DIST_KINDS] = {"barrier",        "all_reduce", "broadcast", "all_gather",
                                                    "reduce_scatter", "all_to_all", "send",      "recv",
                                                    "new_group",      "finish"};

static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed; /* a request was submitted or completed */
    pthread_once_t once;
    wk__dist_ticket *first, *last; /* requests not yet running; last is valid if first is not NULL */
    wk__dist_ticket *current;      /* the request whose call is running; NULL: none, or it was abandoned */
    int64_t deadline;              /* of that call, wk__monotonic_ns */
    bool busy;                     /* a call of the transport is running */
    bool stuck;                    /* that call was abandoned; every later request fails */
    bool started, stopping;        /* the queue thread runs; it is to exit */
    pthread_t thread;
    wk__dist_error
        fatal_error; /* first fatal error, for transports that do not keep it; used by the one running call */
} queue = {.lock = PTHREAD_MUTEX_INITIALIZER, .once = PTHREAD_ONCE_INIT};

static void init_queue(void)
{
    pthread_condattr_t clock;
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_cond_init(&queue.changed, &clock);
    pthread_condattr_destroy(&clock);
}

wk_code wk__dist_error_set(wk__dist_error *fail, wk_code code, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(fail->text, sizeof fail->text, format, args);
    va_end(args);
    return fail->code = code;
}

/* ---- one call ---------------------------------------------------------------------------------------------------- */

void wk__dist_call_text(const wk__dist_request *r, uint64_t sequence, char out[WK__DIST_CALL_TEXT])
{
    char size[WK__FORMAT_BYTES_SIZE], number[24] = "", details[96] = "";
    const int64_t bytes = r->dtype ? r->count * (int64_t)wk_dtype_size(r->dtype) : 0;
    if (r->label && r->dtype)
        snprintf(details, sizeof details, " (%.40s, %s)", r->label, wk__format_bytes(size, bytes));
    else if (r->dtype)
        snprintf(details, sizeof details, " (%s)", wk__format_bytes(size, bytes));
    if (sequence && r->kind != WK__DIST_FINISH) snprintf(number, sizeof number, " %llu", (unsigned long long)sequence);
    snprintf(out, WK__DIST_CALL_TEXT, "%s%s%s", wk__dist_names[r->kind], number, details);
}

/* Writes t->text: "rank 0 of 4 on nodeA: all_reduce 50 (bucket 3, 4.0 MiB): not finished after 600 s; ..." */
static void format_error(wk__dist_ticket *t, const wk__dist_error *fail)
{
    const wk__dist_session *session = &wk__dist_session_now;
    const int rank = wk__dist_world()->rank;
    char call[WK__DIST_CALL_TEXT];
    wk__dist_call_text(&t->request, t->sequence, call);
    snprintf(t->text, sizeof t->text, "rank %d of %d on %s: %s: %s", rank, wk__dist_world()->size,
             session->transport->host_name(session->world, rank), call, fail->text);
    t->failed_rank_plus_1 = fail->failed_rank_plus_1;
}

/* Runs a call, after the agreement of the ranks if the transport leaves that to the queue. The lock is not held. */
static wk_code make_call(const wk__dist_transport *transport, void *world, const wk__dist_call *call,
                         wk__dist_error *fail)
{
    if (transport->checks_agreement) return transport->call(world, call, fail);
    if (queue.fatal_error.fatal)
        return wk__dist_error_set(fail, queue.fatal_error.code, "an earlier call failed: %.600s",
                                  queue.fatal_error.text);
    wk_code code = wk__dist_is_p2p(call->request->kind) ? wk__agree_p2p(transport, world, call, fail)
                                                        : wk__agree_all_gather(transport, world, call, fail);
    if (code == WK_OK && wk__dist_queue_is_stuck()) /* abandoned during the agreement: its buffers may be freed */
        code = wk__dist_error_set(fail, WK_ERR_TIMEOUT, "another rank timed out");
    if (code == WK_OK) code = transport->call(world, call, fail);
    if (code != WK_OK && fail->fatal) queue.fatal_error = *fail;
    return code;
}

/* ---- memory of small calls --------------------------------------------------------------------------------------- */

enum { SMALL_BYTES = 64 << 10 };

static int64_t bytes_of(const wk__dist_request *r, int64_t parts)
{
    return r->dtype ? parts * r->count * (int64_t)wk_dtype_size(r->dtype) : 0;
}

static int64_t bytes_in(const wk__dist_request *r, int size)
{
    return bytes_of(r, r->kind == WK__DIST_REDUCE_SCATTER || r->kind == WK__DIST_ALL_TO_ALL ? size : 1);
}

static int64_t bytes_out(const wk__dist_request *r, int size)
{
    return bytes_of(r, r->kind == WK__DIST_ALL_GATHER || r->kind == WK__DIST_ALL_TO_ALL ? size : 1);
}

/* Replaces buffers of at most SMALL_BYTES, which may be on the owner's stack, by a private copy, since an abandoned
 * call still accesses its buffers. Returns the copy; NULL if the buffers are larger or on allocation failure: the owner
 * of the ticket then leaks them if the call is abandoned. */
static char *stage_small_buffers(wk__dist_request *r, int size)
{
    if (r->code != WK_OK) return NULL; /* a failed request has no buffers */
    const int64_t in = r->in ? bytes_in(r, size) : 0, out = r->out ? bytes_out(r, size) : 0;
    char *copy = in + out <= SMALL_BYTES ? wk__alloc((size_t)(in + out + 1)) : NULL;
    if (!copy) return NULL;
    if (in > 0) memcpy(copy, r->in, (size_t)in);
    const bool same = r->in == r->out;
    if (r->in) r->in = copy;
    if (r->out) r->out = same ? copy : copy + in;
    return copy;
}

/* Runs the request at the head of the queue. The lock is held on entry and on return. The session is read before the
 * call, because user code may leave the world once the call is abandoned. The ticket of an abandoned call is not
 * accessed afterwards, because its owner may have freed it. */
static void run_next(void)
{
    const wk__dist_transport *transport = wk__dist_session_now.transport;
    void *world = wk__dist_session_now.world;
    wk__dist_ticket *t = queue.first;
    const int size = t->group->size;
    wk__dist_request request = t->request; /* a copy, which outlives the ticket if the call is abandoned */
    char *copy = transport->honors_deadline ? NULL : stage_small_buffers(&request, size);
    const int64_t now = wk__monotonic_ns();
    const wk__dist_call call = {.request = &request,
                                .group = t->group,
                                .sequence = t->sequence,
                                .started = now,
                                .deadline = now + (int64_t)(wk__dist_session_now.timeout_s * BILLION)};
    wk__dist_error fail = {.code = WK_OK};
    queue.first = t->next;
    queue.current = t;
    queue.busy = true;
    queue.deadline = call.deadline;
    if (!transport->honors_deadline)
        pthread_cond_broadcast(&queue.changed); /* waiting threads sleep until the deadline of this call from now on */
    pthread_mutex_unlock(&queue.lock);
    const wk_code code = make_call(transport, world, &call, &fail);
    pthread_mutex_lock(&queue.lock);
    queue.busy = false;
    if (queue.current == t) {
        if (copy && code == WK_OK && request.out)
            memcpy(t->request.out, request.out, (size_t)bytes_out(&request, size));
        t->code = code;
        if (code != WK_OK) format_error(t, &fail);
        t->done = true;
    }
    queue.current = NULL;
    pthread_cond_broadcast(&queue.changed);
    wk__free(copy);
}

/* ---- the thread -------------------------------------------------------------------------------------------------- */

/* Returns true if the queue thread should run the head. A blocking request is left to the thread that waits for it, if
 * the transport honors deadlines. */
static bool has_work(void)
{
    return queue.first && !queue.busy &&
           !(queue.first->request.blocking && wk__dist_session_now.transport->honors_deadline);
}

static void *queue_thread(void *user)
{
    (void)user;
    pthread_mutex_lock(&queue.lock);
    while (!queue.stopping)
        if (has_work())
            run_next();
        else
            pthread_cond_wait(&queue.changed, &queue.lock);
    pthread_mutex_unlock(&queue.lock);
    return NULL;
}

bool wk__dist_queue_stop(void)
{
    pthread_once(&queue.once, init_queue);
    pthread_mutex_lock(&queue.lock);
    const bool started = queue.started, stuck = queue.stuck;
    queue.stopping = true;
    pthread_cond_broadcast(&queue.changed);
    pthread_mutex_unlock(&queue.lock);
    if (stuck) return false;
    if (started) pthread_join(queue.thread, NULL);
    pthread_mutex_lock(&queue.lock);
    queue.stopping = queue.started = queue.fatal_error.fatal = false;
    pthread_mutex_unlock(&queue.lock);
    return true;
}

bool wk__dist_queue_is_stuck(void)
{
    pthread_mutex_lock(&queue.lock);
    const bool stuck = queue.stuck;
    pthread_mutex_unlock(&queue.lock);
    return stuck;
}

/* ---- submit and wait --------------------------------------------------------------------------------------------- */

/* Completes a request of a group of one rank: copies in to out, or passes its error on. */
static void complete_locally(wk__dist_ticket *t)
{
    const wk__dist_request *r = &t->request;
    t->done = true;
    t->code = r->code;
    if (r->code != WK_OK)
        snprintf(t->text, sizeof t->text, "%s", r->error_text ? r->error_text : "out of memory");
    else if (r->dtype && r->out && r->out != r->in && r->count > 0)
        memcpy(r->out, r->in, (size_t)r->count * wk_dtype_size(r->dtype));
}

static void complete_with_error(wk__dist_ticket *t, wk_code code, const char *why)
{
    t->done = true;
    t->code = code;
    snprintf(t->text, sizeof t->text, "%s", why);
}

void wk__dist_submit(wk__dist_ticket *t, wk__dist_group *group, const wk__dist_request *request)
{
    const wk__dist_session *session = &wk__dist_session_now;
    *t = (wk__dist_ticket){.group = group, .request = *request};
    if (group->size == 1) {
        complete_locally(t);
        return;
    }
    if (group != wk__dist_world() && group->generation != session->generation) {
        complete_with_error(t, WK_ERR_STATE,
                            "the group belongs to a world that this process has left (wk_dist_finish)");
        return;
    }
    if (session->pid != getpid()) {
        complete_with_error(t, WK_ERR_STATE,
                            "this process was forked after its parent joined the world and is not a rank; fork before "
                            "wk_dist_init, or start a new program with exec");
        return;
    }
    pthread_once(&queue.once, init_queue);
    pthread_mutex_lock(&queue.lock);
    if (!wk__dist_is_p2p(request->kind)) t->sequence = ++group->sequence;
    if (queue.first)
        queue.last->next = t;
    else if (!queue.stuck)
        queue.first = t;
    queue.last = t;
    if (!queue.started && !(request->blocking && session->transport->honors_deadline))
        queue.started = wk__thread_start(&queue.thread, queue_thread, NULL);
    if (queue.started) pthread_cond_broadcast(&queue.changed);
    pthread_mutex_unlock(&queue.lock);
}

/* Fails t because the running call, its own or an earlier one, did not return by its deadline, and drops the requests
 * queued after it. Requires the lock, like wait_once(). */
static void abandon_call(wk__dist_ticket *t)
{
    wk__dist_error fail = {.code = WK_OK};
    if (!queue.stuck)
        wk__dist_error_set(&fail, WK_ERR_TIMEOUT,
                           "timed out after %g s: another rank is dead or stuck; restart from the last checkpoint",
                           wk__dist_session_now.timeout_s);
    else
        wk__dist_error_set(&fail, WK_ERR_TIMEOUT, "an earlier call has not returned");
    t->abandoned = queue.current == t;
    t->code = fail.code;
    t->done = queue.stuck = true;
    queue.first = queue.current = NULL;
    format_error(t, &fail);
}

/* Takes one step towards the completion of t: abandons the running call, runs the next request in this thread (also if
 * the queue thread could not be started), or waits for a change. */
static void wait_once(wk__dist_ticket *t)
{
    const struct timespec deadline = {.tv_sec = queue.deadline / BILLION, .tv_nsec = queue.deadline % BILLION};
    const bool honors_deadline = wk__dist_session_now.transport->honors_deadline;
    const bool may_hang = queue.busy && !honors_deadline; /* the running call may never return */
    if (queue.stuck || (may_hang && wk__monotonic_ns() >= queue.deadline))
        abandon_call(t);
    else if (!queue.busy && queue.first && (honors_deadline || !queue.started))
        run_next();
    else if (may_hang)
        pthread_cond_timedwait(&queue.changed, &queue.lock, &deadline);
    else
        pthread_cond_wait(&queue.changed, &queue.lock);
}

/* Reports to the launcher the rank whose error is about to become this rank's pending error, so that the launcher names
 * that rank as the cause. Not called if an error is pending already: its origin has been reported, or is this rank. */
static void report_failed_rank(uint32_t rank)
{
    char line[24];
    snprintf(line, sizeof line, "cause=%u\n", rank);
    wk__launcher_status_send(line);
}

wk_code wk__dist_wait(wk__dist_ticket *t, wk_site site, const char *op)
{
    pthread_mutex_lock(&queue.lock);
    while (!t->done) wait_once(t);
    pthread_mutex_unlock(&queue.lock);
    if (t->code == WK_OK) return WK_OK;
    if (t->failed_rank_plus_1 && !wk__error_pending()) report_failed_rank(t->failed_rank_plus_1 - 1);
    wk__error_set(site, t->code, "%s: %s", op, t->text);
    if (t->group == wk__dist_world() && !wk__dist_is_p2p(t->request.kind)) wk__context()->error_shared = true;
    return t->code;
}
