#include "text/tokenizer_test_vocabulary.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"

namespace tempo9::text::testing {
namespace {

void append_letter(uint8_t byte, std::string& out) {
  int code_point = byte;
  const bool itself = (byte >= '!' && byte <= '~') || (byte >= 0xA1 && byte <= 0xAC) || byte >= 0xAE;
  if (!itself) {
    if (byte <= ' ') code_point = 256 + byte;
    if (byte >= 0x7F && byte <= 0xA0) code_point = 256 + 33 + (byte - 0x7F);
    if (byte == 0xAD) code_point = 256 + 67;
  }
  if (code_point < 0x80) {
    out += static_cast<char>(code_point);
  } else {
    out += static_cast<char>(0xC0 | code_point >> 6);
    out += static_cast<char>(0x80 | (code_point & 0x3F));
  }
}

}  // namespace

std::string spell_bytes(std::string_view bytes) {
  std::string spelled;
  for (const char byte : bytes) append_letter(static_cast<uint8_t>(byte), spelled);
  return spelled;
}

SmallVocabulary SmallVocabulary::bytes(std::string pre) {
  SmallVocabulary vocabulary("gpt2", std::move(pre));
  for (int byte = 0; byte < 256; ++byte) {
    const char c = static_cast<char>(byte);
    vocabulary.add(spell_bytes(std::string_view(&c, 1)));
  }
  return vocabulary;
}

SmallVocabulary SmallVocabulary::pieces(std::string model) {
  SmallVocabulary vocabulary(std::move(model), "");
  vocabulary.set("tokenizer.ggml.unknown_token_id",
                 static_cast<uint32_t>(vocabulary.add("<unk>", TokenType::kUnknown)));
  vocabulary.add("<s>", TokenType::kControl);
  vocabulary.add("</s>", TokenType::kControl);
  for (int byte = 0; byte < 256; ++byte) vocabulary.add(fmt::format("<0x{:02X}>", byte), TokenType::kByte);
  return vocabulary;
}

TokenId SmallVocabulary::add(std::string text, TokenType type, float score) {
  tokens_.push_back(std::move(text));
  types_.push_back(static_cast<int32_t>(type));
  scores_.push_back(score);
  return static_cast<TokenId>(tokens_.size()) - 1;
}

TokenId SmallVocabulary::join(const std::string& left, const std::string& right) {
  merges_.push_back(left + " " + right);
  const TokenId known = find(left + right);
  return known >= 0 ? known : add(left + right);
}

TokenId SmallVocabulary::find(std::string_view text) const {
  const auto found = std::find(tokens_.begin(), tokens_.end(), text);
  return found == tokens_.end() ? -1 : static_cast<TokenId>(found - tokens_.begin());
}

std::vector<uint8_t> SmallVocabulary::to_gguf() const {
  gguf::Writer writer;
  if (!name_.empty()) writer.set("general.name", std::string_view(name_));
  if (!model_.empty()) writer.set("tokenizer.ggml.model", std::string_view(model_));
  if (!pre_.empty()) writer.set("tokenizer.ggml.pre", std::string_view(pre_));
  writer.set_array("tokenizer.ggml.tokens", tokens_);
  if (!types_.empty()) writer.set_array("tokenizer.ggml.token_type", types_);
  if (!scores_.empty()) writer.set_array("tokenizer.ggml.scores", scores_);
  writer.set_array("tokenizer.ggml.merges", merges_);
  for (const auto& [key, value] : integers_) writer.set(key, value);
  for (const auto& [key, value] : flags_) writer.set(key, value);
  return writer.to_bytes({});
}

Result<std::unique_ptr<Tokenizer>> SmallVocabulary::make() const {
  const std::vector<uint8_t> bytes = to_gguf();
  TRY_ASSIGN(const auto file, gguf::File::parse(bytes));
  return make_tokenizer(file->metadata());  // the file ends here: a tokenizer must not need it
}

std::unique_ptr<Tokenizer> SmallVocabulary::must_make() const {
  auto tokenizer = make();
  if (!tokenizer) fmt::print(stderr, "{}\n", tokenizer.error().message);
  CHECK(tokenizer.has_value());
  return *std::move(tokenizer);
}

}  // namespace tempo9::text::testing
