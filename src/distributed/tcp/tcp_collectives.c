/* SPDX-License-Identifier: Apache-2.0 */
/* Collectives of all ranks of a group. Small data travels with the agreement. Large data moves in a ring, from each
 * rank to the next, split into one block per rank; a block is forwarded while it is still being received:
 *
 *     reduce   rank r sends block r-1, then its partial sum of block r-2, and so on; the last block that it receives,
 *              plus its contribution, is the complete block r
 *     gather   rank r sends block r, then forwards block r-1, and so on
 *
 * all_reduce is reduce followed by gather. Block r is summed in the order of ranks r+1, r+2, ..., r, so all ranks get
 * the same bits. */
#include "base/alloc.h"
#include "distributed/reduction.h"
#include "tcp.h"
#include <string.h>

typedef struct ring {
    const wk__dist_call *call;
    int rank, size;
    int64_t count;         /* elements of all blocks together */
    int64_t element_bytes; /* bytes per element */
    int64_t sum_bytes;     /* bytes per element of a partial sum */
    const char *in;        /* all blocks */
    char *out;             /* all blocks; for reduce_scatter the block of this rank */
    bool all_blocks;
    char *scratch[2]; /* partial sums, a block each, owned; NULL: they are stored in out */
    wk__dist_reduction first, middle, last;
} ring;

static int64_t start_of(const ring *r, int block)
{
    const int64_t share = r->count / r->size, rest = r->count % r->size;
    return share * block + (block < rest ? block : rest);
}

static int64_t count_of(const ring *r, int block)
{
    return start_of(r, block + 1) - start_of(r, block);
}

static int block_at(const ring *r, int steps_back)
{
    return ((r->rank - steps_back) % r->size + r->size) % r->size;
}

static wk__tcp_span span(const ring *r, const char *base, int block)
{
    return (wk__tcp_span){(char *)(uintptr_t)base + start_of(r, block) * r->element_bytes,
                          count_of(r, block) * r->element_bytes};
}

/* Returns how many bytes of span k are ready to be sent: as many as of span k - 1 have been received and processed. */
static int64_t forwardable(const wk__tcp_sendrecv *flow, int k)
{
    if (k == 0 || flow->spans_received >= k) return INT64_MAX;
    return flow->spans_received == k - 1 ? flow->bytes_received - flow->staged : 0;
}

static int64_t sendable_block(const wk__tcp_sendrecv *flow, int k)
{
    const int64_t ready = forwardable(flow, k), bytes = flow->send_span(flow, k).bytes;
    return ready < bytes ? ready : bytes;
}

static wk_code run_ring(wk__tcp *tcp, ring *r, wk__tcp_sendrecv flow, wk__dist_error *fail)
{
    const wk__dist_group *group = r->call->group;
    flow.tcp = tcp;
    flow.call = r->call;
    flow.to = wk__dist_world_rank(group, (r->rank + 1) % r->size);
    flow.from = wk__dist_world_rank(group, (r->rank + r->size - 1) % r->size);
    flow.send_spans = flow.recv_spans = r->size - 1;
    flow.user = r;
    return wk__tcp_sendrecv_run(&flow, fail);
}

/* ---- reduce ------------------------------------------------------------------------------------------------------ */

/* Returns the address of the partial sum of span k. */
static char *sum_at(const ring *r, int k)
{
    const int block = block_at(r, 2 + k);
    if (k == r->size - 2) return r->all_blocks ? span(r, r->out, block).at : r->out;
    return r->scratch[0] ? r->scratch[k % 2] : span(r, r->out, block).at;
}

static int64_t bytes_of_sum(const ring *r, int block)
{
    return count_of(r, block) * r->sum_bytes;
}

static wk__tcp_span sent_sum(const wk__tcp_sendrecv *flow, int k)
{
    const ring *r = flow->user;
    const int block = block_at(r, 1 + k);
    return k == 0 ? span(r, r->in, block) : (wk__tcp_span){sum_at(r, k - 1), bytes_of_sum(r, block)};
}

/* Returns a span without an address: partial sums are received into staging. */
static wk__tcp_span received_sum(const wk__tcp_sendrecv *flow, int k)
{
    const ring *r = flow->user;
    const int block = block_at(r, 2 + k);
    return (wk__tcp_span){NULL, k == 0 ? span(r, r->in, block).bytes : bytes_of_sum(r, block)};
}

/* Returns how much of span k can be sent: as many elements as of span k - 1 have been processed. Their dtypes may
 * differ in size. */
static int64_t sendable_sum(const wk__tcp_sendrecv *flow, int k)
{
    const ring *r = flow->user;
    const int64_t bytes = sent_sum(flow, k).bytes, width = k == 1 ? r->element_bytes : r->sum_bytes;
    if (k == 0 || flow->spans_received >= k) return bytes;
    return flow->spans_received == k - 1 ? (flow->bytes_received - flow->staged) / width * r->sum_bytes : 0;
}

/* Returns true if the scratch block of span k is free: its previous contents have been sent. */
static bool can_receive_sum(const wk__tcp_sendrecv *flow, int k)
{
    const ring *r = flow->user;
    return !r->scratch[0] || k < 2 || flow->spans_sent >= k;
}

/* Adds this rank's contribution to a received piece of a partial sum. */
static wk_code reduce_chunk(wk__tcp_sendrecv *flow, int k, int64_t offset, const char *piece, int64_t bytes,
                            wk__dist_error *fail)
{
    ring *r = flow->user;
    wk__dist_reduction *reduction = k == r->size - 2 ? &r->last : k == 0 ? &r->first : &r->middle;
    const int64_t width_in = k == 0 ? r->element_bytes : r->sum_bytes; /* bytes per element of piece */
    const int64_t width_out = k == r->size - 2 ? r->element_bytes : r->sum_bytes;
    const char *mine = span(r, r->in, block_at(r, 2 + k)).at + offset / width_in * r->element_bytes;
    return wk__dist_reduce(reduction, sum_at(r, k) + offset / width_in * width_out, piece, mine, bytes / width_in,
                           fail);
}

static wk_code reduce(wk__tcp *tcp, ring *r, wk__dist_error *fail)
{
    return run_ring(tcp, r,
                    (wk__tcp_sendrecv){.send_span = sent_sum,
                                       .recv_span = received_sum,
                                       .sendable = sendable_sum,
                                       .can_receive = can_receive_sum,
                                       .on_chunk = reduce_chunk},
                    fail);
}

/* ---- gather ------------------------------------------------------------------------------------------------------ */

static wk__tcp_span sent_block(const wk__tcp_sendrecv *flow, int k)
{
    const ring *r = flow->user;
    return span(r, r->out, block_at(r, k));
}

static wk__tcp_span received_block(const wk__tcp_sendrecv *flow, int k)
{
    const ring *r = flow->user;
    return span(r, r->out, block_at(r, k + 1));
}

static wk_code gather(wk__tcp *tcp, ring *r, wk__dist_error *fail)
{
    return run_ring(
        tcp, r, (wk__tcp_sendrecv){.send_span = sent_block, .recv_span = received_block, .sendable = sendable_block},
        fail);
}

/* ---- the calls --------------------------------------------------------------------------------------------------- */

static ring ring_of(const wk__dist_call *call, int64_t count)
{
    const wk__dist_request *q = call->request;
    const wk__dist_group *group = call->group;
    const wk_dtype wide = group->size > 2 ? wk__dist_sum_dtype(q->dtype) : q->dtype;
    return (ring){.call = call,
                  .rank = group->rank,
                  .size = group->size,
                  .count = count,
                  .element_bytes = (int64_t)wk_dtype_size(q->dtype),
                  .sum_bytes = (int64_t)wk_dtype_size(wide),
                  .in = q->in,
                  .out = q->out};
}

/* Allocates scratch before the agreement, so that an allocation failure reaches the other ranks: it becomes the error
 * of `own`, the request used from then on. */
static void prepare(ring *r, bool scratch, wk__dist_request *own)
{
    const wk__dist_request *q = r->call->request;
    const wk_dtype wide = r->size > 2 ? wk__dist_sum_dtype(q->dtype) : q->dtype;
    wk__dist_reduction_make(&r->first, q->op, wide, q->dtype, q->dtype, 0);
    wk__dist_reduction_make(&r->middle, q->op, wide, wide, q->dtype, 0);
    wk__dist_reduction_make(&r->last, q->op, q->dtype, r->size == 2 ? q->dtype : wide, q->dtype, r->size);
    if (!scratch || r->size == 2) return;
    const size_t block = (size_t)((r->count / r->size + 1) * r->sum_bytes);
    for (int k = 0; k < 2; k++) r->scratch[k] = wk__alloc(block);
    if (r->scratch[0] && r->scratch[1]) return;
    own->code = WK_ERR_MEMORY;
    own->error_text = "out of host memory for partial sums";
}

static wk_code reduce_large(wk__tcp *tcp, const wk__dist_call *call, ring *r, bool scratch, wk__dist_error *fail)
{
    wk__dist_request own = *call->request;
    wk__dist_call mine = *call;
    mine.request = &own;
    prepare(r, scratch, &own);
    wk_code code = wk__tcp_agree(tcp, &mine, NULL, 0, false, NULL, fail);
    if (code == WK_OK) code = reduce(tcp, r, fail);
    for (int k = 0; k < 2; k++) wk__free(r->scratch[k]);
    return code;
}

/* With two ranks a sum is divided and rounded immediately; with more, partial sums travel in the wide dtype and are
 * rounded at the end. */
static wk_code all_reduce_small(wk__tcp *tcp, const wk__dist_call *call, wk_dtype wide, wk__dist_error *fail)
{
    char room[WK__WIRE_INLINE_MAX];
    const wk__dist_request *q = call->request;
    const int64_t bytes = q->count * (int64_t)wk_dtype_size(wide);
    const int size = call->group->size;
    wk__dist_reduction add, turn;
    wk_code code = WK_OK;
    char *data = wide == q->dtype ? q->out : room;
    wk__dist_reduction_make(&add, q->op, wide, wide, wide, size == 2 ? size : 0);
    if (wide != q->dtype) {
        wk__dist_conversion_make(&turn, wide, q->dtype, 0);
        code = wk__dist_reduce(&turn, data, NULL, q->in, q->count, fail);
    } else if (q->out != q->in && bytes > 0) {
        memcpy(data, q->in, (size_t)bytes);
    }
    if (code == WK_OK) code = wk__tcp_agree(tcp, call, data, bytes, true, &add, fail);
    if (code != WK_OK || size == 2 || (wide == q->dtype && q->op != WK_DIST_AVG)) return code;
    wk__dist_conversion_make(&turn, q->dtype, wide, q->op == WK_DIST_AVG ? size : 0);
    return wk__dist_reduce(&turn, q->out, NULL, data, q->count, fail);
}

wk_code wk__tcp_all_reduce(wk__tcp *tcp, const wk__dist_call *call, wk__dist_error *fail)
{
    const wk__dist_request *q = call->request;
    const wk_dtype wide = call->group->size > 2 ? wk__dist_sum_dtype(q->dtype) : q->dtype;
    if (q->count <= WK__WIRE_INLINE_MAX / (int64_t)wk_dtype_size(wide)) return all_reduce_small(tcp, call, wide, fail);
    ring r = ring_of(call, q->count);
    r.all_blocks = true;
    const wk_code code = reduce_large(tcp, call, &r, wide != q->dtype, fail);
    return code == WK_OK ? gather(tcp, &r, fail) : code;
}

wk_code wk__tcp_reduce_scatter(wk__tcp *tcp, const wk__dist_call *call, wk__dist_error *fail)
{
    ring r = ring_of(call, call->request->count * call->group->size);
    return reduce_large(tcp, call, &r, true, fail);
}

wk_code wk__tcp_all_gather(wk__tcp *tcp, const wk__dist_call *call, wk__dist_error *fail)
{
    ring r = ring_of(call, call->request->count * call->group->size);
    const wk_code code = wk__tcp_agree(tcp, call, NULL, 0, false, NULL, fail);
    if (code != WK_OK) return code;
    const wk__tcp_span own = span(&r, r.out, r.rank);
    if (own.bytes > 0) memcpy(own.at, r.in, (size_t)own.bytes);
    return gather(tcp, &r, fail);
}

/* ---- broadcast --------------------------------------------------------------------------------------------------- */

static wk__tcp_span whole_buffer(const wk__tcp_sendrecv *flow, int k)
{
    (void)k;
    return *(const wk__tcp_span *)flow->user;
}

static int64_t received_so_far(const wk__tcp_sendrecv *flow, int k)
{
    (void)k;
    return flow->from < 0 || flow->spans_received == 1 ? ((const wk__tcp_span *)flow->user)->bytes
                                                       : flow->bytes_received;
}

wk_code wk__tcp_broadcast(wk__tcp *tcp, const wk__dist_call *call, wk__dist_error *fail)
{
    const wk__dist_request *q = call->request;
    const wk__dist_group *group = call->group;
    const int place = (group->rank - q->peer + group->size) % group->size;
    const bool root = place == 0;
    wk__tcp_span all = {root ? (char *)(uintptr_t)q->in : q->out, q->count * (int64_t)wk_dtype_size(q->dtype)};
    const bool small = all.bytes <= WK__WIRE_INLINE_MAX;
    wk_code code = wk__tcp_agree(tcp, call, all.at, small ? all.bytes : 0, root, NULL, fail);
    if (code == WK_OK && !small) {
        wk__tcp_sendrecv flow = {
            .tcp = tcp, .call = call, .to = -1, .from = -1, .send_span = whole_buffer, .recv_span = whole_buffer};
        if (place + 1 < group->size) {
            flow.to = wk__dist_world_rank(group, (group->rank + 1) % group->size);
            flow.send_spans = 1;
        }
        if (place > 0) {
            flow.from = wk__dist_world_rank(group, (group->rank + group->size - 1) % group->size);
            flow.recv_spans = 1;
        }
        flow.sendable = received_so_far;
        flow.user = &all;
        code = wk__tcp_sendrecv_run(&flow, fail);
    }
    if (code == WK_OK && root && q->out && q->out != q->in && all.bytes > 0) memcpy(q->out, q->in, (size_t)all.bytes);
    return code;
}

/* ---- all_to_all -------------------------------------------------------------------------------------------------- */

typedef struct exchange {
    wk__tcp_span sent, received;
} exchange;

static wk__tcp_span sent_part(const wk__tcp_sendrecv *flow, int k)
{
    (void)k;
    return ((const exchange *)flow->user)->sent;
}

static wk__tcp_span received_part(const wk__tcp_sendrecv *flow, int k)
{
    (void)k;
    return ((const exchange *)flow->user)->received;
}

wk_code wk__tcp_all_to_all(wk__tcp *tcp, const wk__dist_call *call, wk__dist_error *fail)
{
    const wk__dist_group *group = call->group;
    ring r = ring_of(call, call->request->count * group->size);
    wk_code code = wk__tcp_agree(tcp, call, NULL, 0, false, NULL, fail);
    if (code != WK_OK) return code;
    const wk__tcp_span own = span(&r, r.out, r.rank);
    if (own.bytes > 0) memcpy(own.at, span(&r, r.in, r.rank).at, (size_t)own.bytes);
    for (int k = 1; k < r.size && code == WK_OK; k++) {
        const int to = (r.rank + k) % r.size, from = (r.rank + r.size - k) % r.size;
        exchange x = {span(&r, r.in, to), span(&r, r.out, from)};
        wk__tcp_sendrecv flow = {.tcp = tcp,
                                 .call = call,
                                 .to = wk__dist_world_rank(group, to),
                                 .from = wk__dist_world_rank(group, from),
                                 .send_spans = 1,
                                 .recv_spans = 1,
                                 .send_span = sent_part,
                                 .recv_span = received_part,
                                 .user = &x};
        code = wk__tcp_sendrecv_run(&flow, fail);
    }
    return code;
}
