#include "engine/loader.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "base/limits.h"
#include "base/system_memory.h"
#include "gguf/file.h"

namespace tempo9::engine {
namespace {

// Of what is free once the weights are in, this share may become KV pages unless --kv-memory says otherwise.
constexpr double kKvShareOfFree = 0.6;

Result<backend::KvType> kv_type_named(std::string_view name) {
  static const std::map<std::string_view, backend::KvType> types = {{"f32", backend::KvType::kF32},
                                                                    {"f16", backend::KvType::kF16},
                                                                    {"bf16", backend::KvType::kBF16},
                                                                    {"q8_0", backend::KvType::kQ8_0}};
  const auto found = types.find(name);
  if (found == types.end())
    return fail(ErrorCode::kInvalidArgument, "unknown KV type '{}'; known are f32, f16, bf16, q8_0", name);
  return found->second;
}

// The format that holds most of the weights' bytes.
std::string main_format(const gguf::File& file) {
  std::map<uint32_t, uint64_t> bytes;
  for (const gguf::Tensor& tensor : file.tensors()) bytes[tensor.type] += tensor.data.size();
  if (bytes.empty()) return "";
  const auto most = std::max_element(bytes.begin(), bytes.end(),
                                     [](const auto& a, const auto& b) { return a.second < b.second; });
  return quant::type_name(most->first);
}

std::string model_id(const gguf::File& file, const std::string& path) {
  std::string id(file.metadata().string_or("general.name", "").value_or(""));
  if (id.empty()) id = std::filesystem::path(path).stem().string();
  for (char& c : id)
    if (!std::isalnum(static_cast<unsigned char>(c)) &&
        std::string_view("-_.:").find(c) == std::string_view::npos)
      c = '-';
  return id;
}

// Local models wander at temperature 1; these values are the usual ones of local servers, and the file may
// know better.
Result<sample::SamplingOptions> default_sampling(const gguf::Metadata& metadata) {
  sample::SamplingOptions options;
  TRY_ASSIGN(const double temperature, metadata.real_or("general.sampling.temp", 0.8));
  TRY_ASSIGN(const uint64_t top_k, metadata.unsigned_integer_or("general.sampling.top_k", 40));
  TRY_ASSIGN(const double top_p, metadata.real_or("general.sampling.top_p", 0.95));
  TRY_ASSIGN(const double min_p, metadata.real_or("general.sampling.min_p", 0.05));
  TRY_ASSIGN(const double repetition, metadata.real_or("general.sampling.penalty_repeat", 1.0));
  options.temperature = static_cast<float>(temperature);
  options.top_k = static_cast<int>(std::min<uint64_t>(top_k, 1 << 20));
  options.top_p = static_cast<float>(top_p);
  options.min_p = static_cast<float>(min_p);
  options.repetition_penalty = static_cast<float>(repetition);
  return options;
}

Result<EmbeddingInfo> describe_embedding(const gguf::Metadata& metadata, const std::string& architecture) {
  EmbeddingInfo embedding;
  TRY_ASSIGN(const uint64_t type, metadata.unsigned_integer_or(architecture + ".pooling_type", 0));
  embedding.stated = type != 0;
  if (!embedding.stated) return embedding;
  TRY_ASSIGN(embedding.pooling, pooling_of_type(type));
  return embedding;
}

Result<ModelInfo> describe(const gguf::File& file, const std::string& path,
                           const text::Tokenizer& tokenizer) {
  ModelInfo info;
  info.id = model_id(file, path);
  info.path = path;
  TRY_ASSIGN(const auto architecture, file.metadata().string("general.architecture"));
  TRY_ASSIGN(const auto chat_template, file.metadata().string_or("tokenizer.chat_template", ""));
  info.architecture = architecture;
  info.chat_template = chat_template;
  if (const auto token = tokenizer.begin_of_text()) info.begin_text = tokenizer.name(*token);
  if (const auto token = tokenizer.end_of_text()) info.end_text = tokenizer.name(*token);
  info.vocabulary_size = tokenizer.vocabulary_size();
  info.file_bytes = file.total_bytes();
  for (const gguf::Tensor& tensor : file.tensors()) info.parameters += tensor.columns() * tensor.rows();
  info.quantisation = main_format(file);
  TRY_ASSIGN(info.embedding, describe_embedding(file.metadata(), info.architecture));
  TRY_ASSIGN(info.default_sampling, default_sampling(file.metadata()));
  TRY(sample::check(info.default_sampling, info.vocabulary_size));
  return info;
}

}  // namespace

Result<std::vector<std::string>> check_runnable(const gguf::File& file) {
  TRY_ASSIGN(std::vector<std::string> remarks, model::check_model(file));
  TRY(text::make_tokenizer(file.metadata()));
  return remarks;
}

Result<LoadedModel> load_model_parts(const EngineOptions& options, int max_logit_rows,
                                     const Progress& progress) {
  LoadedModel loaded;
  TRY_ASSIGN(loaded.file, gguf::File::open(options.model_path));
  TRY_ASSIGN(loaded.tokenizer, text::make_tokenizer(loaded.file->metadata()));
  TRY_ASSIGN(loaded.info, describe(*loaded.file, options.model_path, *loaded.tokenizer));
  TRY_ASSIGN(const backend::KvType kv_type, kv_type_named(options.kv_type));
  TRY_ASSIGN(auto device, backend::create_device(options.device, {options.threads, "", options.timed}));

  RunnerOptions runner;
  runner.kv_type = kv_type;
  runner.max_rows = options.step_tokens;
  runner.max_logit_rows = max_logit_rows;
  runner.max_context = options.max_context;
  runner.kv_memory_bytes = options.kv_memory_bytes;
  if (runner.kv_memory_bytes == 0) {
    const uint64_t available = device->free_bytes().value_or(available_memory_bytes()),
                   weights = loaded.file->total_bytes();
    runner.kv_memory_bytes = static_cast<uint64_t>(
        kKvShareOfFree * static_cast<double>(available > weights ? available - weights : 0));
  }
  TRY_ASSIGN(loaded.runner, ModelRunner::load(*loaded.file, std::move(device), runner, progress));
  for (const std::string& remark : loaded.runner->remarks())
    spdlog::warn("{}: {}", options.model_path, remark);
  if (loaded.runner->vocabulary_size() < loaded.tokenizer->vocabulary_size())
    return fail(ErrorCode::kCorrupt, "the tokenizer has {} tokens, the model only {} rows for them",
                loaded.tokenizer->vocabulary_size(), loaded.runner->vocabulary_size());
  loaded.info.embedding.size = loaded.runner->hidden_size();
  loaded.info.keeps_state = loaded.runner->kv().has_states();
  loaded.info.context_length = loaded.runner->max_context();
  loaded.info.trained_context_length = loaded.runner->trained_context();
  return loaded;
}

std::vector<TokenId> encode_prompt(const text::Tokenizer& tokenizer, std::string_view text,
                                   const text::SpecialTokens& special) {
  std::vector<TokenId> ids = tokenizer.encode(text, special);
  const std::optional<TokenId> begin = tokenizer.begin_of_text();
  if (tokenizer.adds_begin_of_text() && begin && (ids.empty() || ids.front() != *begin))
    ids.insert(ids.begin(), *begin);
  return ids;
}

}  // namespace tempo9::engine
