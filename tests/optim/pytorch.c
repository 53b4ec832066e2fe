/* SPDX-License-Identifier: Apache-2.0 */
/* Tests optimisers against torch.optim on a function with a curved valley; tests/goldens/make_optim.py prints the rows
 * of the table. */
#include "support/wick.h"

#include <math.h>

typedef struct training {
    wk_tensor *p, *q;
    wk_optim *optim;
    double sign; /* -1: maximises the negative of the function */
    int calls;
} training;

/* (1 - x)^2 + 100 (y - x^2)^2 + sum((q - 3)^2) */
static wk_tensor *closure(void *user)
{
    training *t = user;
    t->calls++;
    wk_optim_zero_grad(t->optim);
    wk_tensor *x = wk_select(t->p, 0, 0), *y = wk_select(t->p, 0, 1);
    wk_tensor *valley = wk_mul(100, wk_square(wk_sub(y, wk_square(x))));
    wk_tensor *loss = wk_add(wk_add(wk_square(wk_sub(1, x)), valley), wk_sum(wk_square(wk_sub(t->q, 3))));
    loss = wk_mul(t->sign, loss);
    wk_backward(loss);
    return loss;
}

/* ---- the optimisers ---------------------------------------------------------------------------------------------- */

static wk_optim *sgd(wk_tensors *list)
{
    return wk_optim_sgd(list, .lr = 1e-4, .momentum = 0.9, .nesterov = true, .weight_decay = 0.1);
}
static wk_optim *adam(wk_tensors *list)
{
    return wk_optim_adam(list, .lr = 0.1, .beta1 = 0.8, .beta2 = 0.9, .amsgrad = true, .weight_decay = 0.1);
}
static wk_optim *adamw(wk_tensors *list)
{
    return wk_optim_adamw(list, .lr = 0.1, .eps = 1e-2, .maximize = true);
}
static wk_optim *adagrad(wk_tensors *list)
{
    return wk_optim_adagrad(list);
}
static wk_optim *adagrad_decay(wk_tensors *list)
{
    return wk_optim_adagrad(list, .lr = 0.5, .lr_decay = 0.1, .weight_decay = 0.1);
}
static wk_optim *adagrad_first(wk_tensors *list)
{
    return wk_optim_adagrad(list, .lr = 0.5, .initial_accumulator_value = 0.5, .eps = 0.1, .maximize = true);
}
static wk_optim *adagrad_f32(wk_tensors *list)
{
    return wk_optim_adagrad(list, .lr = 0.1);
}
static wk_optim *rmsprop(wk_tensors *list)
{
    return wk_optim_rmsprop(list);
}
static wk_optim *rmsprop_momentum(wk_tensors *list)
{
    return wk_optim_rmsprop(list, .lr = 1e-3, .alpha = 0.9, .momentum = 0.8, .weight_decay = 0.1);
}
static wk_optim *rmsprop_centered(wk_tensors *list)
{
    return wk_optim_rmsprop(list, .lr = 1e-3, .alpha = 0.95, .centered = true, .eps = 1e-3, .maximize = true);
}
static wk_optim *rmsprop_both(wk_tensors *list)
{
    return wk_optim_rmsprop(list, .lr = 1e-3, .momentum = 0.5, .centered = true);
}
static wk_optim *rmsprop_f32(wk_tensors *list)
{
    return wk_optim_rmsprop(list, .lr = 1e-3, .momentum = 0.5, .centered = true);
}
static wk_optim *adadelta(wk_tensors *list)
{
    return wk_optim_adadelta(list);
}
static wk_optim *adadelta_rho(wk_tensors *list)
{
    return wk_optim_adadelta(list, .lr = 0.5, .rho = 0.8, .eps = 1e-3, .weight_decay = 0.1, .maximize = true);
}
static wk_optim *nadam(wk_tensors *list)
{
    return wk_optim_nadam(list, .lr = 0.02);
}
static wk_optim *nadam_decay(wk_tensors *list)
{
    return wk_optim_nadam(list, .lr = 0.02, .beta1 = 0.8, .beta2 = 0.9, .eps = 1e-3, .weight_decay = 0.1);
}
static wk_optim *nadam_decoupled(wk_tensors *list)
{
    return wk_optim_nadam(list, .lr = 0.02, .momentum_decay = 0.5, .weight_decay = 0.1, .decoupled_weight_decay = true,
                          .maximize = true);
}
static wk_optim *nadam_f32(wk_tensors *list)
{
    return wk_optim_nadam(list, .lr = 0.02);
}
static wk_optim *radam(wk_tensors *list)
{
    return wk_optim_radam(list, .lr = 1e-4);
}
static wk_optim *radam_decay(wk_tensors *list)
{
    return wk_optim_radam(list, .lr = 1e-4, .beta1 = 0.8, .beta2 = 0.95, .eps = 1e-3, .weight_decay = 0.1,
                          .maximize = true);
}
static wk_optim *radam_decoupled(wk_tensors *list)
{
    return wk_optim_radam(list, .lr = 1e-4, .weight_decay = 0.1, .decoupled_weight_decay = true);
}
static wk_optim *radam_plain(wk_tensors *list)
{
    return wk_optim_radam(list, .lr = 1e-4, .beta1 = 0.5, .beta2 = 0.6);
}
static wk_optim *adamax(wk_tensors *list)
{
    return wk_optim_adamax(list, .lr = 0.02);
}
static wk_optim *adamax_decay(wk_tensors *list)
{
    return wk_optim_adamax(list, .lr = 0.02, .beta1 = 0.8, .beta2 = 0.9, .eps = 1e-2, .weight_decay = 0.1,
                           .maximize = true);
}
static wk_optim *asgd(wk_tensors *list)
{
    return wk_optim_asgd(list, .lr = 1e-4);
}
static wk_optim *asgd_decay(wk_tensors *list)
{
    return wk_optim_asgd(list, .lr = 1e-4, .lambd = 10, .alpha = 0.5, .t0 = 10, .weight_decay = 0.1, .maximize = true);
}
static wk_optim *lbfgs(wk_tensors *list)
{
    return wk_optim_lbfgs(list, .lr = 0.01);
}
static wk_optim *lbfgs_short(wk_tensors *list)
{
    return wk_optim_lbfgs(list, .lr = 0.01, .max_iter = 6, .history_size = 2);
}
static wk_optim *lbfgs_evaluations(wk_tensors *list)
{
    return wk_optim_lbfgs(list, .lr = 0.01, .max_iter = 8, .max_eval = 3);
}
static wk_optim *lbfgs_gradient(wk_tensors *list)
{
    return wk_optim_lbfgs(list, .lr = 0.01, .tolerance_grad = 152);
}
static wk_optim *lbfgs_change(wk_tensors *list)
{
    return wk_optim_lbfgs(list, .lr = 0.01, .tolerance_change = 1e-2);
}
static wk_optim *lbfgs_maximize(wk_tensors *list)
{
    return wk_optim_lbfgs(list, .lr = 0.01, .max_iter = 6, .maximize = true);
}
static wk_optim *lbfgs_wolfe(wk_tensors *list)
{
    return wk_optim_lbfgs(list, .line_search_fn = "strong_wolfe");
}
static wk_optim *lbfgs_wolfe_short(wk_tensors *list)
{
    return wk_optim_lbfgs(list, .line_search_fn = "strong_wolfe", .max_iter = 5, .history_size = 3);
}
static wk_optim *lbfgs_wolfe_far(wk_tensors *list)
{
    return wk_optim_lbfgs(list, .line_search_fn = "strong_wolfe", .lr = 1500, .max_iter = 4, .max_eval = 100);
}
static wk_optim *lbfgs_wolfe_evaluations(wk_tensors *list)
{
    return wk_optim_lbfgs(list, .line_search_fn = "strong_wolfe", .lr = 4, .max_iter = 5, .max_eval = 3);
}
static wk_optim *lbfgs_wolfe_maximize(wk_tensors *list)
{
    return wk_optim_lbfgs(list, .line_search_fn = "strong_wolfe", .max_iter = 3, .maximize = true);
}
static wk_optim *lbfgs_wolfe_f32(wk_tensors *list)
{
    return wk_optim_lbfgs(list, .line_search_fn = "strong_wolfe", .max_iter = 3);
}

/* ---- expected values --------------------------------------------------------------------------------------------- */

/* After this many steps: calls of the closure, the loss that the last step returned, and the parameters. */
#define MAKE(make) #make, make
static const struct row {
    const char *name;
    wk_optim *(*make)(wk_tensors *list);
    int steps, calls;
    double numbers[5];
} rows[] = {
    /* printed by PyTorch 2.15 */
    {MAKE(sgd), 6, 6, {17.1192113616272, -1.38557423778098, 2.03371010977305, 0.510900622909611, 1.00858836956515}},
    {MAKE(adam), 6, 6, {14.0372951257804, -1.45338228636782, 2.00666324275628, 1.09550521054028, 1.59385029817789}},
    {MAKE(adamw), 6, 6, {-13.6766890103249, -1.46339366563813, 1.9794367117325, 1.09046345987436, 1.58590941715245}},
    {MAKE(adagrad), 6, 6, {17.9064351600178, -1.46818977068204, 2.03176837299047, 0.536300483987888, 1.03627566860864}},
    {MAKE(adagrad_decay),
     6,
     6,
     {8.1902739983509, -1.4292395799756, 2.04947593368556, 1.82758086662196, 2.25372716974067}},
    {MAKE(adagrad_first),
     6,
     6,
     {-7.93341874550736, -1.43189925458533, 2.02779959808551, 1.99279278149383, 2.39790692394845}},
    {MAKE(adagrad_f32),
     6,
     6,
     {13.5326519012451, -1.430499792099, 2.05226469039917, 0.853715419769287, 1.35100317001343}},
    {MAKE(rmsprop),
     50,
     50,
     {8.26428874606711, -1.39209099607334, 1.94413327030132, 1.68190923857813, 2.13703936928502}},
    {MAKE(rmsprop_momentum),
     50,
     50,
     {13.8769398889119, -1.42418775131828, 2.0340606137465, 0.771814567462776, 1.27076443606616}},
    {MAKE(rmsprop_centered),
     50,
     50,
     {-15.1066064076193, -1.43780531110406, 2.05916126554076, 0.629156549548924, 1.12881804314841}},
    {MAKE(rmsprop_both),
     50,
     50,
     {13.801179238109, -1.42965186285982, 2.05008422946132, 0.783798578505239, 1.28208434446278}},
    {MAKE(rmsprop_f32),
     50,
     50,
     {13.8011798858643, -1.42965173721313, 2.05008411407471, 0.783798396587372, 1.28208446502686}},
    {MAKE(adadelta),
     50,
     50,
     {14.6464554370081, -1.43457645619726, 2.06017198942855, 0.681617427216535, 1.18031973231757}},
    {MAKE(adadelta_rho),
     50,
     50,
     {-8.27353296486665, -1.30248207649297, 1.85400595978241, 2.28971547984333, 2.60317168318749}},
    {MAKE(nadam), 50, 50, {9.93047913834994, -1.40614889941924, 1.98342544381585, 1.35894394790543, 1.83840333576409}},
    {MAKE(nadam_decay),
     50,
     50,
     {9.23254255272324, -1.33808000430849, 1.7970447497424, 1.43094902198311, 1.91366856363438}},
    {MAKE(nadam_decoupled),
     50,
     50,
     {-10.0635505346895, -1.31567058139254, 1.73937589895831, 1.27928605281097, 1.72093939121269}},
    {MAKE(nadam_f32),
     50,
     50,
     {9.9304780960083, -1.40614855289459, 1.9834246635437, 1.35894358158112, 1.83840346336365}},
    {MAKE(radam), 50, 50, {16.3986279803442, -1.43804306038762, 2.02016307215011, 0.502949701537625, 1.00244980716916}},
    {MAKE(radam_decay),
     50,
     50,
     {-16.3431454927037, -1.43725896610137, 2.02151896051917, 0.50536180377682, 1.0048366149715}},
    {MAKE(radam_decoupled),
     50,
     50,
     {16.3888455438673, -1.43733166583484, 2.01914944168258, 0.502698521580549, 1.0019489398223}},
    {MAKE(radam_plain),
     50,
     50,
     {15.9053516519307, -1.41833505849536, 2.01925690034003, 0.524882573306904, 1.01990605864552}},
    {MAKE(adamax), 50, 50, {9.91733028092177, -1.42403408747236, 2.04210730247231, 1.38247934625497, 1.85018901988972}},
    {MAKE(adamax_decay),
     50,
     50,
     {-8.49231086553937, -1.30839878601074, 1.71646214618343, 1.53760154778136, 2.05484446653786}},
    {MAKE(asgd), 50, 50, {15.9056255527066, -1.41838658269596, 2.01939263915057, 0.524877631663637, 1.01990180679634}},
    {MAKE(asgd_decay),
     50,
     50,
     {-16.0500221663362, -1.37581811973093, 1.91152933907924, 0.499760087582708, 0.970730685090369}},
    {MAKE(lbfgs), 4, 80, {17.3184781263441, -1.44856122691176, 2.01108711574045, 0.573490224362712, 1.05879217949017}},
    {MAKE(lbfgs_short),
     4,
     24,
     {19.9804670446014, -1.47830140931944, 2.00729894841987, 0.508530556523895, 1.00682444521912}},
    {MAKE(lbfgs_evaluations),
     4,
     12,
     {21.0617197826624, -1.4881271504514, 2.00388508108001, 0.501054607257037, 1.00084368580563}},
    {MAKE(lbfgs_gradient),
     4,
     5,
     {21.5689359500645, -1.49275700934579, 2.00233644859813, 0.500233644859813, 1.00018691588785}},
    {MAKE(lbfgs_change),
     4,
     8,
     {21.3618384823982, -1.49074487037683, 2.00300024074731, 0.5004432892585, 1.0003546314068}},
    {MAKE(lbfgs_maximize),
     4,
     24,
     {-19.9848852025626, -1.47834273705985, 2.00722683451696, 0.507170765660542, 1.00573661252843}},
    {MAKE(lbfgs_wolfe),
     4,
     61,
     {5.65889856510784e-11, 1.00000565733865, 1.00001147809362, 3.00000365543879, 3.00000292435103}},
    {MAKE(lbfgs_wolfe_short),
     4,
     26,
     {4.46306436587775, -0.803803910102744, 0.60391874229817, 3.50565212146154, 3.40452169716923}},
    {MAKE(lbfgs_wolfe_far), 1, 21, {22.75, -1.40492902436901, 1.95349155963303, 0.727117485339895, 1.18169398827192}},
    {MAKE(lbfgs_wolfe_evaluations),
     4,
     14,
     {11.2332043199206, -1.12065656464937, 1.26700630538697, 3.05519388143148, 3.04415510514519}},
    {MAKE(lbfgs_wolfe_maximize),
     4,
     12,
     {-15.3677340840069, -1.37409811450846, 1.74104405528004, 1.37871619851907, 1.70297295881525}},
    {MAKE(lbfgs_wolfe_f32),
     3,
     9,
     {15.9992628097534, -1.42617166042328, 1.97796809673309, 0.63564932346344, 1.10851943492889}},
};
#undef MAKE

static void expect_row(const struct row *row)
{
    WK_SCOPE;
    const bool narrow = strstr(row->name, "f32") != NULL;
    const double tolerance = narrow ? 1e-4 : 1e-7, start[] = {-1.5, 2, 0.5, 1};
    training t = {.sign = row->numbers[0] < 0 ? -1 : 1};
    wk_tensor *all = wk_from(start, (4), .dtype = WK_F64);
    if (narrow) all = wk_to_dtype(all, WK_F32);
    t.p = wk_requires_grad_(wk_clone(wk_narrow(all, 0, 0, 2)), true);
    t.q = wk_requires_grad_(wk_clone(wk_reshape(wk_narrow(all, 0, 2, 2), (1, 2))), true);
    t.optim = row->make(wk_list((t.p, t.q)));
    double loss = 0, have[4];
    for (int step = 0; step < row->steps; step++) {
        WK_SCOPE;
        wk_tensor *first = wk_optim_step_closure(t.optim, closure, &t);
        expect_ok();
        loss = wk_item(first);
    }
    if (t.calls != row->calls) fail_msg("%s: %d calls of the closure, not %d", row->name, t.calls, row->calls);
    all = wk_to_dtype(wk_cat((t.p, wk_reshape(t.q, (-1))), 0), WK_F64);
    assert_int_equal(wk_read(all, have, sizeof have), WK_OK);
    if (!(fabs(loss - row->numbers[0]) <= tolerance * fmax(1, fabs(row->numbers[0]))))
        fail_msg("%s: loss %.15g, not %.15g", row->name, loss, row->numbers[0]);
    for (int k = 0; k < 4; k++)
        if (!(fabs(have[k] - row->numbers[k + 1]) <= tolerance))
            fail_msg("%s: parameter %d is %.15g, not %.15g", row->name, k, have[k], row->numbers[k + 1]);
}

static void steps_equal_those_of_pytorch(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) expect_row(&rows[k]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(steps_equal_those_of_pytorch)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
