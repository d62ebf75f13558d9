#include "chat/answer_form.h"

#include <string>
#include <utility>

namespace tempo9::chat {

using grammar::Form;

Form answer_form(const ReplyStart& start, Form answer) {
  if (start.tags == nullptr) return answer;
  // Models set their answer apart by a few line breaks.
  Form space{Form::Kind::kRegex, "[ \\n]{0,4}"};
  Form thoughts =
      grammar::sequence_form({grammar::text_until(std::string(start.tags->close)), std::move(space)});
  if (start.inside) return grammar::sequence_form({std::move(thoughts), std::move(answer)});
  const std::string_view token = start.tags->open_token.empty() ? start.tags->open : start.tags->open_token;
  Form thinking = grammar::sequence_form(
      {grammar::text_form(std::string(start.tags->open), {std::string(token)}), std::move(thoughts), answer});
  return grammar::choice_form({std::move(thinking), std::move(answer)});
}

}  // namespace tempo9::chat
