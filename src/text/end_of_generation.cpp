// Which tokens end a reply. The rule, all of it:
//   1. The tokens that the file names as end of text, end of turn and end of message.
//   2. Tokens whose text is known to end a turn in some family (kEnds): few files name them all, and a model
//      that writes one has finished whatever the file says.
//   3. Tokens that part files in code models, named by the file or by their text (kFileMarks): a model that
//      begins another file has finished this one.
// By its text a normal token counts only if it begins with "<|", which nobody writes as prose ("</s>" is a
// normal token of Gemma 4, where it is a tag of HTML).
// Exception: "<|end|>" ends a message, not the reply, where a reply has several messages. Such vocabularies
// have both of harmony's ends ("<|return|>", "<|call|>") or of Solar's ("<|flush|>", "<|calls|>"). What
// counts by its text or is user-defined becomes a control token: content must not forge a turn's end.
#include <algorithm>
#include <array>

#include "text/vocabulary.h"

namespace tempo9::text {
namespace {

constexpr std::array<std::string_view, 6> kEndKeys = {
    "tokenizer.ggml.eos_token_id",     "tokenizer.ggml.eot_token_id",     "tokenizer.ggml.eom_token_id",
    "tokenizer.ggml.fim_pad_token_id", "tokenizer.ggml.fim_rep_token_id", "tokenizer.ggml.fim_sep_token_id",
};

constexpr std::array<std::string_view, 26> kEnds = {
    "</s>",             // SentencePiece
    "<|endoftext|>",    // GPT-2, Qwen, SmolLM
    "<|end_of_text|>",  // Llama 3, Granite
    "<|eot_id|>",
    "<|eot|>",  // Llama 3, Llama 4: end of turn
    "<|eom_id|>",
    "<|eom|>",     // likewise: end of message, a tool call
    "<|im_end|>",  // ChatML: Qwen, SmolLM
    "<|end|>",     // Phi-3
    "<|return|>",
    "<|call|>",  // harmony: the last message, a tool call
    "<|flush|>",
    "<|calls|>",              // Solar
    "<eos>",                  // Gemma
    "<end_of_turn>",          // Gemma 2, Gemma 3
    "<turn|>",                // Gemma 4
    "<|tool_response>",       // Gemma 4: the client is to answer its calls
    "<|END_OF_TURN_TOKEN|>",  // Command R
    "<｜end▁of▁sentence｜>",  // DeepSeek
    "<|EOT|>",                // DeepSeek Coder
    "[EOT]",
    "[EOS]",  // Kimi
    "<EOT>",
    "_<EOT>",              // CodeLlama
    "<end_of_utterance>",  // SmolVLM
    "[e~[",                // MiniMax
};

constexpr std::array<std::string_view, 6> kFileMarks = {
    "<|fim_pad|>", "<|repo_name|>", "<|file_sep|>",  // Qwen Coder
    "<repo_name>", "<reponame>",    "<file_sep>",    // StarCoder, SmolLM
};

template <class List>
bool contains(const List& list, std::string_view text) {
  return std::find(list.begin(), list.end(), text) != list.end();
}

}  // namespace

Status Vocabulary::mark_ends_of_generation(const gguf::Metadata& metadata) {
  ends_.assign(texts_.size(), false);
  for (const std::string_view key : kEndKeys) {
    TRY_ASSIGN(const std::optional<TokenId> token, read_id(metadata, key));
    if (token) ends_[static_cast<size_t>(*token)] = true;
  }

  std::vector<std::string_view> found;  // of kEnds
  for (TokenId token = 0; token < size(); ++token) {
    const std::string_view name = text(token);
    const bool may_count = type(token) != TokenType::kNormal || name.starts_with("<|");
    const bool known = may_count && (contains(kEnds, name) || contains(kFileMarks, name));
    if (known) {
      ends_[static_cast<size_t>(token)] = true;
      found.push_back(name);
    }
    const bool ends = ends_[static_cast<size_t>(token)];
    if (known || (ends && type(token) == TokenType::kUserDefined))
      types_[static_cast<size_t>(token)] = TokenType::kControl;
  }

  const bool harmony = contains(found, "<|return|>") && contains(found, "<|call|>");
  const bool solar = contains(found, "<|flush|>") && contains(found, "<|calls|>");
  if (harmony || solar)
    for (TokenId token = 0; token < size(); ++token)
      if (text(token) == "<|end|>") ends_[static_cast<size_t>(token)] = false;
  return {};
}

}  // namespace tempo9::text
