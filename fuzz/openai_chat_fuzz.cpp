// Bodies of OpenAI requests, as chat and as completion.
#include <cstdint>
#include <string_view>

#include "request_checks.h"
#include "server/api/openai_chat_request.h"
#include "server/api/openai_completions_request.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view body(reinterpret_cast<const char*>(data), size);
  tempo9::fuzz::check_parse(tempo9::server::parse_openai_chat, body);
  tempo9::fuzz::check_parse(tempo9::server::parse_openai_completions, body);
  return 0;
}
