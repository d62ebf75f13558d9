// The engine's face: a template that is parsed once and rendered by any number of threads.
#pragma once
#include <string_view>

#include "base/limits.h"
#include "base/result.h"
#include "chat/jinja/ast.h"
#include "chat/jinja/runtime.h"
#include "chat/jinja/text.h"

namespace tempo9::chat::jinja {

class Template {
 public:
  // Failures name the line and the reason.
  static Result<Template> parse(std::string_view source);

  // `variables` is a dict by name; it and all within must have been made by `runtime`.
  Result<Text> render(Runtime& runtime, const Value& variables) const;

 private:
  explicit Template(TemplateTree tree) : tree_(std::move(tree)) {}
  TemplateTree tree_;
};

}  // namespace tempo9::chat::jinja
