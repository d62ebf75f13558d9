// Token ids to the text of one reply: streaming detokeniser plus stop strings. Text that may be the beginning
// of a stop string is held back until that is decided; a stop string and all behind it are never emitted. The
// stop string that is complete first wins (the longest of those complete at the same byte), so the outcome
// depends on the text alone, not on how it was cut into tokens.
// Threads: one at a time. Does not own the tokenizer.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "text/detokenizer.h"

namespace tempo9::engine {

class TokenStream {
 public:
  // Empty stop strings are ignored. Work per byte of text is linear in the number of stop strings.
  // `shown`: names of control tokens that are to be reported. No stop string reaches across them. Behind
  // `silent` ones of them, up to the next that is shown, there is none: that text is not the reply's.
  TokenStream(const text::Tokenizer& tokenizer, const std::vector<std::string>& stop_strings,
              std::vector<std::string> shown = {}, std::vector<std::string> silent = {});

  struct Piece {
    std::string text;               // valid UTF-8, may be empty
    bool stopped = false;           // a stop string is complete; nothing more will come
    std::string_view control = {};  // the name of a control token that stands behind the text; valid as long
                                    // as the tokenizer
  };
  Piece push(TokenId token);
  // Flushes what was held back. After `stopped` it gives nothing.
  Piece finish();
  // The stop string that ended the reply; empty if none did.
  const std::string& matched() const { return matched_; }

 private:
  // Follows one stop string through the text (Knuth, Morris, Pratt).
  struct Matcher {
    explicit Matcher(std::string stop);
    bool advance(char byte);  // true: complete with this byte
    std::string stop;
    std::vector<size_t> border;  // of each prefix: its longest proper prefix that is also its suffix
    size_t length = 0;           // bytes of `stop` that the text's end agrees with
  };
  bool shows(TokenId token) const;
  Piece push_control(TokenId token);
  Piece settle(const std::string& text, bool final);
  std::optional<size_t> find_stop(const std::string& text);

  const text::Tokenizer& tokenizer_;
  std::vector<std::string> shown_, silent_;
  text::Detokenizer detokenizer_;
  std::vector<Matcher> matchers_;
  std::string held_, matched_;
  bool stopped_ = false, listening_ = true;
};

}  // namespace tempo9::engine
