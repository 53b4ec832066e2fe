/* SPDX-License-Identifier: Apache-2.0 */
/* Collects the contents of a checkpoint; docs/reference/file-formats.md lists the names. */
#include "base/alloc.h"
#include "data/loader_state.h"
#include "checkpoint_signature.h"
#include "distributed/checkpoint_sync.h"
#include "tensor/call_scope.h"
#include <string.h>

/* Summary that each rank gathers: its row, and the signature of its checkpoint. */
enum { PARTS = WK__RANK_ROW, ROW_LENGTH };

static void fill_row(const wk__checkpoint *c, int64_t row[ROW_LENGTH])
{
    const wk_context *context = wk__context();
    memset(row, 0, ROW_LENGTH * sizeof *row);
    row[PARTS] = wk__checkpoint_signature(c);
    row[0] = (int64_t)context->key;
    row[1] = (int64_t)context->counter;
    if (!c->loader) return;
    const wk__loader_state p = wk__loader_get_state(c->loader);
    const int64_t loader[WK__LOADER_ROW] = {(int64_t)p.seed, p.shuffle, p.samples, p.epoch, p.consumed, p.world};
    memcpy(row + WK__RANDOM_ROW, loader, sizeof loader);
}

/* Checks that ranks sharing an epoch save after the same batch; otherwise no single position could be resumed. */
static bool check_same_batch(const wk__checkpoint *c, const int64_t *rows, int world, wk_site site, const char *op)
{
    enum { EPOCH = WK__RANDOM_ROW + 3, TAKEN, WORLD };
    if (!c->loader || rows[WORLD] == 1) return true;
    for (int rank = 1; rank < world; rank++) {
        const int64_t *row = rows + (int64_t)rank * ROW_LENGTH;
        if (row[EPOCH] == rows[EPOCH] && row[TAKEN] == rows[TAKEN]) continue;
        wk__error_set(site, WK_ERR_STATE,
                      "%s: ranks are at different batches: rank 0 after %lld samples of epoch %lld, rank %d after %lld "
                      "of epoch %lld; save after the same batch",
                      op, (long long)rows[TAKEN], (long long)rows[EPOCH], rank, (long long)row[TAKEN],
                      (long long)row[EPOCH]);
        return false;
    }
    return true;
}

/* ---- content ----------------------------------------------------------------------------------------------------- */

/* Adds detached snapshots of the tensors, which later steps do not change. */
static bool add_all(wk_site site, wk__tensor_list *list, const char *prefix, const wk__tensor_list *of)
{
    for (int64_t k = 0; k < of->count; k++)
        if (!wk__tensor_list_append_prefixed(site, list, prefix, of->item[k].name,
                                             wk__detached_copy(site, of->item[k].tensor)))
            return false;
    return true;
}

/* Makes a tensor of columns [from, from + width) of each row. */
static bool add_rows(wk_site site, wk__tensor_list *list, const char *name, const int64_t *rows, int world, int from,
                     int width)
{
    const int64_t shape[] = {world, width};
    wk_tensor_options of = {.size = sizeof of, .device = {.kind = WK_CPU}};
    int64_t *numbers = wk__alloc_zero((size_t)world * (size_t)width, sizeof *numbers);
    for (int64_t rank = 0; rank < world && numbers; rank++)
        memcpy(numbers + rank * width, rows + rank * ROW_LENGTH + from, (size_t)width * sizeof *numbers);
    if (!numbers) wk__error_set(site, WK_ERR_MEMORY, "out of host memory for a list of tensors");
    wk_tensor *x =
        numbers ? wk_from_on_at(site, WK_I64, numbers, (size_t)(world * width) * sizeof *numbers, shape, 2, &of) : NULL;
    wk__free(numbers);
    return wk__tensor_list_append_prefixed(site, list, "", name, x);
}

static bool add_parts(const wk__checkpoint *c, wk_site site, const char *op, const int64_t *rows, int world,
                      wk__tensor_list *list, wk__metadata *pairs)
{
    if (c->net) {
        wk_tensors *net = wk__module_state_dict(site, op, c->net);
        if (!net || !add_all(site, list, "net.", wk__tensor_list_of(net))) return false;
    }
    if (c->optim && !wk__optim_save_state(site, op, wk__optim_of(c->optim), "optim.", list, pairs)) return false;
    if (c->tensors && !add_all(site, list, "tensors.", wk__tensor_list_of(c->tensors))) return false;
    if (c->loader && !add_rows(site, list, "loader", rows, world, WK__RANDOM_ROW, WK__LOADER_ROW)) return false;
    return add_rows(site, list, "random", rows, world, 0, WK__RANDOM_ROW);
}

static bool make_content(wk__checkpoint *c, wk_site site, const char *op, const int64_t *rows, int world)
{
    wk__metadata pairs = {0};
    wk_tensors *list = wk_tensors_new_at(site);
    wk__metadata_add_int(&pairs, "wick.checkpoint", WK__CHECKPOINT_FORMAT);
    wk__metadata_add_int(&pairs, "wick.step", c->step);
    wk__metadata_add_int(&pairs, "wick.world", world);
    wk__metadata_add(&pairs, wk_version(), "wick.version");
    const bool fine = list && add_parts(c, site, op, rows, world, wk__tensor_list_of(list), &pairs) &&
                      wk__checkpoint_file_make(site, op, list, &pairs, &c->pending_file);
    wk__metadata_free(&pairs);
    return fine;
}

bool wk__checkpoint_collect(wk__checkpoint *c, wk_site site, const char *op)
{
    wk__call_scope inside;
    int64_t own[ROW_LENGTH];
    const int world = wk_dist_size();
    const bool begun = wk__call_begin(&inside, WK__FRAME_CALL, op, site, WK__GRAD_OFF);
    int64_t *rows = wk__alloc_zero((size_t)world, sizeof own);
    if (!rows) wk__error_set(site, WK_ERR_MEMORY, "%s: out of host memory", op);
    wk__flush(wk__context()); /* so that failures are known before the ranks agree */
    if (wk__context()->posted_failure) wk__report_posted_failure(wk__context());
    fill_row(c, own);
    bool fine = wk__ranks_all_gather(site, op, own, ROW_LENGTH, rows) &&
                wk__checkpoint_check_same(rows + PARTS, ROW_LENGTH, site, op) &&
                check_same_batch(c, rows, world, site, op);
    if (fine && wk_dist_rank() == 0) fine = make_content(c, site, op, rows, world);
    wk__free(rows);
    if (begun) wk__call_end(&inside, NULL, 0);
    return fine;
}
