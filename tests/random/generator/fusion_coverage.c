/* SPDX-License-Identifier: Apache-2.0 */
/* Records the pairs of ops that were fused into a kernel; see fusion_coverage.h. */
#include "fusion_coverage.h"
#include "engine/verify/shuffle.h"
#include <pthread.h>
#include <stdbool.h>

static coverage *into;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* threads of a program flush concurrently */

static int number_of(coverage *c, const void *op)
{
    int k = 0;
    while (k < c->ops && c->op[k] != op) k++;
    if (k == MOST_OPS) return -1;
    if (k == c->ops) c->op[c->ops++] = op;
    return k;
}

static void mark_pair(coverage *c, int a, int b)
{
    if (a < 0 || b < 0) return;
    c->fused_with[a][b / 64] |= UINT64_C(1) << b % 64;
    c->fused_with[b][a / 64] |= UINT64_C(1) << a % 64;
}

/* Records of a group are close to each other, so a few open groups are searched. */
static void count_groups(const wk__op_queue *ring, int32_t groups)
{
    enum { FAR = 200 };
    (void)groups;
    pthread_mutex_lock(&lock);
    for (int64_t k = 0; k < ring->count; k++) {
        const wk__record *r = ring->record[k];
        int64_t together = 1;
        if (!r->live) continue;
        const int own = number_of(into, r->op);
        for (int64_t j = k - 1; j >= 0 && j > k - FAR; j--) {
            if (!ring->record[j]->live || ring->record[j]->group != r->group) continue;
            mark_pair(into, own, number_of(into, ring->record[j]->op));
            together++;
        }
        if (together > into->largest) into->largest = together;
        into->groups += together == 2;
    }
    pthread_mutex_unlock(&lock);
}

void coverage_start(coverage *c)
{
    into = c;
    wk__set_fusion_observer(c ? count_groups : NULL);
}

void coverage_add(coverage *to, const coverage *from)
{
    for (int a = 0; a < from->ops; a++) {
        const int own = number_of(to, from->op[a]);
        for (int b = 0; b < from->ops; b++)
            if (from->fused_with[a][b / 64] >> b % 64 & 1) mark_pair(to, own, number_of(to, from->op[b]));
    }
    to->groups += from->groups;
    if (from->largest > to->largest) to->largest = from->largest;
}

static int bits(const uint64_t *row)
{
    int count = 0;
    for (int k = 0; k < MOST_OPS / 64; k++) count += __builtin_popcountll(row[k]);
    return count;
}

void coverage_print(FILE *out, const coverage *c)
{
    int pairs = 0, alone = 0;
    for (int k = 0; k < c->ops; k++) {
        pairs += bits(c->fused_with[k]);
        alone += bits(c->fused_with[k]) == 0;
    }
    fprintf(out,
            "%d ops recorded; %d ordered pairs of them met in a kernel (%d ops met none); %lld kernels of several "
            "records, the largest of %lld\n",
            c->ops, pairs, alone, (long long)c->groups, (long long)c->largest);
}
