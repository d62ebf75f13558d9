// Bodies of OpenAI's Responses.
#include <cstdint>
#include <string_view>

#include "request_checks.h"
#include "server/api/responses_request.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view body(reinterpret_cast<const char*>(data), size);
  tempo9::fuzz::check_parse(tempo9::server::parse_openai_responses, body);
  return 0;
}
