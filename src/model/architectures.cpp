#include "model/architectures.h"

#include <algorithm>

#include "model/decoder.h"

namespace tempo9::model {
namespace {

Result<const Architecture*> find_architecture(const gguf::File& file) {
  TRY_ASSIGN(const std::string_view name, file.metadata().string("general.architecture"));
  const auto& list = architectures();
  const auto found =
      std::find_if(list.begin(), list.end(), [&](const Architecture& a) { return a.name == name; });
  if (found != list.end()) return &*found;
  std::vector<std::string_view> names;
  for (const Architecture& a : list) names.push_back(a.name);
  return fail(ErrorCode::kUnsupported, "the architecture '{}' is not supported; supported are: {}", name,
              fmt::join(names, ", "));
}

}  // namespace

const std::vector<Architecture>& architectures() {
  static const std::vector<Architecture> list = {
      {"llama", make_llama, "Llama 2 to 3.3, TinyLlama, Mistral 7B, SmolLM2"},
      {"mistral3", make_mistral3, "Ministral 3"},
      {"qwen3", make_qwen3, "Qwen3, dense"},
      {"qwen3moe", make_qwen3moe, "Qwen3 with experts"},
      {"qwen3vl", make_qwen3vl, "Qwen3-VL, dense"},
      {"qwen3vlmoe", make_qwen3vlmoe, "Qwen3-VL with experts"},
      {"gpt-oss", make_gpt_oss, "gpt-oss 20B and 120B"},
      {"qwen35", make_qwen35, "Qwen3.5, dense"},
      {"qwen35moe", make_qwen35moe, "Qwen3.5 with experts"},
      {"gemma3", make_gemma3, "Gemma 3"},
      {"gemma4", make_gemma4, "Gemma 4, dense"},
  };
  return list;
}

Result<std::unique_ptr<Model>> load_model(const gguf::File& file, backend::Device& device,
                                          const LoadOptions& options, const Progress& progress) {
  TRY_ASSIGN(const Architecture* architecture, find_architecture(file));
  TRY_ASSIGN(std::unique_ptr<Decoder> model, architecture->make(file));
  TRY(model->load({file, device, options, progress}));
  return model;
}

Result<std::vector<std::string>> check_model(const gguf::File& file) {
  TRY_ASSIGN(const Architecture* architecture, find_architecture(file));
  TRY_ASSIGN(const std::unique_ptr<Decoder> model, architecture->make(file));
  TRY(model->check(file));
  return model->remarks();
}

}  // namespace tempo9::model
