/* multinomial: places drawn with given probabilities, by the inverse of their running sum.
 *
 *     probabilities     .1  .4  0  .5
 *     running sum       .1  .5  .5  1.        uniform .3 of the total 1.: one sum is not above it, so place 1
 */
#include "random.h"
#include "reference.h"

/* Is the running sum passed by the draw? Never the last positive one, to which the product may round: in: sums, draw, total */
static int passed(wk__emit *e, const int in[])
{
    int below = wk__emit_compare(e, WK__LE, in[0], wk__emit_2(e, WK__MUL, in[1], in[2]));
    return wk__emit_ins(e, WK__AND, WK_BOOL, below, wk__emit_compare(e, WK__LT, in[0], in[2]), 0);
}

/* The probabilities without the place that was drawn: in: probabilities, places, drawn */
static int struck(wk__emit *e, const int in[])
{
    return wk__emit_where(e, wk__emit_compare(e, WK__EQ, in[1], in[2]), wk__emit_constant(e, 0), in[0]);
}

static const wk__op is_passed = {.name = "multinomial", .expression = passed, .arity = 3, .result = WK__RESULT_BOOL};
static const wk__op without = {.name = "multinomial", .expression = struck, .arity = 3, .conditions = 2 | 4};

static wk_tensor *running_sum(wk_site site, wk_tensor *x, int dim)
{
    wk__device *device = wk__ready(&wk__op_multinomial, site, &x, 1);
    if (!device) return NULL;
    wk_context *context = wk__context();
    const wk__body *body = wk__body_of(x);
    wk_tensor *out =
        wk__tensor_pending(context, device, body->dtype, body->ndim, body->shape, site, wk__op_multinomial.name);
    if (!out) return NULL;
    wk__record *r =
        wk__record_begin(context, WK__RECORD_KERNEL, &wk__op_multinomial, device, site, body->ndim, body->shape, 1, 1);
    if (!r) return wk__abandon(out);
    r->kernel = "scan";
    r->dim = (int8_t)dim;
    wk__record_ref(r, 0, wk__body_of(out), wk__body_of(out)->stride);
    wk__record_ref(r, 1, body, body->stride);
    wk__record_commit(context, r);
    return out;
}

/* (rows, n) -> (rows, count): each draw by itself. */
static wk_tensor *draw(wk_site site, wk_tensor *x, int64_t count)
{
    const wk__body *body = wk__body_of(x);
    int64_t rows = body->shape[0], n = body->shape[1];
    wk_tensor *sums = running_sum(site, x, 1);
    if (!sums) return NULL;
    wk_tensor *total = wk_reshape_at(site, wk_narrow_at(site, sums, 1, n - 1, 1), (const int64_t[]){rows, 1, 1}, 3);
    wk_tensor *uniform =
        wk__uniform(site, (const int64_t[]){rows, count, 1}, 3, body->dtype, body->storage->device->id);
    wk__arg args[3] = {wk__t(wk_reshape_at(site, sums, (const int64_t[]){rows, 1, n}, 3)), wk__t(uniform),
                       wk__t(total)};
    wk_tensor *below = args[0].tensor && uniform && total ? wk__elementwise(&is_passed, site, args, 3) : NULL;
    return wk_sum_at(site, below, (const int64_t[]){2}, 1, NULL);
}

/* One after the other, each struck out once it is drawn. */
static wk_tensor *draw_without_replacement(wk_site site, wk_tensor *x, int64_t count)
{
    const wk_options options = {.size = sizeof options, .device = wk_device_of(x)};
    wk_tensor *places = wk_arange_i_at(site, wk__body_of(x)->shape[1], &options), *all = NULL;
    for (int64_t k = 0; k < count; k++) {
        wk_tensor *one = draw(site, x, 1);
        all = k ? wk_cat_at(site, (wk_tensor *const[]){all, one}, 2, 1) : one;
        if (!all || !one) return NULL;
        wk__arg args[3] = {wk__t(x), wk__t(places), wk__t(one)};
        if (k + 1 < count && !(x = wk__elementwise(&without, site, args, 3))) return NULL;
    }
    return all;
}

static bool drawable(wk_site site, wk_tensor *x, int64_t count, bool replacement)
{
    const wk__body *body = wk__body_of(x);
    int64_t n = body->ndim ? body->shape[body->ndim - 1] : 0;
    if (!wk__is_float(body->dtype) || body->ndim < 1 || body->ndim > 2 || n < 1) {
        wk__op_error(&wk__op_multinomial, site, body->ndim < 1 || body->ndim > 2 || n < 1 ? WK_ERR_SHAPE : WK_ERR_DTYPE,
                     &x, "the probabilities must be floats of shape (n) or (rows, n), n 1 or more, not $a");
        return false;
    }
    if (count >= 1 && (replacement || count <= n)) return true;
    wk__op_error(&wk__op_multinomial, site, WK_ERR_ARGUMENT, &x, "%lld cannot be drawn of the %lld places of $a%s",
                 (long long)count, (long long)n, replacement ? "" : " without .replacement");
    return false;
}

wk_tensor *wk_multinomial_at(wk_site site, wk_tensor *x, int64_t count, const wk_multinomial_options *options)
{
    bool replacement = options && options->replacement;
    wk__compose c;
    wk_tensor *out = NULL;
    if (!wk__compose_begin(&c, &wk__op_multinomial, site, &x, 1)) return NULL;
    if (drawable(site, x, count, replacement)) {
        const wk__body *body = wk__body_of(x);
        bool row = body->ndim == 1;
        int64_t shape[2] = {row ? 1 : body->shape[0], body->shape[body->ndim - 1]};
        wk_tensor *table = wk_reshape_at(site, wk__widened(x), shape, 2);
        out = !table                      ? NULL
              : replacement || count == 1 ? draw(site, table, count)
                                          : draw_without_replacement(site, table, count);
        if (row) out = wk_reshape_at(site, out, &count, 1);
    }
    return wk__compose_end(&c, out, NULL);
}

static int invoke(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    wk_multinomial_options options = {.size = sizeof options, .replacement = wk__value_int(&args[2], 0)};
    return wk__one(out, wk_multinomial_at(site, wk__value_tensor(&args[0]), wk__value_int(&args[1], 1), &options));
}

/* With replacement, or one draw: those without are tested by what must hold of them. */
static void reference(wk__reference *r)
{
    const wk__array *x = &r->in[0];
    int64_t rows = x->ndim > 1 ? x->shape[0] : 1, n = x->shape[x->ndim - 1], count = wk__value_int(&r->args[1], 1),
            shape[2] = {rows, count};
    double *out = wk__reference_out(r, 0, x->ndim, x->ndim > 1 ? shape : &count);
    for (int64_t k = 0; k < rows * count; k++) {
        const double *p = x->data + k / count * n;
        double total = 0, sum = 0, draw;
        for (int64_t j = 0; j < n; j++) total += p[j];
        draw = wk__reference_uniform(wk__class_of(x->dtype), rows * count, k) * total;
        for (int64_t j = 0; j < n; j++) out[k] += (sum += p[j]) <= draw;
    }
}

static const char *const samples[] = {"[5], 1", "[5], 7, true", "[3,4], 1", "[3,4], 6, true", "[1], 1", NULL};

const wk__op wk__op_multinomial = {
    .name = "multinomial",
    .schema = "multinomial(Tensor self, int num_samples, bool replacement=False) -> Tensor",
    .group = "random",
    .doc = "places drawn with these probabilities",
    .domain = WK__FLOATS,
    .invoke = invoke,
    .reference = reference,
    .samples = samples,
    .low = 0.1,
    .high = 3,
};
