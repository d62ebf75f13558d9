// A string that remembers which of its bytes came from the request. Marks survive every operation of the
// engine: a byte copied from the request stays marked wherever it goes, and where bytes cannot be followed
// one by one the whole result is marked. Equality and order look at the bytes alone.
//
// A text that has a meter counts its memory there, and so do copies and parts of it. Where the meter refuses
// growth the text stays as it is; the rendering that asked for it is about to fail.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "chat/jinja/meter.h"

namespace tempo9::chat::jinja {

// Bytes [begin, end).
struct Mark {
  size_t begin, end;
  bool operator==(const Mark&) const = default;
};

class Text {
 public:
  Text() = default;
  explicit Text(Meter* meter) : meter_(meter) {}
  // Bytes of the template itself, which nobody counts.
  explicit Text(std::string literal) : bytes_(std::move(literal)) {}
  explicit Text(std::string_view literal) : bytes_(literal) {}
  explicit Text(const char* literal) : bytes_(literal) {}
  // Bytes of the request.
  static Text content(std::string bytes);
  Text(const Text& other);
  Text(Text&& other) noexcept;
  Text& operator=(Text other) noexcept;
  ~Text();

  const std::string& bytes() const { return bytes_; }
  std::string_view view() const { return bytes_; }
  size_t size() const { return bytes_.size(); }
  bool empty() const { return bytes_.empty(); }
  // Ascending, disjoint, not touching, none empty.
  const std::vector<Mark>& marks() const { return marks_; }
  bool has_content() const { return !marks_.empty(); }

  // Python's Markup: what `|safe` and `|escape` return. Joining other text to it escapes that text for HTML.
  bool is_markup() const { return markup_; }
  void set_markup(bool markup) { markup_ = markup; }

  // The same text, counted by another meter, or by none.
  Text counted_by(Meter* meter) &&;
  void reserve(size_t bytes) { make_room(bytes, false); }
  void append(std::string_view literal);
  void append(const Text& text) { append(text, 0, text.size()); }
  void append(const Text& text, size_t begin, size_t end);
  Text slice(size_t begin, size_t end) const;
  Text repeat(size_t count) const;
  // A text computed from this one: content as a whole if any byte of this one is.
  Text derive(std::string bytes) const;
  void mark_all();

 private:
  bool make_room(size_t bytes, bool for_more);
  bool make_room_for_mark();
  void add_mark(size_t begin, size_t end);
  void recount();
  std::string bytes_;
  std::vector<Mark> marks_;
  Meter* meter_ = nullptr;
  size_t counted_ = 0;
  bool markup_ = false;
};

}  // namespace tempo9::chat::jinja
