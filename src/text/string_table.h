// Many short strings in one allocation.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace tempo9::text {

class StringTable {
 public:
  void push_back(std::string_view string) {
    bytes_ += string;
    ends_.push_back(bytes_.size());
  }
  size_t size() const { return ends_.size(); }
  std::string_view operator[](size_t index) const {
    const size_t begin = index == 0 ? 0 : ends_[index - 1];
    return std::string_view(bytes_).substr(begin, ends_[index] - begin);
  }

 private:
  std::string bytes_;
  std::vector<size_t> ends_;
};

}  // namespace tempo9::text
