// Schemas and regular expressions, as they come with a request: whatever is accepted must compile, and a
// reply under it must be able to go on as long as its mask allows something. The first byte says which of
// both it is.
#include <algorithm>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "base/limits.h"
#include "grammar/compiled.h"
#include "grammar/matcher.h"
#include "grammar/structural_tag.h"
#include "grammar/testing/acceptance.h"

namespace {

using namespace tempo9::grammar;

constexpr size_t kMostInput = 4096, kMostCompiled = 20'000;  // larger ones are slow and teach nothing new
constexpr int kSteps = 24;

// The first allowed token behind one that moves with each step, so that different branches are taken.
tempo9::TokenId choose(TokenMask mask, int step) {
  for (int i = 0; i < testing::Bytes::kEnd; ++i) {
    const int token = (i + 37 * step + '"') % testing::Bytes::kEnd;
    if (testing::is_allowed(mask, token)) return token;
  }
  return -1;
}

void follow(const std::shared_ptr<const CompiledGrammar>& grammar) {
  auto matcher = Matcher::make(grammar);
  CHECK(matcher.has_value());
  for (int step = 0; step < kSteps; ++step) {
    const auto mask = matcher->allowed();
    CHECK(mask.has_value());
    CHECK(testing::is_allowed(*mask, testing::Bytes::kEnd) == matcher->complete());
    const tempo9::TokenId token = choose(*mask, step);
    if (token < 0) return;
    CHECK(matcher->accept(token).has_value());
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const testing::Bytes bytes;
  static const auto vocabulary = Vocabulary::make(bytes);
  if (size < 2 || size > kMostInput) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  Form form{Form::Kind::kRegex, std::string(text)};
  if (data[0] % 2 == 0) {
    int depth = 0;
    const auto shallow = [&](int level, Json::parse_event_t, Json&) {
      depth = std::max(depth, level);
      return true;
    };
    Json schema = Json::parse(text, shallow, false);
    if (schema.is_discarded() || depth > tempo9::limits::kMaxJsonDepth) return 0;
    form = schema_form(std::move(schema), "schema");
  }
  const auto tag = to_structural_tag(form, {});
  if (!tag || tag->size() > kMostCompiled) return 0;
  const auto compiled = CompiledGrammar::compile(**vocabulary, *tag);
  CHECK(compiled.has_value());
  follow(*compiled);
  return 0;
}
