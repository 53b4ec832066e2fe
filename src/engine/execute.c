/* Running groups: memory as late as possible, what dies is taken over, a failure marks what it kept from being computed. */
#include "execute.h"
#include "../base/alloc.h"
#include "../base/log.h"
#include "host.h"
#include <string.h>

/* ---- failures ---------------------------------------------------------------------------------------------------- */

/* An in-place op that could not run leaves its target as it was: the new value shares the old one's memory, or has it. */
static bool keep_old(wk__record *r, wk__value *out)
{
    if (!r->guarded || !r->prior || wk__value_state(r->prior) != WK__STORED) return false;
    if (out->exposed && out->memory.block && r->prior->memory.block) { /* displaced: the old numbers go back there */
        wk__fail fail = {.tag = -1};
        wk__device *device = out->device;
        if (device->backend->copy(device->state, &out->memory, 0, &r->prior->memory, 0, out->bytes, &fail) != WK_OK)
            return false;
        wk__value_set_state(out, WK__STORED);
        return true;
    }
    if (!r->prior->memory.block && out->memory.block) {
        wk__value_set_state(out, WK__STORED);
        return true;
    }
    if (out->memory.block) wk__value_give_memory(out);
    wk__value_hold(r->prior);
    out->shares = r->prior;
    out->memory = r->prior->memory;
    wk__value_set_state(out, WK__STORED);
    return true;
}

static void fail_outputs(wk__run *run, wk__record *r, wk__failure *failure)
{
    for (int o = 0; o < r->nout; o++) {
        wk__value *out = r->ref[o].value;
        if (wk__value_state(out) != WK__PENDING) continue;
        if (keep_old(r, out)) continue;
        if (out->memory.block) wk__value_give_memory(out);
        wk__value_fail(out, failure);
    }
    if (failure) wk__late(run->owner, failure);
}

static wk__failure *explain(const wk__record *r, const wk__fail *fail)
{
    return wk__explain(r->name, wk__underscore(r->name, r->in_place), r->op->fault, r->site, fail, true);
}

static void fail_group(wk__run *run, wk__record **record, int records, const wk__fail *fail)
{
    const wk__record *culprit = run->culprit ? run->culprit : record[0];
    run->culprit = NULL;
    for (int k = 0; k < records && fail->code == WK_ERR_INDEX; k++)
        for (int i = 0; i < record[k]->nin; i++)
            if (wk__record_in(record[k], i)->flags & WK__REF_INDIRECT) culprit = record[k];
    wk__failure *failure = explain(culprit, fail);
    for (int k = 0; k < records; k++) fail_outputs(run, record[k], failure);
    wk__failure_drop(failure);
}

/* Records whose operands have failed fail with the same cause and leave the group. */
static int drop_failed(wk__run *run, wk__record **record, int records)
{
    int left = 0;
    for (int k = 0; k < records; k++) {
        wk__record *r = record[k];
        const wk__value *bad = NULL;
        for (int i = 0; i < r->nin && !bad; i++) {
            const wk__value *in = wk__record_in(r, i)->value;
            if (in && wk__value_state(in) == WK__FAILED) bad = in;
        }
        if (!bad && r->partial && r->prior && wk__value_state(r->prior) == WK__FAILED) bad = r->prior;
        if (r->whole && r->whole == run->refused)
            fail_outputs(run, r, run->refusal);
        else if (bad)
            fail_outputs(run, r, bad->failure);
        else
            record[left++] = r;
    }
    return left;
}

/* ---- memory of outputs ------------------------------------------------------------------------------------------- */

static int uses_in(wk__record **record, int records, const wk__value *value)
{
    int uses = 0;
    for (int k = 0; k < records; k++) {
        for (int i = 0; i < record[k]->nin; i++) uses += wk__record_in(record[k], i)->value == value;
        uses += record[k]->prior == value;
    }
    return uses;
}

/* Will this record be parked, and so read its operands again? */
static bool stays_unstored(const wk__record *r)
{
    const wk__value *out = r->ref[0].value;
    return !wk__stores(out) && (out->promised || atomic_load_explicit(&((wk__value *)(uintptr_t)out)->refs,
                                                                      memory_order_relaxed) > out->ring_refs);
}

static bool read_later(wk__record **record, int records, const wk__value *value)
{
    for (int k = 0; k < records; k++)
        for (int i = 0; i < record[k]->nin; i++)
            if (wk__record_in(record[k], i)->value == value && stays_unstored(record[k])) return true;
    return false;
}

/* Nobody reads the value after this group. */
static bool last_use(wk__record **record, int records, const wk__value *value)
{
    return atomic_load_explicit(&((wk__value *)(uintptr_t)value)->refs, memory_order_relaxed) ==
               uses_in(record, records, value) &&
           !read_later(record, records, value);
}

bool wk__dies_here(wk__record **record, int records, const wk__value *value)
{
    return wk__value_state(value) == WK__STORED && !value->release && !value->shares && !value->exposed &&
           value->memory.block && last_use(record, records, value);
}

static void hand_over(wk__value *to, wk__value *from)
{
    wk__large_remove(from);
    to->memory = from->memory;
    to->release = from->release;
    to->release_user = from->release_user;
    from->memory.block = NULL;
    from->release = NULL;
    wk__large_add(to);
}

/* Memory whose address the program knows stays with the tensor: its new value must take it over from the old one. */
static bool keeps_place(const wk__record *r)
{
    return r->prior && r->prior->exposed && wk__value_state(r->prior) == WK__STORED && r->prior->memory.block &&
           !r->prior->shares;
}

/* `to` gets the memory of `from`, whose numbers are still read: they move. */
static wk_code displace(wk__value *from, wk__value *to, wk__fail *fail)
{
    wk__memory fresh;
    wk_code code = wk__arena_take(from->device->arena, from->bytes, &fresh, fail);
    if (code == WK_ERR_MEMORY) wk__large_describe(from->device, fail);
    if (code != WK_OK) return code;
    if (from->bytes)
        code = from->device->backend->copy(from->device->state, &fresh, 0, &from->memory, 0, from->bytes, fail);
    if (code != WK_OK) {
        wk__arena_give(from->device->arena, &fresh);
        return code;
    }
    hand_over(to, from);
    from->memory = fresh;
    from->exposed = false;
    wk__large_add(from);
    return WK_OK;
}

/* The output of a group takes over the memory of a value that the group may read, too, or has written another part of. */
static void take_over(wk__building *b, int operand, wk__value *from)
{
    wk__value *out = b->value[operand];
    hand_over(out, from);
    for (int o = 0; o < b->group.noperands; o++)
        if (b->group.operand[o].memory == &from->memory) b->group.operand[o].memory = &out->memory;
}

static bool same_places(const wk__operand *a, const wk__operand *b)
{
    return a->offset == b->offset && wk_dtype_size(a->dtype) == wk_dtype_size(b->dtype) &&
           memcmp(a->stride, b->stride, sizeof a->stride) == 0;
}

/* Is operand `in` stored as it was loaded, elsewhere than in `out`? Such a number is read when it is stored: by then `out`, if it
 * had the memory of `in`, might have been written over it. */
static bool stored_as_loaded(const wk__group *g, int in, int out)
{
    for (int k = 0; k < g->nins; k++) {
        const wk__ins *store = &g->ins[k];
        if (store->code != WK__STORE || store->arg[0] == out) continue;
        const wk__ins *from = &g->ins[store->arg[1]];
        if (from->code == WK__LOAD && from->arg[0] == in) return true;
    }
    return false;
}

/* An input that dies and that lies exactly as the output will: the output is written over it, element by element. */
static wk__value *donor_of(wk__building *b, int operand)
{
    const wk__group *g = &b->group;
    if (g->nreduce || b->indirect) return NULL;
    wk__value *out = b->value[operand];
    for (int o = 0; o < g->noperands; o++) {
        wk__value *in = b->value[o];
        if (g->operand[o].stored || in->device != out->device || in->bytes != out->bytes ||
            !same_places(&g->operand[o], &g->operand[operand]) || stored_as_loaded(g, o, operand) ||
            !wk__dies_here(b->record, b->records, in))
            continue;
        bool once = true; /* seen through one view only: another would read what was just written */
        for (int other = 0; other < g->noperands; other++) once = once && (other == o || b->value[other] != in);
        if (once) return in;
    }
    return NULL;
}

/* May the group write over `prior` while it runs? Not if it reads it through another view than it writes. */
static bool only_read_in_place(const wk__building *b, int operand, const wk__value *prior)
{
    bool alone = !b->indirect && b->group.nreduce == 0;
    for (int o = 0; o < b->group.noperands; o++)
        alone = alone && (b->value[o] != prior || (same_places(&b->group.operand[o], &b->group.operand[operand]) &&
                                                   !stored_as_loaded(&b->group, o, operand)));
    return alone;
}

/* The memory that the program knows by its address: what else is read of the old numbers is read from a copy of them. */
static wk_code same_place(wk__run *run, wk__building *b, int operand, wk__fail *fail)
{
    wk__value *out = b->value[operand], *prior = b->writer[operand]->prior;
    if (only_read_in_place(b, operand, prior) && last_use(b->record, b->records, prior)) {
        take_over(b, operand, prior);
        return WK_OK;
    }
    run->ring->copies++;
    return displace(prior, out, fail);
}

/* The base of a partial write: taken over if it is another part of the same group, or dies here and is not read through another
 * view meanwhile; else copied. */
static wk_code base_of(wk__run *run, wk__building *b, int operand, wk__fail *fail)
{
    wk__value *out = b->value[operand], *prior = b->writer[operand]->prior;
    if (wk__value_state(prior) == WK__PENDING) {
        take_over(b, operand, prior);
        return WK_OK;
    }
    if (only_read_in_place(b, operand, prior) && wk__dies_here(b->record, b->records, prior)) {
        take_over(b, operand, prior);
        b->group.operand[operand].over = b->writer[operand]->guarded;
        return WK_OK;
    }
    wk_code code = wk__value_take_memory(out, out->bytes, fail);
    if (code != WK_OK || out->bytes == 0) return code;
    run->ring->copies++;
    return out->device->backend->copy(out->device->state, &out->memory, 0, &prior->memory, 0, out->bytes, fail);
}

static wk_code take_output(wk__run *run, wk__building *b, int operand, wk__fail *fail)
{
    wk__value *out = b->value[operand];
    if (out->memory.block) return WK_OK; /* an epilogue writes where the product is */
    run->ring->stores++;
    if (keeps_place(b->writer[operand])) return same_place(run, b, operand, fail);
    if (b->writer[operand]->partial) return base_of(run, b, operand, fail);
    wk__value *donor = donor_of(b, operand);
    if (donor) {
        take_over(b, operand, donor);
        return WK_OK;
    }
    return wk__value_take_memory(out, out->bytes, fail);
}

static wk_code take_outputs(wk__run *run, wk__building *b, wk__fail *fail)
{
    wk__group *g = &b->group;
    for (int o = 0; o < g->noperands; o++) g->operand[o].memory = &b->value[o]->memory;
    for (int o = 0; o < g->noperands; o++) {
        if (!g->operand[o].stored) continue;
        wk_code code = take_output(run, b, o, fail);
        if (code == WK_OK) continue;
        run->culprit = b->writer[o];
        return code;
    }
    return WK_OK;
}

/* ---- the kinds of group ------------------------------------------------------------------------------------------ */

static wk_code run_program(wk__run *run, wk__building *b, wk__fail *fail)
{
    wk__device *device = b->record[0]->device;
    wk_code code = take_outputs(run, b, fail);
    if (code != WK_OK) return code;
    wk__group_collapse(&b->group);
    run->ring->groups++;
    b->group.tag = wk__watch(device, run->owner, b->record, b->records, b->indirect, &b->group);
    if (wk__log_on(WK__LOG_KERNEL)) wk__tell_kernel(b->record[0], "one pass", &b->group);
    return device->backend->run(device->state, &b->group, fail);
}

static void operand_from(wk__record *r, int k, wk__operand *operand)
{
    const wk__ref *ref = &r->ref[k];
    memset(operand, 0, sizeof *operand);
    operand->memory = &ref->value->memory;
    operand->offset = ref->offset;
    operand->dtype = ref->dtype;
    memcpy(operand->stride, wk__record_stride(r, k), sizeof(int64_t) * r->ndim);
}

/* A product that is not wanted itself goes where one of its epilogue's results will be, if one fits. */
static wk_code product_memory(wk__building *b, wk__value *product, wk__fail *fail)
{
    for (int o = 1; o < b->group.noperands && !wk__stores(product); o++) {
        const wk__operand *operand = &b->group.operand[o];
        wk__value *out = b->value[o];
        if (!operand->stored || b->writer[o]->partial || keeps_place(b->writer[o]) || out->bytes != product->bytes ||
            !same_places(operand, &b->group.operand[0]) || stored_as_loaded(&b->group, 0, o))
            continue;
        wk_code code = wk__value_take_memory(out, out->bytes, fail);
        if (code != WK_OK) return code;
        product->memory = out->memory;
        product->shares = out; /* not its own to give back */
        wk__value_hold(out);
        return code;
    }
    return wk__value_take_memory(product, product->bytes, fail);
}

static wk_code run_matmul(wk__run *run, wk__building *b, wk__fail *fail)
{
    wk__record *r = b->record[0];
    wk__value *product = r->ref[0].value;
    wk__matmul mm = {.nbatch = r->ndim - 2, .k = r->bound};
    const int64_t *shape = wk__record_shape(r);
    memcpy(mm.batch, shape, sizeof *shape * (size_t)mm.nbatch);
    mm.m = shape[r->ndim - 2];
    mm.n = shape[r->ndim - 1];
    wk_code code = product_memory(b, product, fail);
    if (code != WK_OK) return code;
    run->ring->stores += wk__stores(product);
    operand_from(r, 0, &mm.c);
    operand_from(r, 1, &mm.a);
    operand_from(r, 2, &mm.b);
    if (b->records > 1) {
        code = take_outputs(run, b, fail);
        mm.tail = &b->group;
    }
    run->ring->groups++;
    b->group.tag = wk__watch(r->device, run->owner, b->record, b->records, b->indirect, mm.tail);
    if (wk__log_on(WK__LOG_KERNEL))
        wk__tell_kernel(r, mm.tail ? "a matrix product, and then" : "a matrix product", mm.tail);
    if (code == WK_OK) code = r->device->backend->matmul(r->device->state, &mm, fail);
    if (!wk__stores(product)) wk__value_give_memory(product);
    return code;
}

static wk_code run_kernel(wk__run *run, wk__record *r, wk__fail *fail)
{
    wk__kernel kernel = {
        .name = r->kernel, .ndim = r->ndim, .dim = r->dim, .mode = r->mode, .bound = r->bound, .tag = -1};
    memcpy(kernel.shape, wk__record_shape(r), sizeof(int64_t) * r->ndim);
    wk_code code = WK_OK;
    for (int o = 0; o < r->nout && code == WK_OK; o++) {
        wk__value *out = r->ref[o].value;
        run->ring->stores++;
        bool alone = r->prior && uses_in(&r, 1, r->prior) == 1;
        if (r->partial && alone && (keeps_place(r) ? last_use(&r, 1, r->prior) : wk__dies_here(&r, 1, r->prior))) {
            hand_over(out, r->prior);
        } else if (keeps_place(r)) {
            code = displace(r->prior, out, fail);
        } else if ((code = wk__value_take_memory(out, out->bytes, fail)) == WK_OK && r->partial && out->bytes) {
            code = r->device->backend->copy(r->device->state, &out->memory, 0, &r->prior->memory, 0, out->bytes, fail);
        }
    }
    for (int k = 0; k < r->nout + r->nin; k++) operand_from(r, k, &kernel.operand[k]);
    for (int k = 0; k < r->nout; k++) kernel.operand[k].stored = true;
    run->ring->groups++;
    kernel.tag = wk__watch(r->device, run->owner, &r, 1, r->partial, NULL);
    if (wk__log_on(WK__LOG_KERNEL)) wk__tell_kernel(r, r->kernel, NULL);
    return code == WK_OK ? r->device->backend->kernel(r->device->state, &kernel, fail) : code;
}

/* Dense bytes from one device to another, through the host where the backend knows no shorter way. */
static wk_code run_transfer(wk__run *run, wk__record *r, wk__fail *fail)
{
    wk__value *out = r->ref[0].value, *in = r->ref[1].value;
    wk__device *to = out->device, *from = in->device;
    int64_t skip = r->ref[1].offset * (int64_t)wk_dtype_size(r->ref[1].dtype);
    run->ring->stores++;
    wk_code code = wk__value_take_memory(out, out->bytes, fail);
    if (code != WK_OK || out->bytes == 0) return code;
    if (in->memory.host) {
        atomic_fetch_add(&to->uploads, out->bytes);
        return to->backend->upload(to->state, &out->memory, 0, in->memory.host + skip, out->bytes, fail);
    }
    if (out->memory.host) {
        atomic_fetch_add(&from->downloads, out->bytes);
        return wk__value_download(in, skip, out->bytes, out->memory.host, r->site, fail);
    }
    if (to->backend == from->backend && to->backend->transfer && skip == 0)
        return to->backend->transfer(to->state, &out->memory, from->state, &in->memory, out->bytes, fail);
    void *staging = wk__alloc((size_t)out->bytes);
    if (!staging)
        return wk__fail_set(fail, WK_ERR_MEMORY, "out of host memory for a copy of %lld bytes", (long long)out->bytes);
    code = wk__value_download(in, skip, out->bytes, staging, r->site, fail);
    if (code == WK_OK) code = to->backend->upload(to->state, &out->memory, 0, staging, out->bytes, fail);
    wk__free(staging);
    return code;
}

/* ---- groups ------------------------------------------------------------------------------------------------------ */

static void finish(wk__run *run, wk__record **record, int records, wk_code code, const wk__fail *fail)
{
    wk__watch_given(record[0]->device, run->owner);
    if (code != WK_OK) {
        if (code == WK_ERR_LOST) atomic_store(&record[0]->device->lost, true);
        fail_group(run, record, records, fail);
        return;
    }
    for (int k = 0; k < records; k++)
        for (int o = 0; o < record[k]->nout; o++) {
            wk__value *out = record[k]->ref[o].value;
            if (out->memory.block && wk__value_state(out) == WK__PENDING) wk__value_set_state(out, WK__STORED);
        }
}

/* What a later part of a split group reads of an earlier one has to be stored after all. */
static void mark_crossing(wk__record **record, int records, int32_t group)
{
    for (int k = 0; k < records; k++)
        for (int i = 0; i < record[k]->nin; i++) {
            wk__value *in = wk__record_in(record[k], i)->value;
            if (in && wk__value_state(in) == WK__PENDING && in->group == group) in->escapes = true;
        }
}

static void run_programs(wk__run *run, wk__record **record, int records)
{
    wk__building *b = &run->building;
    while (records > 0) {
        b->record = record;
        b->records = records;
        int fit = wk__build(b);
        while (fit < b->records &&
               b->records > 1) { /* split: rare, so building again is cheaper than foreseeing it exactly */
            for (int k = 0; k < records; k++) record[k]->ref[0].value->reg = -1;
            mark_crossing(record + fit, records - fit, record[0]->group);
            b->records = fit > 0 ? fit : 1;
            fit = wk__build(b);
        }
        wk__fail fail = {.tag = -1};
        wk_code code;
        if (fit < b->records)
            code = wk__fail_set(&fail, WK_ERR_INTERNAL, "%s: its expression is longer than a program can be",
                                record[0]->op->name);
        else
            code = record[0]->kind == WK__RECORD_MATMUL ? run_matmul(run, b, &fail) : run_program(run, b, &fail);
        fail.code = code;
        finish(run, record, b->records, code, &fail);
        record += b->records;
        records -= b->records;
        if (records) records = drop_failed(run, record, records);
    }
}

/* What leaves a device takes its fault along, which may be noticed only now. */
static void run_alone(wk__run *run, wk__record *r)
{
    wk__fail fail = {.tag = -1};
    if (r->kind == WK__RECORD_KERNEL) {
        fail.code = run_kernel(run, r, &fail);
    } else {
        wk__device_prove(r->ref[1].value->device);
        if (drop_failed(run, &r, 1) == 0) return;
        fail.code = run_transfer(run, r, &fail);
        if (fail.code != WK_OK && drop_failed(run, &r, 1) == 0) return;
    }
    finish(run, &r, 1, fail.code, &fail);
}

static void run_group(wk__run *run, wk__record **record, int records)
{
    records = drop_failed(run, record, records);
    if (records == 0) return;
    if (wk__log_on(WK__LOG_PLACEMENT)) wk__tell(record, records);
    if (record[0]->kind == WK__RECORD_KERNEL || record[0]->kind == WK__RECORD_TRANSFER)
        run_alone(run, record[0]);
    else
        run_programs(run, record, records);
}

void wk__release_record(wk__record *r)
{
    for (int k = 0; k < r->nout + r->nin; k++) {
        wk__value *value = r->ref[k].value;
        if (!value) continue;
        if (wk__value_state(value) == WK__PENDING) value->ring_refs--;
        wk__value_drop(value);
    }
    if (!r->prior) return;
    if (wk__value_state(r->prior) == WK__PENDING) r->prior->ring_refs--;
    wk__value_drop(r->prior);
}

/* Live records by group, each group in program order: a counting sort into an array that grew with the ring. */
static wk__record **by_group(wk__ring *ring, int32_t groups, int64_t *live)
{
    bool sorted = true;
    int32_t last = 0;
    *live = 0;
    for (int64_t k = 0; k < ring->count; k++) {
        const wk__record *r = ring->record[k];
        *live += r->live;
        sorted = sorted && r->live && r->group >= last;
        last = r->group;
    }
    if (sorted) return ring->record;
    int32_t *start = ring->start;
    memset(start, 0, sizeof *start * (size_t)(groups + 1));
    for (int64_t k = 0; k < ring->count; k++)
        if (ring->record[k]->live) start[ring->record[k]->group + 1]++;
    for (int32_t g = 0; g < groups; g++) start[g + 1] += start[g];
    for (int64_t k = 0; k < ring->count; k++)
        if (ring->record[k]->live) ring->sorted[start[ring->record[k]->group]++] = ring->record[k];
    return ring->sorted;
}

/* A call that happens whole begins: there must be memory for all of it. */
static void reserve(wk__run *run, wk__record **record, int64_t live)
{
    int64_t k = 0;
    while (k + 1 < live && record[k]->whole == 0 && record[k + 1]->group == record[0]->group) k++;
    int32_t whole = record[k]->whole;
    if (whole == 0 || whole == run->reserved || whole == run->refused) return;
    wk__fail fail = {.tag = -1};
    const wk__record *culprit = NULL;
    if (wk__whole_reserve(whole, record, live, &culprit, &fail) == WK_OK) {
        run->reserved = whole;
        return;
    }
    wk__failure_drop(run->refusal);
    run->refusal = explain(culprit, &fail);
    run->refused = whole;
}

/* References go with each group, so that the next one finds out what dies in it. */
void wk__execute(wk_context *owner, wk__ring *ring, int32_t groups)
{
    wk__run run;
    run.owner = owner;
    run.ring = ring;
    run.culprit = NULL;
    run.reserved = run.refused = 0;
    run.refusal = NULL;
    int64_t live;
    wk__record **record = by_group(ring, groups, &live);
    for (int64_t k = 0, end; k < live; k = end) {
        int count = 0;
        for (end = k; end < live && record[end]->group == record[k]->group; end++) run.scratch[count++] = record[end];
        reserve(&run, record + k, live - k);
        run_group(&run, run.scratch, count);
        for (int64_t done = end; done-- > k;) wk__park_or_release(ring, record[done]);
    }
    wk__failure_drop(run.refusal);
}
