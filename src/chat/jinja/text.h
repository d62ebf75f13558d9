// A string that remembers which of its bytes came from the request. Marks survive every operation of the
// engine: a byte copied from the request stays marked wherever it goes, and where bytes cannot be followed
// one by one the whole result is marked. Equality and order look at the bytes alone.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace tempo9::chat::jinja {

// Bytes [begin, end).
struct Mark {
  size_t begin, end;
  bool operator==(const Mark&) const = default;
};

class Text {
 public:
  Text() = default;
  // Bytes of the template itself.
  explicit Text(std::string literal) : bytes_(std::move(literal)) {}
  explicit Text(std::string_view literal) : bytes_(literal) {}
  explicit Text(const char* literal) : bytes_(literal) {}
  // Bytes of the request.
  static Text content(std::string bytes);

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

  void reserve(size_t bytes) { bytes_.reserve(bytes); }
  void append(std::string_view literal) { bytes_.append(literal); }
  void append(const Text& text) { append(text, 0, text.size()); }
  void append(const Text& text, size_t begin, size_t end);
  Text slice(size_t begin, size_t end) const;
  Text repeat(size_t count) const;
  // A text computed from this one: content as a whole if any byte of this one is.
  Text derive(std::string bytes) const;
  void mark_all();

 private:
  void add_mark(size_t begin, size_t end);
  std::string bytes_;
  std::vector<Mark> marks_;
  bool markup_ = false;
};

}  // namespace tempo9::chat::jinja
