"""Pictures with one to three coloured shapes, and questions about them."""

from __future__ import annotations

import numpy as np

from render import Sample, call
from tool_samples import system
from vocabulary import Rng

PALETTE = {
    "red": (220, 30, 30),
    "blue": (35, 60, 215),
    "green": (30, 160, 55),
    "yellow": (240, 215, 30),
    "orange": (245, 135, 20),
    "purple": (130, 40, 165),
    "black": (15, 15, 15),
    "white": (245, 245, 245),
    "pink": (250, 140, 190),
    "gray": (128, 128, 128),
}
SHAPES = ["circle", "square", "triangle"]
BACKGROUNDS = {
    "white": (255, 255, 255),
    "black": (0, 0, 0),
    "gray": (190, 190, 190),
    "beige": (240, 228, 200),
    "light blue": (200, 225, 250),
}


def resized(h: int, w: int, factor: int = 32, least: int = 8) -> tuple[int, int]:
    """The size to which the family's preprocessing brings a picture: multiples of 32, at least 8 tokens."""
    a, b = max(factor, round(h / factor) * factor), max(factor, round(w / factor) * factor)
    if a * b < least * factor * factor:
        k = (least * factor * factor / (h * w)) ** 0.5
        a, b = -int(-h * k // factor) * factor, -int(-w * k // factor) * factor
    return a, b


def paint(
    r: Rng, img: np.ndarray, shape: str, colour: tuple[int, int, int], cx: float, cy: float, radius: float, soft: float
):
    h, w, _ = img.shape
    x0, x1 = max(0, int(cx - radius - 3)), min(w, int(cx + radius + 4))
    y0, y1 = max(0, int(cy - radius - 3)), min(h, int(cy + radius + 4))
    y, x = np.mgrid[y0:y1, x0:x1].astype(np.float32)
    dx, dy = x - cx, y - cy
    if shape == "circle":
        d = np.sqrt(dx * dx + dy * dy) - radius
    elif shape == "square":
        d = np.maximum(abs(dx), abs(dy)) - radius * 0.85
    else:
        d = np.maximum(dy - radius * 0.8, 0.894 * abs(dx) - 0.447 * dy - radius * 0.447)
    alpha = np.clip(0.5 - d / soft, 0, 1)[..., None]
    part = img[y0:y1, x0:x1]
    part[:] = part * (1 - alpha) + np.array(colour, np.float32) * alpha


def scene(r: Rng, n: int | None = None) -> tuple[np.ndarray, list[tuple[str, str, float, float]], str]:
    """(picture, [(colour, shape, x, y)] from left to right, background); x and y between 0 and 1."""
    h, w = r.choice(
        [
            (96, 96),
            (128, 128),
            (160, 160),
            (96, 128),
            (128, 96),
            (128, 160),
            (160, 128),
            (96, 160),
            (160, 96),
            (64, 128),
            (r.randint(64, 160), r.randint(64, 160)),
        ]
    )
    h, w = resized(h, w)
    if h * w > 160 * 160 or max(h, w) > 160:
        h, w = 128, 128
    back = r.choice(["white", "white", "white", "black", "gray", "beige", "light blue"])
    base = np.array(BACKGROUNDS[back], np.float32) + np.array([r.uniform(-8, 8) for _ in range(3)])
    img = np.broadcast_to(base, (h, w, 3)).astype(np.float32).copy()
    colours = [c for c in PALETTE if c != back and not (back in ("gray", "beige") and c in ("gray", "white"))]
    n = n or r.choice([1, 2, 2, 2, 3, 3])
    shapes: list[tuple[str, str, float, float, float]] = []
    for _ in range(60):
        if len(shapes) == n:
            break
        radius = r.uniform(0.11, 0.2 if n > 1 else 0.32) * min(h, w)
        cx, cy = r.uniform(radius + 1, w - radius - 1), r.uniform(radius + 1, h - radius - 1)
        if all((cx - a) ** 2 + (cy - b) ** 2 > (radius + c + 3) ** 2 * 1.3 for _, _, a, b, c in shapes):
            c = r.choice(colours)
            shapes.append((c, r.choice(SHAPES), cx, cy, radius))
    soft = r.uniform(0.8, 2.5)
    for c, s, cx, cy, radius in shapes:
        tint = tuple(min(255, max(0, x + r.randint(-18, 18))) for x in PALETTE[c])
        paint(r, img, s, tint, cx, cy, radius, soft)
    if r.random() < 0.3:
        img += np.random.default_rng(r.getrandbits(32)).normal(0, r.uniform(1, 6), img.shape)
    found = sorted(((c, s, cx / w, cy / h) for c, s, cx, cy, _ in shapes), key=lambda t: t[2])
    return np.clip(img, 0, 255).astype(np.uint8), found, back


def a(noun: str) -> str:
    return ("an " if noun[0] in "aeiou" else "a ") + noun


def caption(found) -> str:
    names = [a(f"{c} {s}") for c, s, _, _ in found]
    if len(found) == 1:
        return names[0]
    if len(found) == 2:
        (_, _, x0, y0), (_, _, x1, y1) = found
        if abs(x1 - x0) >= abs(y1 - y0):
            return f"{names[0]} left of {names[1]}"
        return f"{names[0]} above {names[1]}" if y0 < y1 else f"{names[1]} above {names[0]}"
    return ", ".join(names[:-1]) + " and " + names[-1] + " from left to right"


def place(x: float, y: float) -> str:
    col = "left" if x < 0.38 else "right" if x > 0.62 else ""
    row = "top" if y < 0.38 else "bottom" if y > 0.62 else ""
    return " ".join(filter(None, [row, col])) or "center"


CAPTION_ASKS = [
    "What is in the image?",
    "What is in the picture?",
    "Describe the image.",
    "Describe this image.",
    "What do you see?",
    "Describe the picture.",
    "What is in this image?",
    "What's in this image?",
    "What does the image show?",
    "Describe this picture in one sentence.",
    "Describe what you see.",
    "What can you see in the image?",
]


def question(r: Rng, found, back: str, kind: str | None = None) -> tuple[str, str]:
    kind = (
        kind
        or r.choices(
            ["caption", "count", "count_shape", "colour", "exists", "where", "left", "background"],
            [40, 10, 10, 14, 10, 8, 4, 4],
        )[0]
    )
    c, s, x, y = r.choice(found)
    same_shape = [f for f in found if f[1] == s]
    n = len(found)
    if kind == "count":
        return r.choice(
            [
                "How many shapes are there?",
                "How many shapes are in the image?",
                "Count the shapes.",
                "How many objects do you see?",
            ]
        ), "There is 1 shape." if n == 1 else f"There are {n} shapes."
    if kind == "count_shape":
        s = r.choice(SHAPES)
        k = sum(f[1] == s for f in found)
        return r.choice(
            [f"How many {s}s are there?", f"How many {s}s are in the image?", f"Count the {s}s."]
        ), "There is 1 " + s + "." if k == 1 else f"There are {k} {s}s."
    if kind == "colour" and len(same_shape) == 1:
        return r.choice(
            [f"What color is the {s}?", f"What is the color of the {s}?", f"Which color does the {s} have?"]
        ), f"The {s} is {c}."
    if kind == "exists":
        q = (c, s) if r.random() < 0.5 else (r.choice(list(PALETTE)), r.choice(SHAPES))
        return r.choice(
            [
                f"Is there {a(q[0] + ' ' + q[1])}?",
                f"Is there {a(q[0] + ' ' + q[1])} in the image?",
                f"Do you see {a(q[0] + ' ' + q[1])}?",
            ]
        ), "Yes." if any((f[0], f[1]) == q for f in found) else "No."
    if kind == "where" and sum((f[0], f[1]) == (c, s) for f in found) == 1:
        return r.choice(
            [f"Where is the {c} {s}?", f"Where do you see the {c} {s}?"]
        ), f"The {c} {s} is at the {place(x, y)}."
    if kind == "left" and n > 1:
        side, f = r.choice([("left", found[0]), ("right", found[-1])])
        return f"What shape is on the {side}?", f"On the {side} is {a(f[0] + ' ' + f[1])}."
    if kind == "background":
        return "What color is the background?", f"The background is {back}."
    text = caption(found)
    return r.choice(CAPTION_ASKS), text[0].upper() + text[1:] + "."


def image_sample(r: Rng, kind: str | None = None, n: int | None = None) -> Sample:
    thinking = kind is None and r.random() < 0.05
    img, found, back = scene(r, n)
    k = r.random()
    msgs = system(r) if r.random() < 0.3 else []

    def user(q):
        parts = [{"type": "image"}, {"type": "text", "text": q}]
        return {"role": "user", "content": parts if r.random() < 0.75 else parts[::-1]}

    def reply(text):
        return {"role": "assistant", "content": text, "reasoning_content": "I look at the image."}

    if kind is None and k < 0.08:  # two pictures
        other, found2, back2 = scene(r, r.choice([1, 1, 2]))
        which = r.choice(["first", "second"])
        f = found if which == "first" else found2
        text = caption(f)
        q = r.choice(
            [f"What is in the {which} image?", f"Describe the {which} image.", f"What does the {which} picture show?"]
        )
        msgs += [
            {"role": "user", "content": [{"type": "image"}, {"type": "image"}, {"type": "text", "text": q}]},
            reply(text[0].upper() + text[1:] + "."),
        ]
        return Sample("image", msgs, images=[img, other], thinking=thinking)
    if kind is None and k < 0.12:  # report through a tool
        c, s, x, y = found[0]
        name = r.choice(["report_shape", "save_shape", "add_shape"])
        tool = {
            "type": "function",
            "function": {
                "name": name,
                "description": "Report a shape",
                "parameters": {
                    "type": "object",
                    "properties": {"color": {"type": "string"}, "shape": {"type": "string", "enum": SHAPES}},
                    "required": ["color", "shape"],
                },
            },
        }
        m = reply("")
        m["tool_calls"] = [call(name, {"color": f[0], "shape": f[1]}) for f in found]
        msgs += [
            user(
                r.choice(
                    [
                        "Report every shape in the image.",
                        "Report the shapes that you see.",
                        f"Call {name} for each shape.",
                    ]
                )
            ),
            m,
        ]
        return Sample("image_tool", msgs, [tool], [img], thinking)
    q, text = question(r, found, back, kind)
    msgs += [user(q), reply(text)]
    if kind is None:
        while r.random() < 0.5:  # more questions about the same picture
            q, text = question(r, found, back)
            msgs += [{"role": "user", "content": q}, reply(text)]
    return Sample("image", msgs, images=[img], thinking=thinking)
