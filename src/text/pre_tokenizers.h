// How each family of byte-level vocabularies cuts a text into pieces before merging, by the name that files
// carry in tokenizer.ggml.pre. The table in the .cpp file is the list of what we know.
#pragma once
#include <span>
#include <string_view>

namespace tempo9::text {

// One pass over the pieces of the pass before: every match of the pattern becomes a piece, and so does what
// lies between matches. Patterns see one piece at a time; its end is the end of the text to them.
struct SplitPass {
  const char* pattern;    // Perl syntax, with Unicode properties; \s is Unicode's White_Space
  bool on_bytes = false;  // the pattern sees bytes instead of characters
};

struct PreTokenizer {
  std::string_view name;  // value of tokenizer.ggml.pre
  std::span<const SplitPass> passes;
  // A piece that is a token in itself is that token, even if merging would not arrive there
  // ("ignore_merges").
  bool whole_pieces = false;
  // Text is brought to normalisation form C first.
  bool composes = false;
  // Whether a begin-of-text token is added when the file does not say.
  bool adds_begin_of_text = false;
};

// Null if we do not know it.
const PreTokenizer* find_pre_tokenizer(std::string_view name);

}  // namespace tempo9::text
