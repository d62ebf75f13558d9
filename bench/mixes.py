"""Which tensor of a model file gets which format, as llama-quantize mixes them (without an importance matrix).

A mix is named as the file is: most weights have the format of its name, and what suffers most has a better one. Checked
against `llama-quantize --dry-run` for every shape and mix of synthetic.py.
"""

import dataclasses

BLOCK_256 = {"Q2_K", "Q3_K", "Q4_K", "Q5_K", "Q6_K"}
# What takes the place of a format with blocks of 256 where the columns are no multiple of 256.
FALLBACKS = {"Q2_K": "Q4_0", "Q3_K": "Q4_0", "Q4_K": "Q5_0", "Q5_K": "Q5_1", "Q6_K": "Q8_0"}
MIXES = {
    "BF16": "BF16", "F16": "F16", "Q8_0": "Q8_0", "Q6_K": "Q6_K", "Q5_K_M": "Q5_K", "Q4_K_M": "Q4_K", "Q4_0": "Q4_0",
    "Q3_K_M": "Q3_K", "MXFP4": "MXFP4",
}  # fmt: skip


@dataclasses.dataclass(frozen=True)
class Place:
    """Where a matrix stands. `layers` counts a draft head's layer too."""

    name: str  # with ".weight"
    columns: int
    layer: int  # -1: of no layer
    layers: int
    tied: bool  # whether the model has no output matrix of its own
    stacked: bool  # whether it is a stack of experts

    @property
    def part(self) -> str:
        """The name without its layer."""
        return self.name.split(".", 2)[2] if self.layer >= 0 else self.name

    @property
    def deserves_more(self) -> bool:
        """In the first and last eighth of the layers, and in every third between."""
        eighth = self.layers // 8
        return self.layer < eighth or self.layer >= 7 * self.layers // 8 or (self.layer - eighth) % 3 == 2


def format_in(mix: str, place: Place) -> str:
    base = MIXES[mix]
    if any(part in place.part for part in ("ffn_gate_inp", "ssm_conv1d")):
        return "F32"
    if base in ("BF16", "F16"):
        return base
    if place.name == "output.weight" or (place.tied and place.name == "token_embd.weight"):
        wanted = "Q8_0" if base in ("MXFP4", "Q8_0") or place.columns % 256 and base in BLOCK_256 else "Q6_K"
    elif base == "MXFP4":
        wanted = "MXFP4" if place.stacked else "Q8_0"
    else:
        wanted = _better(mix, place) or base
    return FALLBACKS[wanted] if wanted in BLOCK_256 and place.columns % 256 else wanted


def _better(mix: str, place: Place) -> str | None:
    """The format of a matrix of a layer, where it is not the mix's own."""
    value = place.part in ("attn_v.weight", "attn_qkv.weight")
    down = place.part.startswith("ffn_down")
    if mix == "Q3_K_M":
        if value:
            return "Q5_K" if place.layer < 2 else "Q4_K"
        if down:
            return "Q5_K" if place.layer < place.layers // 16 else "Q4_K"
        return "Q4_K" if place.part == "attn_output.weight" else None
    return "Q6_K" if mix in ("Q4_K_M", "Q5_K_M") and (value or down) and place.deserves_more else None
