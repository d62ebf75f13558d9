// Gemma 4's tokenizer: SentencePiece's way of writing spaces and bytes, with a list of merges instead of
// scores, and no space in front of the text.
#include "text/character_bpe.h"
#include "text/merge_list.h"
#include "text/tokenizer_kinds.h"

namespace tempo9::text {

Result<std::unique_ptr<Tokenizer>> make_gemma(const gguf::Metadata& metadata) {
  TRY_ASSIGN(Vocabulary vocabulary, Vocabulary::read(metadata));
  TRY_ASSIGN(MergeTable merges, read_merges(metadata, vocabulary));
  TRY_ASSIGN(const bool adds_space, metadata.boolean_or("tokenizer.ggml.add_space_prefix", false));
  CharacterBpe::Defaults defaults = {
      .kind = "Gemma 4 BPE",
      .begin = vocabulary.begin_of_text(),
      .end = vocabulary.end_of_text(),
      // Early files say no; the model is lost without it.
      .adds_begin = true,
      .adds_end = vocabulary.adds_end_of_text().value_or(false),
  };
  return CharacterBpe::make(std::move(vocabulary), std::move(defaults), std::move(merges), adds_space);
}

}  // namespace tempo9::text
