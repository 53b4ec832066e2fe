# SPDX-License-Identifier: Apache-2.0
"""Writes schedules.txt: the learning rates that torch.optim.lr_scheduler sets, for tests/optim/schedules.c.

    python make_schedules.py >schedules.txt            (PyTorch 2)

A line has a name, the rates of the first of two groups after 0, 1, ... 200 steps, then the rate of the second group and
the momentum of the first (sgd) or its beta1 (adam) after 0, 50, 100 and 200 steps.
"""
import math
import warnings

import torch
from torch.optim import lr_scheduler as lr

STEPS = 200
warnings.filterwarnings("ignore")


def metric(t):
    """Falls at first, then wavers."""
    return 1 / (1 + 0.2 * t) + 0.3 * math.sin(0.7 * t) ** 2 if t < 60 else 0.5


def warm_cosine(optim, warmup, steps, low):
    up = lr.LinearLR(optim, start_factor=1 / (warmup + 1), total_iters=warmup)
    down = lr.CosineAnnealingLR(optim, T_max=steps - warmup, eta_min=low)
    return lr.SequentialLR(optim, [up, down], [warmup])


CASES = [
    ("step_lr", "adam", lambda o: lr.StepLR(o, 8)),
    ("step_lr_gamma", "adam", lambda o: lr.StepLR(o, 30, gamma=0.5)),
    ("multi_step_lr", "sgd", lambda o: lr.MultiStepLR(o, [30, 80, 80, 120])),
    ("multi_step_lr_gamma", "sgd", lambda o: lr.MultiStepLR(o, [150, 1], gamma=0.7)),
    ("exponential_lr", "sgd", lambda o: lr.ExponentialLR(o, 0.97)),
    ("constant_lr", "sgd", lambda o: lr.ConstantLR(o)),
    ("constant_lr_long", "sgd", lambda o: lr.ConstantLR(o, factor=0.3, total_iters=100)),
    ("linear_lr", "sgd", lambda o: lr.LinearLR(o)),
    ("linear_lr_down", "sgd", lambda o: lr.LinearLR(o, start_factor=0.9, end_factor=0.1, total_iters=150)),
    ("polynomial_lr", "sgd", lambda o: lr.PolynomialLR(o)),
    ("polynomial_lr_power", "sgd", lambda o: lr.PolynomialLR(o, total_iters=180, power=2.5)),
    ("lambda_lr", "sgd", lambda o: lr.LambdaLR(o, lambda t: 0.95 ** t + 0.01)),
    ("cosine", "adam", lambda o: warm_cosine(o, 20, 200, 1e-3)),
    ("cosine_annealing_lr", "sgd", lambda o: lr.CosineAnnealingLR(o, 50)),
    ("cosine_annealing_lr_min", "sgd", lambda o: lr.CosineAnnealingLR(o, 33, eta_min=0.004)),
    ("cosine_annealing_lr_one", "sgd", lambda o: lr.CosineAnnealingLR(o, 1, eta_min=0.004)),
    ("warm_restarts", "sgd", lambda o: lr.CosineAnnealingWarmRestarts(o, 30)),
    ("warm_restarts_longer", "sgd", lambda o: lr.CosineAnnealingWarmRestarts(o, 10, T_mult=2, eta_min=1e-3)),
    ("one_cycle", "sgd", lambda o: lr.OneCycleLR(o, 0.1, total_steps=201)),
    ("one_cycle_adam", "adam", lambda o: lr.OneCycleLR(
        o, 0.3, total_steps=250, pct_start=0.4, anneal_strategy="linear", base_momentum=0.7, max_momentum=0.9,
        div_factor=10, final_div_factor=100)),
    ("one_cycle_three", "sgd", lambda o: lr.OneCycleLR(
        o, 0.1, total_steps=201, pct_start=0.25, three_phase=True, cycle_momentum=False)),
    ("one_cycle_groups", "sgd", lambda o: lr.OneCycleLR(o, [0.1, 0.003], total_steps=201)),
    ("cyclic_lr", "sgd", lambda o: lr.CyclicLR(o, 0.001, 0.1, step_size_up=20)),
    ("cyclic_lr_2", "adam", lambda o: lr.CyclicLR(
        o, 0.001, 0.1, step_size_up=20, step_size_down=31, mode="triangular2", base_momentum=0.6, max_momentum=0.95)),
    ("cyclic_lr_exp", "sgd", lambda o: lr.CyclicLR(
        o, 0.001, 0.1, step_size_up=15, mode="exp_range", gamma=0.99, cycle_momentum=False)),
    ("plateau", "sgd", lambda o: lr.ReduceLROnPlateau(o)),
    ("plateau_max", "sgd", lambda o: lr.ReduceLROnPlateau(
        o, mode="max", factor=0.6, patience=3, threshold=0.01, threshold_mode="abs", cooldown=4, min_lr=1e-3)),
    ("plateau_zero", "sgd", lambda o: lr.ReduceLROnPlateau(o, factor=0.5, patience=0, eps=1e-5)),
    ("chained", "sgd", lambda o: lr.ChainedScheduler(
        [lr.ConstantLR(o, factor=0.1, total_iters=20), lr.ExponentialLR(o, 0.98)])),
    ("sequential", "sgd", lambda o: lr.SequentialLR(
        o, [lr.LinearLR(o, start_factor=0.1, total_iters=10), lr.ConstantLR(o, factor=0.5, total_iters=30),
            lr.ExponentialLR(o, 0.96)], [10, 60])),
]


def optimiser(kind):
    p, q = (torch.zeros(1, requires_grad=True) for _ in range(2))
    groups = [{"params": [p]}, {"params": [q], "lr": 0.02}]
    if kind == "adam":
        return torch.optim.Adam(groups, lr=0.05, betas=(0.8, 0.99))
    return torch.optim.SGD(groups, lr=0.05, momentum=0.6)


def momentum(group):
    return group["betas"][0] if "betas" in group else group["momentum"]


for name, kind, make in CASES:
    optim = optimiser(kind)
    schedule = make(optim)
    first, others = [], []
    for t in range(STEPS + 1):
        first.append(optim.param_groups[0]["lr"])
        if t in (0, 50, 100, 200):
            others += [optim.param_groups[1]["lr"], momentum(optim.param_groups[0])]
        if t < STEPS:
            schedule.step(metric(t)) if name.startswith("plateau") else schedule.step()
    print(name, *("%.13g" % number for number in first + others))
