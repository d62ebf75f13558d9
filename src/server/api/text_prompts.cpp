#include "server/api/text_prompts.h"

#include <utility>

namespace tempo9::server {
namespace {

std::vector<TokenId> read_ids(const Json& array, const FieldPath& path, int vocabulary_size, Faults& faults) {
  std::vector<TokenId> ids;
  for (size_t i = 0; i < array.size(); ++i) {
    const Json& element = array[i];
    const bool is_id = element.is_number_integer() && element >= 0 && element < vocabulary_size;
    if (!is_id) {
      faults.report(ErrorCode::kInvalidArgument, path.element(i),
                    fmt::format("expected a token id from 0 to {}", vocabulary_size - 1));
      return {};
    }
    ids.push_back(element.get<TokenId>());
  }
  return ids;
}

}  // namespace

std::vector<TextPrompt> read_text_prompts(Fields& fields, std::string_view name, int vocabulary_size,
                                          size_t most) {
  const Json* prompt = fields.any(name);
  const FieldPath path = fields.path().member(name);
  std::vector<TextPrompt> prompts;
  if (prompt == nullptr) {
    fields.refuse(ErrorCode::kInvalidArgument, name, "this field is required");
  } else if (prompt->is_string()) {
    prompts.emplace_back(prompt->get<std::string>());
  } else if (!prompt->is_array() || prompt->empty()) {
    fields.refuse(ErrorCode::kInvalidArgument, name,
                  "expected a string, or an array that is not empty of strings or token ids");
  } else if (prompt->front().is_number()) {
    prompts.emplace_back(read_ids(*prompt, path, vocabulary_size, fields.faults()));
  } else if (prompt->size() > most) {
    fields.refuse(ErrorCode::kInvalidArgument, name, fmt::format("at most {} texts are allowed", most));
  } else {
    for (size_t i = 0; i < prompt->size(); ++i) {
      const Json& element = (*prompt)[i];
      if (element.is_string())
        prompts.emplace_back(element.get<std::string>());
      else if (element.is_array())
        prompts.emplace_back(read_ids(element, path.element(i), vocabulary_size, fields.faults()));
      else
        fields.faults().report(
            ErrorCode::kInvalidArgument, path.element(i),
            fmt::format("expected a string or an array of token ids, but got {}", kind_of(element)));
    }
  }
  return prompts;
}

}  // namespace tempo9::server
