/* SPDX-License-Identifier: Apache-2.0 */
/* Loading a checkpoint: rank 0 selects the file, all ranks read it and prepare the new state, and only after all of
 * them have succeeded is anything changed. */
#include "base/alloc.h"
#include "data/loader_state.h"
#include "checkpoint_signature.h"
#include "distributed/checkpoint_sync.h"
#include "tensor/call_scope.h"
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ---- choice of the file ------------------------------------------------------------------------------------------ */

/* Summary that each rank gathers; of ranks other than 0 only `parts` is used. */
typedef struct selected_file {
    int64_t parts;       /* wk__checkpoint_signature */
    int64_t found;       /* 1, or 0: there is no file */
    int64_t step_suffix; /* -1: path itself; else the step in the file name */
    int64_t sum;         /* checksum of the file */
} selected_file;
enum { CHOICE = sizeof(selected_file) / sizeof(int64_t) };

/* Opens a file and verifies its checksum. *damaged: the file exists but is invalid or unreadable. */
static wk_code open_verified(wk__tensor_file *from, const char *path, int64_t *sum, bool *damaged, wk__io_error *error)
{
    uint32_t is;
    *damaged = false;
    wk_code code = wk__file_open(&from->file, path, error);
    if (code != WK_OK) return code;
    code = wk__safetensors_read(&from->file, &from->header, error);
    if (code != WK_OK) {
        wk__file_close(&from->file);
    } else if ((code = wk__checkpoint_file_verify(from, &is, error)) != WK_OK) {
        wk__tensor_file_close(from);
    } else {
        *sum = is;
    }
    *damaged = code == WK_ERR_FORMAT || code == WK_ERR_IO;
    return code;
}

/* Opens c->path, or the retained file of step `older`, and stores its path in c->loaded. */
static wk_code open_named(wk__checkpoint *c, wk__tensor_file *from, int64_t older, int64_t *sum, bool *damaged,
                          wk__io_error *error)
{
    char resolved[PATH_MAX];
    const char *place = realpath(c->path, resolved) ? resolved : c->path;
    wk__free(c->loaded);
    c->loaded = older < 0 ? wk__strdup(c->path) : wk__checkpoint_retained_path(place, older);
    *damaged = false;
    return c->loaded ? open_verified(from, c->loaded, sum, damaged, error)
                     : wk__io_fail(error, WK_ERR_MEMORY, "out of host memory");
}

/* Opens the newest valid retained file, after c->path itself proved damaged. */
static bool open_older(wk__checkpoint *c, wk__tensor_file *from, selected_file *out)
{
    char resolved[PATH_MAX];
    const char *place = realpath(c->path, resolved) ? resolved : c->path;
    int64_t *steps;
    wk__io_error error;
    bool damaged, fine = false;
    const int64_t count = wk__checkpoint_retained_steps(place, &steps);
    for (int64_t k = 0; k < count && !fine; k++) {
        out->step_suffix = steps[k];
        fine = open_named(c, from, steps[k], &out->sum, &damaged, &error) == WK_OK;
    }
    wk__free(steps);
    return fine;
}

/* Called if there is no file. Refuses if retained files exist: the newest was removed, and starting from scratch would
 * delete files that the user may want to keep. */
static bool check_no_older(const wk__checkpoint *c, const wk__tensor_file *from)
{
    int64_t *steps;
    const int64_t count = c->keep > 1 ? wk__checkpoint_retained_steps(c->path, &steps) : 0;
    if (count == 0) return true;
    const wk__printable shown = wk__printable_name(c->path);
    const char *path = shown.text;
    if (count < 0)
        wk__error_set(from->site, WK_ERR_MEMORY, "%s: %s: out of host memory", from->op, path);
    else
        wk__error_set(from->site, WK_ERR_STATE,
                      "%s: %s does not exist, but %s.%lld does; rename that file to continue from it, or delete all "
                      "such files to start over",
                      from->op, path, path, (long long)steps[0]);
    if (count > 0) wk__free(steps);
    return false;
}

/* Selects the file on rank 0. Returns true with a file open or with out->found 0; false after recording an error. */
static bool select_file(wk__checkpoint *c, wk__tensor_file *from, selected_file *out)
{
    struct stat status;
    wk__io_error error;
    bool damaged;
    out->step_suffix = -1;
    if (stat(c->path, &status) != 0 && errno == ENOENT) return check_no_older(c, from);
    const wk_code code = open_named(c, from, -1, &out->sum, &damaged, &error);
    out->found = code == WK_OK || (damaged && c->keep > 1 && open_older(c, from, out));
    return out->found || wk__tensor_file_error(from, code, &error);
}

/* Opens the file that rank 0 has selected. */
static bool open_selected(wk__checkpoint *c, wk__tensor_file *from, const selected_file *chosen)
{
    wk__io_error error;
    int64_t sum = 0;
    bool damaged;
    const wk_code code = open_named(c, from, chosen->step_suffix, &sum, &damaged, &error);
    if (code != WK_OK) return wk__tensor_file_error(from, code, &error);
    if (sum == chosen->sum) return true;
    wk__error_set(from->site, WK_ERR_IO,
                  "%s: %s: the file differs from that of rank 0; all ranks must read the same file", from->op,
                  wk__printable_name(from->file.path).text);
    wk__tensor_file_close(from);
    return false;
}

/* Opens the same file on all ranks; every rank must call it. Returns false, with no file open, if there is none or
 * after recording an error. */
static bool open_same(wk__checkpoint *c, wk__tensor_file *from)
{
    const int rank = wk_dist_rank();
    selected_file chosen = {.parts = wk__checkpoint_signature(c)};
    int64_t *all = wk__alloc_zero((size_t)wk_dist_size(), sizeof chosen);
    if (!all) wk__error_set(from->site, WK_ERR_MEMORY, "%s: out of host memory", from->op);
    const bool open = rank == 0 && !wk__error_pending() && select_file(c, from, &chosen) && chosen.found;
    const bool told = wk__ranks_all_gather(from->site, from->op, (const int64_t *)&chosen, CHOICE, all) &&
                      wk__checkpoint_check_same(all, CHOICE, from->site, from->op);
    if (told) memcpy(&chosen, all, sizeof chosen);
    wk__free(all);
    if (!told && open) wk__tensor_file_close(from);
    if (!told || !chosen.found) return false;
    if (rank == 0 || open_selected(c, from, &chosen)) return true;
    wk__ranks_barrier(from->site, from->op); /* the other ranks wait in this barrier */
    return false;
}

/* ---- preparing the new state ------------------------------------------------------------------------------------- */

typedef struct prepared {
    wk_tensor **target, **made; /* [count] tensors of the network and the list; new contents for them */
    int64_t count;
    wk__optim_loaded optim;
    bool has_optim;
    wk__loader_state position;
    int64_t random[WK__RANDOM_ROW];
    int64_t step;
} prepared;

static bool set_error(const wk__tensor_file *from, wk_code code, const char *what)
{
    wk__error_set(from->site, code, "%s: %s: %s", from->op, wk__printable_name(from->file.path).text, what);
    return false;
}

static int64_t number(const wk__tensor_file *from, const char *key)
{
    return wk__metadata_find_int(from->header.metadata, from->header.metadata_count, key);
}

static bool is_checkpoint(const wk__tensor_file *from)
{
    const int64_t format = number(from, "wick.checkpoint");
    const char *version = wk__metadata_find(from->header.metadata, from->header.metadata_count, "wick.version");
    if (format < 0) return set_error(from, WK_ERR_FORMAT, "not a checkpoint: its metadata has no \"wick.checkpoint\"");
    if (format <= WK__CHECKPOINT_FORMAT) return true;
    wk__error_set(from->site, WK_ERR_UNSUPPORTED,
                  "%s: %s: checkpoint format %lld (library %.40s) is too new for library %s, which reads format %d; "
                  "update the library",
                  from->op, wk__printable_name(from->file.path).text, (long long)format,
                  version ? wk__printable_name(version).text : "?", wk_version(), WK__CHECKPOINT_FORMAT);
    return false;
}

/* Returns the row of this rank in a tensor with one row per rank of the world that saved. In a world of another size,
 * the row is rank modulo the old size. */
static bool read_row(const wk__tensor_file *from, const char *name, int64_t world, int width, int64_t *row)
{
    const wk__safetensors_tensor *t = wk__safetensors_find(&from->header, name);
    wk__io_error error;
    if (!t || t->dtype != WK_I64 || t->ndim != 2 || world < 1 || t->shape[0] != world || t->shape[1] != width) {
        wk__error_set(from->site, WK_ERR_FORMAT, "%s: %s: missing \"%s\" of %d values for each of %lld ranks", from->op,
                      wk__printable_name(from->file.path).text, name, width, (long long)world);
        return false;
    }
    const int64_t bytes = width * (int64_t)sizeof *row, at = wk_dist_rank() % world * bytes;
    const wk_code code = wk__file_read_at(&from->file, from->header.data_start + t->begin + at, row, bytes, &error);
    return code == WK_OK || wk__tensor_file_error(from, code, &error);
}

/* Appends the tensors of a list to the targets. */
static bool grow(prepared *p, int64_t more)
{
    wk_tensor **target = wk__realloc(p->target, (size_t)(p->count + more + 1), sizeof(wk_tensor *));
    if (target) p->target = target;
    wk_tensor **made = target ? wk__realloc(p->made, (size_t)(p->count + more + 1), sizeof(wk_tensor *)) : NULL;
    if (made) p->made = made;
    return made != NULL;
}

static bool prepare_list(const wk__tensor_file *from, const char *prefix, const char *owner, wk_tensors *tensors,
                         prepared *p)
{
    if (!tensors) return false;
    const wk__tensor_list *list = wk__tensor_list_of(tensors);
    if (!wk__tensor_file_check(from, prefix, list, owner)) return false;
    if (!grow(p, list->count)) return set_error(from, WK_ERR_MEMORY, "out of host memory");
    if (!wk__tensor_file_read_list(from, prefix, list, p->made + p->count)) return false;
    for (int64_t k = 0; k < list->count; k++) p->target[p->count++] = list->item[k].tensor;
    return true;
}

static bool prepare_loader(const wk__checkpoint *c, const wk__tensor_file *from, int64_t world, prepared *p)
{
    int64_t row[WK__LOADER_ROW];
    if (!wk__safetensors_find(&from->header, "loader"))
        return set_error(from, WK_ERR_ARGUMENT, "saved without a loader; pass NULL as the loader to wk_checkpoint_new");
    if (!read_row(from, "loader", world, WK__LOADER_ROW, row)) return false;
    p->position = (wk__loader_state){(uint64_t)row[0], row[1], row[2], row[3], row[4], row[5]};
    return wk__loader_check_state(c->loader, &p->position, from->site, from->op, from->file.path);
}

static bool prepare(const wk__checkpoint *c, const wk__tensor_file *from, prepared *p)
{
    if (!is_checkpoint(from)) return false;
    const int64_t world = number(from, "wick.world");
    p->step = number(from, "wick.step");
    if (p->step < 0) return set_error(from, WK_ERR_FORMAT, "its metadata has no \"wick.step\"");
    if (c->net && !prepare_list(from, "net.", "network", wk__module_state_dict(from->site, from->op, c->net), p))
        return false;
    if (c->tensors && !prepare_list(from, "tensors.", "list of .tensors", c->tensors, p)) return false;
    if (c->loader && !prepare_loader(c, from, world, p)) return false;
    if (!read_row(from, "random", world, WK__RANDOM_ROW, p->random)) return false;
    p->has_optim = c->optim && wk__optim_read(from, "optim.", wk__optim_of(c->optim), &p->optim);
    return p->has_optim || !c->optim;
}

/* ---- committing the new state ------------------------------------------------------------------------------------ */

static bool commit(wk__checkpoint *c, prepared *p)
{
    wk_context *context = wk__context();
    if (!wk__assign_all(p->target, p->made, p->count)) return false;
    if (c->optim) wk__optim_commit_state(wk__optim_of(c->optim), &p->optim);
    if (c->loader) wk__loader_set_state(c->loader, &p->position);
    context->key = (uint64_t)p->random[0];
    context->counter = (uint64_t)p->random[1];
    c->step = p->step;
    return true;
}

static bool read_and_take(wk__checkpoint *c, const wk__tensor_file *from)
{
    prepared p = {0};
    const bool ready = prepare(c, from, &p), agreed = wk__ranks_barrier(from->site, from->op);
    const bool fine = ready && agreed && commit(c, &p);
    if (p.has_optim && !fine) wk__optim_loaded_free(wk__optim_of(c->optim), &p.optim);
    wk__free(p.target);
    wk__free(p.made);
    return fine;
}

bool wk__checkpoint_restore(wk__checkpoint *c, wk_site site, const char *op)
{
    wk__call_scope inside;
    wk__tensor_file from = {.site = site, .op = op};
    const bool begun = wk__call_begin(&inside, WK__FRAME_CALL, op, site, WK__GRAD_OFF);
    bool fine = open_same(c, &from);
    if (fine) {
        fine = read_and_take(c, &from);
        wk__tensor_file_close(&from);
    }
    if (!fine) {
        wk__free(c->loaded);
        c->loaded = NULL;
    }
    if (begun) wk__call_end(&inside, NULL, 0);
    return fine;
}
