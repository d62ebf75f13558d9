// The list of architectures: one file each under arch/, one line each in architectures.cpp.
#pragma once
#include <memory>
#include <string_view>
#include <vector>

#include "model/model.h"

namespace tempo9::model {

class Decoder;

struct LoadContext {
  const gguf::File& file;
  backend::Device& device;
  const LoadOptions& options;
  const Progress& progress;
};

struct Architecture {
  std::string_view name;  // general.architecture
  // Reads and checks the file's keys; the weights are not there yet.
  Result<std::unique_ptr<Decoder>> (*make)(const gguf::File& file);
  std::string_view models;    // published ones, for people
  bool takes_images = false;  // whether pictures are claimed, not only text
};

const std::vector<Architecture>& architectures();

// arch/<name>.cpp
Result<std::unique_ptr<Decoder>> make_llama(const gguf::File& file);
Result<std::unique_ptr<Decoder>> make_mistral3(const gguf::File& file);
Result<std::unique_ptr<Decoder>> make_qwen3(const gguf::File& file);
Result<std::unique_ptr<Decoder>> make_qwen3moe(const gguf::File& file);
Result<std::unique_ptr<Decoder>> make_qwen3vl(const gguf::File& file);
Result<std::unique_ptr<Decoder>> make_qwen3vlmoe(const gguf::File& file);
Result<std::unique_ptr<Decoder>> make_gpt_oss(const gguf::File& file);
Result<std::unique_ptr<Decoder>> make_qwen35(const gguf::File& file);
Result<std::unique_ptr<Decoder>> make_qwen35moe(const gguf::File& file);
Result<std::unique_ptr<Decoder>> make_gemma3(const gguf::File& file);
Result<std::unique_ptr<Decoder>> make_gemma4(const gguf::File& file);

}  // namespace tempo9::model
