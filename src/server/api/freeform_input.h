// The text of a free-form tool's call. The model sees such a tool as a function of one string, `input`, so it
// writes a JSON object; the client wants what stands in the string, as it comes.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace tempo9::server {

// Takes the object's text, cut anywhere. Threads: one at a time.
class FreeformInput {
 public:
  // Gives what more of the string is known.
  std::string push(std::string_view json);
  // After the object's last character. Where it has no such string, all of it is the input: what the model
  // wrote is not lost.
  std::string finish();

 private:
  enum class State { kOutside, kKey, kSkipped, kInput, kOver };
  void step(char c, std::string& text);
  void step_outside(char c);
  void step_escape(char c, std::string& text);
  void add_unit(uint32_t unit, std::string& text);
  void end_surrogate(std::string& text);

  State state_ = State::kOutside;
  int depth_ = 0;         // of objects and arrays
  bool names_ = false;    // the next string of the outer object is a key
  std::string key_;       // the latest one, cut where it is longer than those looked for
  bool escaped_ = false;  // behind a backslash
  int hex_digits_ = 0;    // that \uXXXX lacks
  uint32_t unit_ = 0;     // what they say so far
  uint32_t high_ = 0;     // the first half of a surrogate pair, or 0
  std::string unused_;    // the whole text, until the string begins
};

}  // namespace tempo9::server
