#include "text/splitter.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <limits>
#include <string>

#include "base/check.h"

namespace tempo9::text {
namespace {

// PCRE2's own \s leaves out U+0085 and takes in U+180E, unlike Unicode's White_Space, which families mean.
std::string spell_out_white_space(std::string_view pattern) {
  constexpr std::string_view kMembers = R"(\t-\r\x{85}\p{Z})";
  std::string spelled;
  bool in_class = false;
  for (size_t i = 0; i < pattern.size(); ++i) {
    const char c = pattern[i];
    if (c == '\\' && i + 1 < pattern.size()) {
      const char escaped = pattern[++i];
      if (escaped == 's' && in_class) {
        spelled += kMembers;
      } else if (escaped == 's' || escaped == 'S') {
        spelled += fmt::format("[{}{}]", escaped == 'S' ? "^" : "", kMembers);
      } else {
        spelled += {c, escaped};
      }
      continue;
    }
    if (c == '[') in_class = true;
    if (c == ']') in_class = false;
    spelled += c;
  }
  return spelled;
}

struct FreeMatch {
  void operator()(pcre2_match_data* match) const { pcre2_match_data_free(match); }
  void operator()(pcre2_match_context* limits) const { pcre2_match_context_free(limits); }
};

// What one match works with.
struct Scratch {
  std::unique_ptr<pcre2_match_data, FreeMatch> match{pcre2_match_data_create(1, nullptr)};
  std::unique_ptr<pcre2_match_context, FreeMatch> limits{pcre2_match_context_create(nullptr)};
};

// Adds the ends of the pieces that `code` makes of text[begin, end).
void split_piece(const pcre2_code* code, const Scratch& scratch, std::string_view text, size_t begin,
                 size_t end, std::vector<size_t>& ends) {
  const std::string_view piece = text.substr(begin, end - begin);
  size_t settled = 0, from = 0;
  while (from < piece.size()) {
    const int found = pcre2_match(code, reinterpret_cast<PCRE2_SPTR>(piece.data()), piece.size(), from,
                                  PCRE2_NO_UTF_CHECK, scratch.match.get(), scratch.limits.get());
    if (found < 0) break;  // no match, or no memory for one: the rest stays one piece
    const PCRE2_SIZE* offsets = pcre2_get_ovector_pointer(scratch.match.get());
    CHECK(offsets[1] > offsets[0]);
    if (offsets[0] > settled) ends.push_back(begin + offsets[0]);
    ends.push_back(begin + offsets[1]);
    settled = from = offsets[1];
  }
  if (settled < piece.size()) ends.push_back(end);
}

}  // namespace

void Splitter::FreeCode::operator()(pcre2_real_code_8* code) const {
  pcre2_code_free(code);
}

Result<Splitter> Splitter::make(std::span<const SplitPass> passes) {
  Splitter splitter;
  for (const SplitPass& pass : passes) {
    const std::string pattern = pass.on_bytes ? pass.pattern : spell_out_white_space(pass.pattern);
    const uint32_t options = pass.on_bytes ? 0 : PCRE2_UTF | PCRE2_UCP;
    int error = 0;
    PCRE2_SIZE where = 0;
    pcre2_code* code = pcre2_compile(reinterpret_cast<PCRE2_SPTR>(pattern.data()), pattern.size(), options,
                                     &error, &where, nullptr);
    if (code == nullptr)
      return fail(ErrorCode::kInternal, "pattern '{}' does not compile: error {} at {}", pattern, error,
                  where);
    splitter.passes_.emplace_back(code);
    pcre2_jit_compile(code,
                      PCRE2_JIT_COMPLETE);  // where there is none, the interpreter gives the same pieces
  }
  return splitter;
}

std::vector<size_t> Splitter::split(std::string_view text) const {
  if (text.empty()) return {};
  std::vector<size_t> ends = {text.size()}, finer;
  const Scratch scratch;
  // The library counts steps to stop patterns that never end. Ours take steps in proportion to a run's
  // length.
  pcre2_set_match_limit(scratch.limits.get(), std::numeric_limits<uint32_t>::max());
  for (const auto& code : passes_) {
    finer.clear();
    size_t begin = 0;
    for (const size_t end : ends) {
      split_piece(code.get(), scratch, text, begin, end, finer);
      begin = end;
    }
    ends.swap(finer);
  }
  return ends;
}

}  // namespace tempo9::text
