// How families of models write their tool calls: the list of all styles, as plain data. From the form of a
// style a grammar for a forced call can be made; its reader takes calls apart again.
#pragma once
#include <span>
#include <string_view>

namespace tempo9::chat {

template <class T>
class Reading;
struct ReplyContext;

// What stands between a call's name and its end.
enum class ArgumentSyntax {
  kJson,           // {"city": "Rome", "days": 3}
  kXmlParameters,  // <parameter=city>\nRome\n</parameter>\n for each
  kKeywords,       // city="Rome", days=3, as in Python
  kGemma,          // city:<|"|>Rome<|"|>,days:3
};

// All calls of a reply, as the family's models write them:
//   open, then for each call: before_name NAME after_name ARGUMENTS end, with `between` between two, then
//   close
// A style whose models end their turn with each call has no way to write two (one_call). Some of these texts
// are control tokens: see CallStyle::markers.
struct CallForm {
  std::string_view open = {}, before_name = {}, after_name = {}, end = {}, between = {}, close = {};
  std::string_view quote = {};  // around texts that are written as they are (kGemma)
  ArgumentSyntax arguments = ArgumentSyntax::kJson;
  bool one_call = false;
  bool leads = false;  // a reply that calls does not begin with a text
};

// A style is chosen by what a template makes of a call: the first one whose signs stand before and behind the
// name, white space left aside.
struct CallStyle {
  std::string_view name;
  std::string_view sign_before, sign_behind;
  CallForm form;
  // Tokens that part a reply and are control tokens in some vocabularies.
  std::span<const std::string_view> markers;
  // Those behind which names stand, up to the next: no text.
  std::span<const std::string_view> headers;
  // Line breaks that a template puts between the text and the first call; they belong to neither.
  std::string_view gap;
  // Takes apart also what holds no call (channels).
  bool always = false;
  Reading<bool> (*read)(ReplyContext& context);
};

std::span<const CallStyle> call_styles();

// `shown`: what a template makes of a call of the function `name`. Null if no style is like it.
const CallStyle* find_call_style(std::string_view shown, std::string_view name);

}  // namespace tempo9::chat
