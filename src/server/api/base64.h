// Bytes as text (RFC 4648).
#pragma once
#include <optional>
#include <string>
#include <string_view>

namespace tempo9::server {

// The standard alphabet, with padding.
std::string encode_base64(std::string_view bytes);

// Nothing if it is malformed. Takes the standard alphabet and that for URLs, with or without padding, and
// line breaks.
std::optional<std::string> decode_base64(std::string_view text);

// Reasoning in a form that clients treat as sealed: some send back nothing else of it. Not a secret.
std::string pack_reasoning(std::string_view reasoning);
// Nothing if another server made it.
std::optional<std::string> unpack_reasoning(std::string_view packed);

}  // namespace tempo9::server
