// Where text goes that is read and perhaps rewritten on the way.
#pragma once
#include <string>
#include <string_view>

namespace tempo9::chat {

class Sink {
 public:
  virtual ~Sink() = default;
  virtual void put(std::string_view text) = 0;
};

class NoSink final : public Sink {
 public:
  void put(std::string_view) override {}
};

class StringSink final : public Sink {
 public:
  void put(std::string_view text) override { text_ += text; }
  std::string& text() { return text_; }

 private:
  std::string text_;
};

}  // namespace tempo9::chat
