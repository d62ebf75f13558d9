// GPT-2's spelling of bytes in token texts: every byte is one printable character. Bytes that are printable
// in Latin-1 stand for themselves; the other 68, in order, are U+0100 and up (so a space is U+0120). Source:
// bytes_to_unicode() in encoder.py of github.com/openai/gpt-2.
#pragma once
#include <optional>
#include <string>
#include <string_view>

namespace tempo9::text {

// The bytes that `text` spells; none if it holds a character outside the alphabet.
std::optional<std::string> decode_byte_alphabet(std::string_view text);

}  // namespace tempo9::text
