#include "tidy/functions.h"

#include <algorithm>
#include <regex>

#include "tidy/source.h"

namespace tempo9::tidy {
namespace {

// What an opening brace begins, told by its head: the text between the last `;`, `{` or `}` and the brace.
enum class Scope { kNamespace, kType, kFunction, kInitializer };

// Cuts out a `template <...>` introduction, attributes and alignas: they hold words that would mislead.
std::string strip_decorations(std::string head) {
  static const std::regex kDecoration(R"(\[\[[^\]]*\]\]|(alignas|__attribute__)\s*\((\([^)]*\)|[^()])*\))");
  head = std::regex_replace(head, kDecoration, " ");
  for (size_t at = head.find("template"); at != std::string::npos; at = head.find("template", at)) {
    size_t end = head.find('<', at);
    int depth = 0, parens = 0;
    for (; end < head.size(); ++end) {
      if (head[end] == '(') ++parens;
      if (head[end] == ')') --parens;
      if (head[end] == '<' && parens == 0) ++depth;
      if (head[end] == '>' && parens == 0 && --depth == 0) break;
    }
    head.erase(at, std::min(end, head.size()) - at + 1);
  }
  return head;
}

Scope classify(const std::string& raw_head) {
  const std::string head = strip_decorations(raw_head);
  const std::string_view text = trim(head);
  if (text.ends_with('=')) return Scope::kInitializer;
  if (has_word(text, "namespace")) return Scope::kNamespace;
  if (text.starts_with("extern") && text.find('(') == std::string_view::npos && text.ends_with('"')) {
    return Scope::kNamespace;  // extern "C"
  }
  const bool has_parens = text.find('(') != std::string_view::npos;
  for (const char* word : {"class", "struct", "union", "enum"}) {
    if (has_word(text, word) && !has_parens) return Scope::kType;
  }
  return has_parens || text.ends_with(']') ? Scope::kFunction : Scope::kInitializer;
}

std::string function_name(const std::string& head) {
  static const std::regex kName(R"(([~\w:]+|operator[^\w\s(]+)\s*\()");
  const std::string declaration = strip_decorations(head);
  std::smatch match;
  return std::regex_search(declaration, match, kName) ? match[1].str() : "lambda";
}

class Walker {
 public:
  explicit Walker(std::string_view code) : code_(code) {}

  std::optional<std::vector<Function>> run() {
    for (at_ = 0; at_ < code_.size(); ++at_) {
      const char c = code_[at_];
      if (c == '\n') ++line_;
      if (c == '{') {
        open();
      } else if (c == '}') {
        if (open_.empty()) return std::nullopt;
        close();
      } else if (!inside_function()) {
        extend_head(c);
      }
    }
    if (!open_.empty()) return std::nullopt;
    return std::move(functions_);
  }

 private:
  struct Head {
    std::string text;
    int first_line = 0;  // of its first character that is not a space
    int parens = 0;
  };
  struct Open {
    Scope scope;
    Head head;
  };

  bool inside_function() const { return !open_.empty() && open_.back().scope == Scope::kFunction; }

  void open() {
    const Scope scope = inside_function() ? Scope::kFunction : classify(head_.text);
    open_.push_back({scope, head_});
    head_ = {};
  }

  void close() {
    Open closed = std::move(open_.back());
    open_.pop_back();
    if (inside_function()) return;  // a block within a body
    const size_t next = code_.find_first_not_of(" \t\n", at_ + 1);
    // `Type::Type() : member_{1} {`: what looked like a body was a member's initialiser, and the head goes
    // on.
    const bool more_follows = next != std::string_view::npos && (code_[next] == ',' || code_[next] == '{');
    const bool inside_expression = closed.head.parens > 0 || closed.scope == Scope::kInitializer;
    if (closed.scope == Scope::kFunction && !more_follows) {
      functions_.push_back({function_name(closed.head.text), closed.head.first_line, line_});
    }
    const bool head_goes_on = inside_expression || (closed.scope == Scope::kFunction && more_follows);
    head_ = head_goes_on ? std::move(closed.head) : Head{};
    if (head_goes_on) head_.text += "{}";
  }

  void extend_head(char c) {
    if (c == '(') ++head_.parens;
    if (c == ')') --head_.parens;
    const std::string_view so_far = trim(head_.text);
    const bool access = c == ':' && (so_far == "public" || so_far == "private" || so_far == "protected");
    const bool next_element =
        c == ',' && head_.parens <= 0 && !open_.empty() && open_.back().scope == Scope::kInitializer;
    if ((c == ';' && head_.parens <= 0) || access || next_element) {
      head_ = {};
      return;
    }
    if (so_far.empty()) head_.first_line = line_;
    head_.text += c;
  }

  std::string_view code_;
  size_t at_ = 0;
  int line_ = 1;
  Head head_;
  std::vector<Open> open_;
  std::vector<Function> functions_;
};

std::vector<Function> find_long_macros(std::string_view code) {
  std::vector<Function> macros;
  const std::vector<std::string_view> lines = split_lines(code);
  for (size_t i = 0; i < lines.size(); ++i) {
    if (!trim(lines[i]).starts_with('#')) continue;
    const size_t first = i;
    while (i + 1 < lines.size() && lines[i].ends_with('\\')) ++i;
    if (i > first) {
      macros.push_back(
          {std::string(trim(lines[first])), static_cast<int>(first) + 1, static_cast<int>(i) + 1});
    }
  }
  return macros;
}

}  // namespace

std::optional<std::vector<Function>> find_functions(std::string_view source) {
  const std::string code = blank_comments_and_literals(source);
  auto functions = Walker(blank_directives(code)).run();
  if (!functions) return std::nullopt;
  const std::vector<Function> macros = find_long_macros(code);
  functions->insert(functions->end(), macros.begin(), macros.end());
  return functions;
}

}  // namespace tempo9::tidy
