// Writes the seed corpus of the tokenizer fuzzer: make_tokenizer_seeds fuzz/corpus/tokenizer
#include <cstdio>
#include <fstream>
#include <string>

#include "text/tokenizer_test_vocabulary.h"

namespace {

using namespace tempo9;
using text::testing::SmallVocabulary;

bool write(const std::string& folder, const std::string& name, std::string_view bytes) {
  std::ofstream file(folder + "/" + name, std::ios::binary);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  return static_cast<bool>(file);
}

bool write_vocabulary(const std::string& folder, const std::string& name, SmallVocabulary vocabulary) {
  vocabulary.add("<|end|>", text::TokenType::kControl);
  vocabulary.add("<tag>", text::TokenType::kUserDefined);
  vocabulary.set("tokenizer.ggml.bos_token_id", 1);
  vocabulary.set("tokenizer.ggml.eos_token_id", 2);
  vocabulary.set_flag("tokenizer.ggml.add_bos_token", true);
  const auto bytes = vocabulary.to_gguf();
  return write(folder, name, {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

}  // namespace

int main(int count, char** words) {
  if (count != 2) {
    std::fprintf(stderr, "usage: make_tokenizer_seeds FOLDER\n");
    return 2;
  }
  const std::string folder = words[1];
  SmallVocabulary small("gpt2", "gpt-2");
  for (const char* token : {"a", "b", "\u0120"}) small.add(token);
  small.join("a", "b");
  small.join("\u0120", "ab");
  SmallVocabulary pieces("llama", "default");
  pieces.add("<unk>", text::TokenType::kUnknown);
  pieces.add("<0xFF>", text::TokenType::kByte);
  for (const char* piece : {"\u2581", "a", "b", "ab", "\u2581a"})
    pieces.add(piece, text::TokenType::kNormal, -1);
  SmallVocabulary gemma("gemma4", "");
  for (const char* piece : {"\u2581", "a", "\n"}) gemma.add(piece);
  gemma.join("\n", "\n");
  bool written = write_vocabulary(folder, "byte_level", small) &&
                 write_vocabulary(folder, "pieces", pieces) && write_vocabulary(folder, "gemma", gemma);
  // Vocabulary, rule, content from and to, text.
  constexpr std::string_view kTexts[] = {"Hello, it's 1234 caf\u00E9 e\u0301\n\n  x",
                                         "<|end|> a<tag>s <|end|>",
                                         "\xF0\x9F\x91\xA9\xE2\x80\x8D\xFF\xC3 ab",
                                         "   \t\n \u3000\u0085",
                                         "\u4E2D\u6587 \u0939\u093F\u0928\u094D\u0926\u0940 \u05E9\u05DC",
                                         "whole AbCd don't /\n"};
  for (uint8_t i = 0; i < 14; ++i) {
    const char head[] = {static_cast<char>(i), static_cast<char>(i % 3), 3, 9};
    written = written && write(folder, "text_" + std::to_string(i),
                               std::string(head, sizeof(head)) + std::string(kTexts[i % std::size(kTexts)]));
  }
  return written ? 0 : 1;
}
