# SPDX-License-Identifier: Apache-2.0
"""The numbers in tests/optim/pytorch.c: what torch.optim makes of the function there, which has a curved valley.

    python make_optim.py            (PyTorch 2; prints the table's numbers)
"""
import torch

# name in the test, optimiser, options, dtype, steps
CASES = [
    ("sgd", torch.optim.SGD, dict(lr=1e-4, momentum=0.9, nesterov=True, weight_decay=0.1), torch.float64, 6),
    ("adam", torch.optim.Adam, dict(lr=0.1, betas=(0.8, 0.9), amsgrad=True, weight_decay=0.1), torch.float64, 6),
    ("adamw", torch.optim.AdamW, dict(lr=0.1, eps=1e-2, maximize=True), torch.float64, 6),
    ("adagrad", torch.optim.Adagrad, dict(), torch.float64, 6),
    ("adagrad_decay", torch.optim.Adagrad, dict(lr=0.5, lr_decay=0.1, weight_decay=0.1), torch.float64, 6),
    ("adagrad_first", torch.optim.Adagrad, dict(lr=0.5, initial_accumulator_value=0.5, eps=0.1, maximize=True),
     torch.float64, 6),
    ("adagrad_f32", torch.optim.Adagrad, dict(lr=0.1), torch.float32, 6),
    ("rmsprop", torch.optim.RMSprop, dict(), torch.float64, 50),
    ("rmsprop_momentum", torch.optim.RMSprop, dict(lr=1e-3, alpha=0.9, momentum=0.8, weight_decay=0.1), torch.float64,
     50),
    ("rmsprop_centered", torch.optim.RMSprop, dict(lr=1e-3, alpha=0.95, centered=True, eps=1e-3, maximize=True),
     torch.float64, 50),
    ("rmsprop_both", torch.optim.RMSprop, dict(lr=1e-3, momentum=0.5, centered=True), torch.float64, 50),
    ("rmsprop_f32", torch.optim.RMSprop, dict(lr=1e-3, momentum=0.5, centered=True), torch.float32, 50),
    ("adadelta", torch.optim.Adadelta, dict(), torch.float64, 50),
    ("adadelta_rho", torch.optim.Adadelta, dict(lr=0.5, rho=0.8, eps=1e-3, weight_decay=0.1, maximize=True),
     torch.float64, 50),
    ("nadam", torch.optim.NAdam, dict(lr=0.02), torch.float64, 50),
    ("nadam_decay", torch.optim.NAdam, dict(lr=0.02, betas=(0.8, 0.9), eps=1e-3, weight_decay=0.1), torch.float64, 50),
    ("nadam_decoupled", torch.optim.NAdam,
     dict(lr=0.02, momentum_decay=0.5, weight_decay=0.1, decoupled_weight_decay=True, maximize=True), torch.float64,
     50),
    ("nadam_f32", torch.optim.NAdam, dict(lr=0.02), torch.float32, 50),
    ("radam", torch.optim.RAdam, dict(lr=1e-4), torch.float64, 50),
    ("radam_decay", torch.optim.RAdam, dict(lr=1e-4, betas=(0.8, 0.95), eps=1e-3, weight_decay=0.1, maximize=True),
     torch.float64, 50),
    ("radam_decoupled", torch.optim.RAdam, dict(lr=1e-4, weight_decay=0.1, decoupled_weight_decay=True), torch.float64,
     50),
    ("radam_plain", torch.optim.RAdam, dict(lr=1e-4, betas=(0.5, 0.6)), torch.float64, 50),
    ("adamax", torch.optim.Adamax, dict(lr=0.02), torch.float64, 50),
    ("adamax_decay", torch.optim.Adamax, dict(lr=0.02, betas=(0.8, 0.9), eps=1e-2, weight_decay=0.1, maximize=True),
     torch.float64, 50),
    ("asgd", torch.optim.ASGD, dict(lr=1e-4), torch.float64, 50),
    ("asgd_decay", torch.optim.ASGD, dict(lr=1e-4, lambd=10, alpha=0.5, t0=10, weight_decay=0.1, maximize=True),
     torch.float64, 50),
    ("lbfgs", torch.optim.LBFGS, dict(lr=0.01), torch.float64, 4),
    ("lbfgs_short", torch.optim.LBFGS, dict(lr=0.01, max_iter=6, history_size=2), torch.float64, 4),
    ("lbfgs_evaluations", torch.optim.LBFGS, dict(lr=0.01, max_iter=8, max_eval=3), torch.float64, 4),
    ("lbfgs_gradient", torch.optim.LBFGS, dict(lr=0.01, tolerance_grad=152), torch.float64, 4),
    ("lbfgs_change", torch.optim.LBFGS, dict(lr=0.01, tolerance_change=1e-2), torch.float64, 4),
    ("lbfgs_maximize", torch.optim.LBFGS, dict(lr=0.01, max_iter=6, maximize=True), torch.float64, 4),
    ("lbfgs_wolfe", torch.optim.LBFGS, dict(line_search_fn="strong_wolfe"), torch.float64, 4),
    ("lbfgs_wolfe_short", torch.optim.LBFGS, dict(line_search_fn="strong_wolfe", max_iter=5, history_size=3),
     torch.float64, 4),
    ("lbfgs_wolfe_far", torch.optim.LBFGS, dict(line_search_fn="strong_wolfe", lr=1500, max_iter=4, max_eval=100),
     torch.float64, 1),
    ("lbfgs_wolfe_evaluations", torch.optim.LBFGS, dict(line_search_fn="strong_wolfe", lr=4, max_iter=5, max_eval=3),
     torch.float64, 4),
    ("lbfgs_wolfe_maximize", torch.optim.LBFGS, dict(line_search_fn="strong_wolfe", max_iter=3, maximize=True),
     torch.float64, 4),
    ("lbfgs_wolfe_f32", torch.optim.LBFGS, dict(line_search_fn="strong_wolfe", max_iter=3), torch.float32, 3),
]


def run(optimiser, options, dtype, steps):
    p = torch.tensor([-1.5, 2.0], dtype=dtype, requires_grad=True)
    q = torch.tensor([[0.5, 1.0]], dtype=dtype, requires_grad=True)
    optim = optimiser([p, q], **options)
    sign = -1 if options.get("maximize") else 1
    calls = 0

    def closure():
        nonlocal calls
        calls += 1
        optim.zero_grad()
        loss = (1 - p[0]) ** 2 + 100 * (p[1] - p[0] ** 2) ** 2 + ((q - 3) ** 2).sum()
        loss = sign * loss
        loss.backward()
        return loss

    for _ in range(steps):
        loss = optim.step(closure)
    return calls, [loss.item(), *p.tolist(), *q.flatten().tolist()]


for name, optimiser, options, dtype, steps in CASES:
    calls, numbers = run(optimiser, options, dtype, steps)
    print("    {MAKE(%s), %d, %d, {%s}}," % (name, steps, calls, ", ".join("%.15g" % n for n in numbers)))
