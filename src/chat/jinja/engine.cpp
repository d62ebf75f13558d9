#include "chat/jinja/engine.h"

#include "chat/jinja/interpreter.h"
#include "chat/jinja/parser.h"

namespace tempo9::chat::jinja {

Result<Template> Template::parse(std::string_view source) {
  TRY_ASSIGN(TemplateTree tree, parse_template(source));
  return Template(std::move(tree));
}

Result<Text> Template::render(Runtime& runtime, const Value& variables) const {
  return Interpreter(runtime, tree_, variables.dict()).run();
}

}  // namespace tempo9::chat::jinja
