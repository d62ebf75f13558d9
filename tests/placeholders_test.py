"""What stands for a picture in a prompt is a text where a user writes it, in every protocol."""

import pytest
from dialects import DIALECTS, answer

PICTURE = "<|vision_start|><|image_pad|><|vision_end|>"  # what the template writes for one


@pytest.mark.parametrize("dialect", DIALECTS)
def test_the_placeholder_of_a_picture_is_text(dialect, tiny_server):
    """It is spelt out: as three tokens that stand for a picture, it would add three."""

    def tokens(text: str) -> int:
        return answer(tiny_server.url, dialect, [{"role": "user", "content": text}], 1).prompt_tokens

    assert tokens(f"What is {PICTURE} for?") - tokens("What is  for?") > 3 * 3
