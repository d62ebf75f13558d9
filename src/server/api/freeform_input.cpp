#include "server/api/freeform_input.h"

#include <utility>

namespace tempo9::server {
namespace {

constexpr std::string_view kInputName = "input";
constexpr uint32_t kReplacement = 0xFFFD;  // for half a surrogate pair

bool is_high(uint32_t unit) {
  return unit >= 0xD800 && unit < 0xDC00;
}

bool is_low(uint32_t unit) {
  return unit >= 0xDC00 && unit < 0xE000;
}

void append_utf8(std::string& text, uint32_t character) {
  const auto put = [&](uint32_t byte) { text += static_cast<char>(byte); };
  if (character < 0x80) return put(character);
  if (character < 0x800) {
    put(0xC0 | character >> 6);
  } else {
    if (character < 0x10000) {
      put(0xE0 | character >> 12);
    } else {
      put(0xF0 | character >> 18);
      put(0x80 | (character >> 12 & 0x3F));
    }
    put(0x80 | (character >> 6 & 0x3F));
  }
  put(0x80 | (character & 0x3F));
}

char unescape(char c) {
  switch (c) {
    case 'b':
      return '\b';
    case 'f':
      return '\f';
    case 'n':
      return '\n';
    case 'r':
      return '\r';
    case 't':
      return '\t';
    default:
      return c;  // a quote, a backslash or a slash
  }
}

uint32_t hex_value(char c) {
  if (c >= '0' && c <= '9') return static_cast<uint32_t>(c - '0');
  return static_cast<uint32_t>((c | 0x20) - 'a' + 10) & 0xF;
}

}  // namespace

std::string FreeformInput::push(std::string_view json) {
  if (state_ != State::kInput && state_ != State::kOver) unused_ += json;
  std::string text;
  for (const char c : json) step(c, text);
  if (state_ == State::kInput || state_ == State::kOver) unused_.clear();
  return text;
}

std::string FreeformInput::finish() {
  std::string text = std::exchange(unused_, {});
  end_surrogate(text);
  return text;
}

void FreeformInput::step(char c, std::string& text) {
  switch (state_) {
    case State::kOutside:
      return step_outside(c);
    case State::kKey:
      if (c == '"')
        state_ = State::kOutside;
      else if (key_.size() <= kInputName.size())
        key_ += c;
      return;
    case State::kSkipped:
      if (!std::exchange(escaped_, !escaped_ && c == '\\') && c == '"') state_ = State::kOutside;
      return;
    case State::kInput:
      if (hex_digits_ > 0 || escaped_) return step_escape(c, text);
      if (c == '\\') {
        escaped_ = true;
        return;
      }
      end_surrogate(text);
      if (c == '"')
        state_ = State::kOver;
      else
        text += c;
      return;
    case State::kOver:
      return;
  }
}

void FreeformInput::step_outside(char c) {
  if (c == '{' || c == '[') {
    ++depth_;
    names_ = depth_ == 1;
  } else if (c == '}' || c == ']') {
    --depth_;
  } else if (depth_ == 1 && c == ',') {
    names_ = true;
  } else if (depth_ == 1 && c == ':') {
    names_ = false;
  } else if (c == '"' && depth_ == 1 && names_) {
    key_.clear();
    state_ = State::kKey;
  } else if (c == '"') {
    state_ = depth_ == 1 && key_ == kInputName ? State::kInput : State::kSkipped;
  }
}

void FreeformInput::step_escape(char c, std::string& text) {
  if (hex_digits_ > 0) {
    unit_ = unit_ << 4 | hex_value(c);
    if (--hex_digits_ == 0) add_unit(unit_, text);
    return;
  }
  escaped_ = false;
  if (c == 'u') {
    hex_digits_ = 4;
    unit_ = 0;
  } else {
    end_surrogate(text);
    text += unescape(c);
  }
}

void FreeformInput::add_unit(uint32_t unit, std::string& text) {
  if (high_ != 0 && is_low(unit)) {
    append_utf8(text, 0x10000 + ((std::exchange(high_, 0) - 0xD800) << 10) + (unit - 0xDC00));
    return;
  }
  end_surrogate(text);
  if (is_high(unit))
    high_ = unit;
  else
    append_utf8(text, is_low(unit) ? kReplacement : unit);
}

void FreeformInput::end_surrogate(std::string& text) {
  if (std::exchange(high_, 0) != 0) append_utf8(text, kReplacement);
}

}  // namespace tempo9::server
