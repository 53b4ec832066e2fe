/* SPDX-License-Identifier: Apache-2.0 */
/* wk_optim_save and wk_optim_load: the state of an optimiser in a separate file. */
#include "optim_file.h"
#include "base/alloc.h"
#include "io/save_load.h"
#include "tensor/call_scope.h"
#include <string.h>
#include <wick/checkpoint.h>

bool wk__optim_read(const wk__tensor_file *from, const char *prefix, const wk__optim *optim, wk__optim_loaded *out)
{
    wk_tensors *list = wk__tensor_file_read_all(from, prefix, (wk_device){.kind = WK_CPU});
    bool *taken = list ? wk__alloc_zero((size_t)wk__tensor_list_of(list)->count + 1, sizeof *taken) : NULL;
    if (list && !taken) wk__error_set(from->site, WK_ERR_MEMORY, "%s: out of host memory", from->op);
    const bool fine = taken && wk__optim_load_state(&(wk__optim_checkpoint){.site = from->site,
                                                                            .op = from->op,
                                                                            .path = from->file.path,
                                                                            .list = wk__tensor_list_of(list),
                                                                            .pair = from->header.metadata,
                                                                            .pairs = from->header.metadata_count,
                                                                            .used = taken},
                                                    optim, out);
    wk__free(taken);
    return fine;
}

/* ---- calls ------------------------------------------------------------------------------------------------------- */

wk_tensors *wk_optim_state_at(wk_site site, wk_optim *optim)
{
    static const char op[] = "optim_state";
    wk__call_scope c;
    if (!wk__optim_check(optim, site, op) || !wk__call_begin(&c, WK__FRAME_CALL, op, site, WK__GRAD_OFF)) return NULL;
    wk__metadata pairs = {0};
    wk_tensors *list = wk_tensors_new_at(site);
    const bool fine = list && wk__optim_save_state(site, op, wk__optim_of(optim), "", wk__tensor_list_of(list), &pairs);
    if (fine) wk__handle_keep(&list->handle, site);
    wk__metadata_free(&pairs);
    wk__call_end(&c, NULL, 0);
    return fine ? list : NULL;
}

wk_code wk_optim_save_at(wk_site site, wk_optim *optim, const char *path)
{
    static const char op[] = "optim_save";
    wk__call_scope c;
    if (wk__error_pending() || !wk__optim_check(optim, site, op) ||
        !wk__call_begin(&c, WK__FRAME_CALL, op, site, WK__GRAD_OFF))
        return wk_error_code();
    wk__metadata pairs = {0};
    wk_tensors *list = wk_tensors_new_at(site);
    const bool fine = list && wk__optim_save_state(site, op, wk__optim_of(optim), "", wk__tensor_list_of(list), &pairs);
    const wk_code code = fine ? wk__save_list(site, op, wk__tensor_list_of(list), &pairs, path) : wk_error_code();
    wk__metadata_free(&pairs);
    wk__call_end(&c, NULL, 0);
    return code;
}

wk_code wk_optim_load_at(wk_site site, wk_optim *optim, const char *path)
{
    wk__io_error error;
    wk__call_scope c;
    wk__tensor_file from = {.site = site, .op = "optim_load"};
    if (!wk__optim_check(optim, site, from.op) || !wk__check_path(site, from.op, path) ||
        !wk__call_begin(&c, WK__FRAME_CALL, from.op, site, WK__GRAD_OFF))
        return wk_error_code();
    wk__optim_loaded restored;
    bool fine = false;
    const wk_code code = wk__tensor_file_open(&from, path, &error);
    if (code == WK_OK) {
        fine = wk__optim_read(&from, "", wk__optim_of(optim), &restored);
        wk__tensor_file_close(&from);
    } else {
        wk__tensor_file_error(&from, code, &error);
    }
    if (fine) wk__optim_commit_state(wk__optim_of(optim), &restored);
    wk__call_end(&c, NULL, 0);
    return fine ? WK_OK : wk_error_code();
}
