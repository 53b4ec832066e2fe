#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""make_images.py: writes the image files of tests/fixtures/image, what torchvision reads from them to images.txt, and
the results of its make_grid to image_grids.txt.

A line of images.txt has the name of a file, the mode (0: unchanged, 1: grey, 3: RGB), the shape, and the FNV-1a hash of
the bytes. torchvision keeps the indices of a palette and samples of 16 bits: for those files the line has the values
of Pillow's conversion to RGB (or RGBA), and the samples rounded to 8 bits.

A line of image_grids.txt has the shape of the images, nrow, padding, normalize, scale_each, pad_value, low and high
(both 0: none), the shape of the grid, and the hash of its f32 elements. Image element k is (37 k mod 101) / 7.

Needs torch, torchvision and Pillow."""

import io
import zlib
from pathlib import Path

import numpy as np
import torch
from PIL import Image
from torchvision.io import ImageReadMode, decode_image
from torchvision.utils import make_grid

HERE = Path(__file__).resolve().parent
FILES = HERE.parent / "fixtures/image"
MODES = {0: ImageReadMode.UNCHANGED, 1: ImageReadMode.GRAY, 3: ImageReadMode.RGB}


def picture(height, width, channels):
    """A smooth image with noise, the same in every run."""
    rng = np.random.default_rng(7)
    y, x = np.mgrid[0:height, 0:width]
    waves = [np.sin(x / (3 + c)) * np.cos(y / (4 - c / 2)) * 90 + 128 for c in range(channels)]
    return np.clip(np.stack(waves, -1) + rng.normal(0, 12, (height, width, channels)), 0, 255).astype(np.uint8)


def encoded(image, form, **options):
    out = io.BytesIO()
    image.save(out, form, **options)
    return out.getvalue()


def png(height, width, header, rows):
    """A PNG file with the last bytes of its header and its rows."""

    def chunk(name, data):
        return len(data).to_bytes(4, "big") + name + data + zlib.crc32(name + data).to_bytes(4, "big")

    start = width.to_bytes(4, "big") + height.to_bytes(4, "big") + bytes(header)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", start) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


def rgba16(array):
    """A PNG file of four channels with 16 bits, which Pillow does not write."""
    rows = b"".join(b"\0" + row.astype(">u2").tobytes() for row in array)
    return png(*array.shape[:2], (16, 6, 0, 0, 0), rows)


def interlaced(rgb):
    """A PNG file in Adam7 order, which Pillow does not write."""
    height, width, _ = rgb.shape
    rows = b""
    passes = ((0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2))
    for x0, y0, dx, dy in passes:
        for row in rgb[y0::dy, x0::dx]:
            rows += b"\0" + row.tobytes() if row.size else b""
    return png(height, width, (8, 2, 0, 0, 1), rows)


def files():
    rgba, rgb = picture(13, 18, 4), Image.fromarray(picture(13, 18, 3))
    grey = Image.fromarray(rgba[..., 0])
    palette = rgb.quantize(11)
    large = Image.fromarray(picture(40, 52, 3))
    wide = Image.fromarray(rgba[..., 0].astype(np.uint16) * 256 + 255 - rgba[..., 0])
    yield "grey.png", encoded(grey, "PNG")
    yield "grey_alpha.png", encoded(Image.fromarray(np.ascontiguousarray(rgba[..., :2])), "PNG")
    yield "rgb.png", encoded(rgb, "PNG")
    yield "rgba.png", encoded(Image.fromarray(rgba), "PNG")
    yield "bits.png", encoded(Image.fromarray(rgba[..., 0] > 128), "PNG")
    yield "interlaced.png", interlaced(np.asarray(rgb))
    yield "palette.png", encoded(palette, "PNG")
    yield "palette_alpha.png", encoded(palette, "PNG", transparency=bytes(range(0, 242, 22)))
    yield "grey16.png", encoded(wide, "PNG")
    yield "rgba16.png", rgba16(rgba.astype(np.uint16) * 256 + 255 - rgba)
    yield "grey.jpg", encoded(Image.fromarray(picture(40, 52, 1)[..., 0]), "JPEG", quality=85)
    yield "rgb.jpg", encoded(large, "JPEG", quality=80)
    yield "rgb444.jpg", encoded(large, "JPEG", quality=90, subsampling=0)
    yield "progressive.jpg", encoded(large, "JPEG", quality=75, progressive=True, optimize=True)
    yield "cmyk.jpg", encoded(large.convert("CMYK"), "JPEG")
    yield "grey.pgm", encoded(grey, "PPM")
    yield "rgb.ppm", encoded(rgb, "PPM")


def read(name, data, mode):
    if name.endswith((".pgm", ".ppm")):  # torchvision does not read these
        array = np.asarray(Image.open(io.BytesIO(data)))
        planes = array[None] if array.ndim == 2 else array.transpose(2, 0, 1)
        png = encoded(Image.fromarray(array), "PNG")
        return planes if mode == 0 else read("from.png", png, mode)
    if name.startswith("palette"):
        array = np.asarray(Image.open(io.BytesIO(data)).convert("RGBA" if "alpha" in name else "RGB"))
        return read("from.png", encoded(Image.fromarray(array), "PNG"), mode)
    bits = torch.frombuffer(bytearray(data), dtype=torch.uint8)
    if "16" not in name:
        return decode_image(bits, MODES[mode]).numpy()
    rounded = ((decode_image(bits).to(torch.int64) * 255 + 32767) // 65535).to(torch.uint8).numpy()
    array = rounded[0] if len(rounded) == 1 else np.ascontiguousarray(rounded.transpose(1, 2, 0))
    return read("from.png", encoded(Image.fromarray(array), "PNG"), mode)


def fnv(data):
    value = 0xCBF29CE484222325
    for byte in data:
        value = (value ^ byte) * 0x100000001B3 % 2**64
    return value


GRIDS = (
    # N, C, H, W, nrow, padding, normalize, scale_each, pad_value, low, high
    (5, 1, 3, 4, 8, 2, 0, 0, 0, 0, 0),
    (5, 1, 3, 4, 2, 1, 0, 0, 0.5, 0, 0),
    (6, 3, 4, 2, 3, 0, 0, 0, 0, 0, 0),
    (17, 3, 2, 2, 8, 2, 1, 0, 1, 0, 0),
    (7, 1, 3, 3, 4, 3, 1, 1, 0, 0, 0),
    (4, 2, 3, 3, 2, 2, 1, 0, 0, 2, 9),
    (4, 2, 3, 3, 2, 2, 1, 1, 0, 0, 3.25),
    (1, 1, 4, 4, 8, 2, 0, 0, 0, 0, 0),
    (1, 3, 4, 4, 8, 2, 1, 0, 0, 0, 0),
    (3, 4, 2, 5, 1, 2, 0, 0, -1, 0, 0),
)


def grid(n, c, h, w, nrow, padding, normalize, scale_each, pad_value, low, high):
    """Returns the line of a grid."""
    x = torch.arange(n * c * h * w).mul(37).remainder(101).to(torch.float32).div(7).reshape(n, c, h, w)
    value_range = (low, high) if low or high else None
    out = make_grid(x, nrow, padding, bool(normalize), value_range, bool(scale_each), pad_value)
    options = f"{nrow} {padding} {normalize} {scale_each} {pad_value} {low} {high}"
    shape = "x".join(map(str, out.shape))
    return f"{n}x{c}x{h}x{w} {options} {shape} {fnv(out.contiguous().numpy().tobytes()):016x}\n"


def main():
    lines = []
    for name, data in files():
        (FILES / name).write_bytes(data)
        for mode in MODES if name != "cmyk.jpg" else ():
            planes = read(name, data, mode)
            lines.append(f"{name} {mode} {'x'.join(map(str, planes.shape))} {fnv(planes.tobytes()):016x}\n")
    (HERE / "images.txt").write_text("".join(lines))
    (HERE / "image_grids.txt").write_text("".join(grid(*row) for row in GRIDS))


if __name__ == "__main__":
    FILES.mkdir(exist_ok=True)
    main()
