# SPDX-License-Identifier: Apache-2.0
"""Writes tests/goldens/models.txt, scores and gradients of torchvision's networks, which tests/nn/models.c describes.

    python make_models.py > models.txt            (PyTorch 2, torchvision)

Parameters and inputs come from a formula, fill(), which the test repeats. LeNet and NiN, which torchvision lacks, are
written out here."""
import math
import sys
import warnings

import numpy
import torch
import torchvision.models
from torch import nn

PERIOD = 65521
INPUT, OUTPUT = 100000, 100001


def fill(number, shape, low, high):
    """Tensor number `number`: a hash of the index modulo PERIOD, uniform in [low, high)."""
    count = math.prod(shape)
    h = numpy.arange(min(count, PERIOD), dtype=numpy.uint32)
    h = h * numpy.uint32(2654435761) + numpy.uint32(number * 40503 + 1)
    for shift, factor in (16, 0x7FEB352D), (15, 0x846CA68B):
        h = (h ^ (h >> numpy.uint32(shift))) * numpy.uint32(factor)
    h ^= h >> numpy.uint32(16)
    values = (low + (high - low) * (h / 2.0**32)).astype(numpy.float32)
    return torch.from_numpy(numpy.resize(values, count)).reshape(shape)


def fill_network(net):
    for number, (name, x) in enumerate([*net.named_parameters(), *net.named_buffers()]):
        if x.ndim >= 2:
            bound = math.sqrt(6 / (x.numel() // x.shape[0]))
            low, high = -bound, bound
        elif x.ndim == 1:
            low, high = (-0.1, 0.1) if name.endswith(("bias", "mean")) else (0.5, 1.5)
        else:
            continue
        x.data.copy_(fill(number, x.shape, low, high))


def names_hash(net):
    """FNV-1a over "name:2,3;" of all parameters, then all buffers."""
    h = 0xCBF29CE484222325
    for name, x in [*net.named_parameters(), *net.named_buffers()]:
        for byte in ("%s:%s;" % (name, ",".join(map(str, x.shape)))).encode():
            h = (h ^ byte) * 0x100000001B3 % 2**64
    return h


def lenet():
    return nn.Sequential(
        nn.Conv2d(1, 6, 5, padding=2), nn.Sigmoid(), nn.AvgPool2d(2), nn.Conv2d(6, 16, 5), nn.Sigmoid(),
        nn.AvgPool2d(2), nn.Flatten(), nn.Linear(400, 120), nn.Sigmoid(), nn.Linear(120, 84), nn.Sigmoid(),
        nn.Linear(84, 10))


def nin():
    def block(i, o, kernel, stride, padding):
        return nn.Sequential(nn.Conv2d(i, o, kernel, stride, padding), nn.ReLU(), nn.Conv2d(o, o, 1), nn.ReLU(),
                             nn.Conv2d(o, o, 1), nn.ReLU())
    return nn.Sequential(
        block(3, 96, 11, 4, 0), nn.MaxPool2d(3, 2), block(96, 256, 5, 1, 2), nn.MaxPool2d(3, 2),
        block(256, 384, 3, 1, 1), nn.MaxPool2d(3, 2), nn.Dropout(0.5), block(384, 10, 3, 1, 1),
        nn.AdaptiveAvgPool2d(1), nn.Flatten())


def make(name):
    own = {"lenet": lenet, "nin": nin}
    if name in own:
        return own[name]()
    options = {}
    if name.startswith("googlenet"):
        options = dict(aux_logits=name == "googlenet_aux", init_weights=False)
        name = "googlenet"
        if options["aux_logits"]:
            options |= dict(dropout=0, dropout_aux=0)
    if name == "vit_small":
        return torchvision.models.VisionTransformer(32, 8, 3, 4, 64, 96, num_classes=10)
    if name.startswith("mobilenet_v2_"):
        options = dict(width_mult=float(name.removeprefix("mobilenet_v2_")))
        name = "mobilenet_v2"
    return torchvision.models.get_model(name, **options)


def without_elements(name):
    """The network on device meta. The widths of a RegNet are computed before, with tensors that need elements."""
    if not name.startswith("regnet"):
        with torch.device("meta"):
            return make(name)
    regnet, create = torchvision.models.regnet, torchvision.models.regnet.RegNet

    def on_meta(*arguments, **options):
        with torch.device("meta"):
            return create(*arguments, **options)
    regnet.RegNet = on_meta
    try:
        return make(name)
    finally:
        regnet.RegNet = create


def write(word, values):
    print(word, *("%.8g" % v for v in values))


def narrow(net, name):
    """Replaces the wide linear layers of AlexNet and VGG, which have most of their parameters, by narrow ones."""
    sizes = {"vgg11": [(0, 25088, 16), (3, 16, 12), (6, 12, 10)], "alexnet": [(1, 9216, 16), (4, 16, 12), (6, 12, 10)]}
    for index, i, o in sizes.get(name, []):
        net.classifier[index] = nn.Linear(i, o)


def values(name, mode, shape, parameters):
    """Some of the scores, and norms of gradients of the sum of products with fixed numbers."""
    dtype = torch.float64 if mode == "train" else torch.float32
    net = make(name).train(mode == "train")
    narrow(net, name)
    net.to(dtype)
    fill_network(net)
    out = net(fill(INPUT, shape, -1, 1).to(dtype))
    outputs = [out] if torch.is_tensor(out) else list(out)
    print("values", name, mode, *shape)
    for y in outputs:
        flat = y.flatten()
        write("scores", [y.norm().item(), *(flat[k * flat.numel() // 8].item() for k in range(8))])
    if parameters:
        sum((y * fill(OUTPUT + k, y.shape, -1, 1)).sum() for k, y in enumerate(outputs)).backward()
    found = dict(net.named_parameters())
    for path in parameters:
        print("gradient", path, "%.8g" % found[path].grad.norm().item())
    print("done in mode %s: %s" % (mode, name), file=sys.stderr)


warnings.simplefilter("ignore")
NAMES = ["lenet", "nin", "alexnet", "googlenet", "googlenet_aux", "resnext50_32x4d", "resnext101_32x8d",
         "wide_resnet50_2", "mobilenet_v2", "mobilenet_v2_0.35", "mobilenet_v2_1.4"]
NAMES += ["resnet%d" % d for d in (18, 34, 50, 101, 152)] + ["densenet%d" % d for d in (121, 161, 169, 201)]
NAMES += ["vgg%d%s" % (d, bn) for d in (11, 13, 16, 19) for bn in ("", "_bn")]
NAMES += ["regnet_%s_%s" % (k, s) for k in "xy" for s in ("400mf", "800mf", "1_6gf", "3_2gf", "8gf", "16gf", "32gf")]
NAMES += ["regnet_y_128gf"]
NAMES += ["vit_%s" % s for s in ("b_16", "b_32", "l_16", "h_14", "small")]
for name in NAMES:
    net = without_elements(name)
    print("names %s %d %016x" % (name, sum(p.numel() for p in net.parameters()), names_hash(net)))

values("lenet", "train", (2, 1, 28, 28), ["0.weight", "3.bias", "11.weight"])
values("nin", "eval", (1, 3, 67, 67), ["0.0.weight", "4.2.bias", "7.4.weight"])
values("alexnet", "eval", (1, 3, 63, 63), ["features.0.weight", "classifier.4.weight"])
values("vgg11", "eval", (1, 3, 32, 32), ["features.0.weight", "features.13.bias", "classifier.0.weight"])
values("googlenet", "eval", (1, 3, 32, 32), ["conv1.conv.weight", "inception4b.branch4.1.bn.weight", "fc.weight"])
values("googlenet_aux", "train", (4, 3, 32, 32), ["conv1.conv.weight", "aux1.fc2.bias", "aux2.conv.conv.weight"])
values("resnet18", "eval", (1, 3, 32, 32), ["conv1.weight", "layer2.0.downsample.0.weight", "fc.weight"])
values("resnet18", "train", (4, 3, 32, 32), ["bn1.weight", "layer4.1.conv2.weight", "fc.bias"])
values("resnet50", "eval", (1, 3, 32, 32), ["conv1.weight", "layer3.5.conv2.weight", "layer4.0.bn3.bias"])
values("densenet121", "eval", (1, 3, 32, 32), ["features.conv0.weight", "features.denseblock3.denselayer7.conv2.weight",
                                               "features.norm5.bias"])
values("regnet_x_400mf", "eval", (1, 3, 32, 32), ["stem.0.weight", "trunk_output.block3.block3-2.f.b.0.weight"])
values("regnet_y_400mf", "eval", (1, 3, 32, 32), ["stem.0.weight", "trunk_output.block2.block2-1.f.se.fc1.bias"])
values("mobilenet_v2", "eval", (1, 3, 32, 32), ["features.0.0.weight", "features.6.conv.1.0.weight",
                                                "classifier.1.bias"])
values("vit_small", "eval", (2, 3, 32, 32), ["class_token", "conv_proj.weight", "encoder.pos_embedding",
                                             "encoder.layers.encoder_layer_1.self_attention.in_proj_weight",
                                             "encoder.layers.encoder_layer_2.mlp.3.bias", "heads.head.weight"])
