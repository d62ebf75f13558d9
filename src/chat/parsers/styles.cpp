#include "chat/parsers/styles.h"

#include <array>
#include <string>

#include "chat/parsers/context.h"
#include "chat/parsers/scan.h"

namespace tempo9::chat {
namespace {

constexpr std::array<std::string_view, 2> kToolCallTags = {"<tool_call>", "</tool_call>"};
constexpr std::array<std::string_view, 3> kGemmaMarkers = {"<|tool_call>", "<tool_call|>", "<|\"|>"};
constexpr std::array<std::string_view, 3> kMistralMarkers = {"[TOOL_CALLS]", "[ARGS]", "[CALL_ID]"};
constexpr std::array<std::string_view, 1> kLlamaMarkers = {"<|python_tag|>"};
constexpr std::array<std::string_view, 6> kHarmonyMarkers = {"<|start|>",     "<|channel|>", "<|message|>",
                                                             "<|constrain|>", "<|end|>",     "<|call|>"};

constexpr std::array<std::string_view, 3> kHarmonyHeaders = {"<|start|>", "<|channel|>", "<|constrain|>"};

constexpr CallForm kHermesForm = {.before_name = "<tool_call>\n{\"name\": \"",
                                  .after_name = "\", \"arguments\": ",
                                  .end = "}\n</tool_call>",
                                  .between = "\n"};
constexpr CallForm kQwenForm = {.before_name = "<tool_call>\n<function=",
                                .after_name = ">\n",
                                .end = "</function>\n</tool_call>",
                                .between = "\n",
                                .arguments = ArgumentSyntax::kXmlParameters};
constexpr CallForm kGemmaForm = {.before_name = "<|tool_call>call:",
                                 .after_name = "{",
                                 .end = "}<tool_call|>",
                                 .quote = "<|\"|>",
                                 .arguments = ArgumentSyntax::kGemma};
// As the template shows earlier calls. The recipient may stand behind the channel, too.
constexpr CallForm kHarmonyForm = {
    .before_name = " to=functions.", .after_name = "<|channel|>commentary json<|message|>", .one_call = true};
constexpr CallForm kMistralArrayForm = {.open = "[TOOL_CALLS][",
                                        .before_name = "{\"name\": \"",
                                        .after_name = "\", \"arguments\": ",
                                        .end = "}",
                                        .between = ", ",
                                        .close = "]"};
constexpr CallForm kMistralForm = {.before_name = "[TOOL_CALLS]", .after_name = "[ARGS]"};
constexpr CallForm kLlamaForm = {.before_name = "{\"name\": \"",
                                 .after_name = "\", \"parameters\": ",
                                 .end = "}",
                                 .one_call = true,
                                 .leads = true};
constexpr CallForm kPythonForm = {.open = "[",
                                  .after_name = "(",
                                  .end = ")",
                                  .between = ", ",
                                  .close = "]",
                                  .arguments = ArgumentSyntax::kKeywords,
                                  .leads = true};

const std::array kStyles = {
    CallStyle{
        "hermes", "<tool_call>{\"name\":\"", "\"", kHermesForm, kToolCallTags, {}, "\n", false, read_hermes},
    CallStyle{
        "qwen xml", "<tool_call><function=", ">", kQwenForm, kToolCallTags, {}, "\n\n", false, read_qwen_xml},
    CallStyle{"gemma", "<|tool_call>call:", "{", kGemmaForm, kGemmaMarkers, {}, "", false, read_gemma},
    CallStyle{"harmony", "to=functions.", "<|channel|>commentary", kHarmonyForm, kHarmonyMarkers,
              kHarmonyHeaders, "", true, read_harmony},
    CallStyle{"mistral array",
              "[TOOL_CALLS][{\"name\":\"",
              "\"",
              kMistralArrayForm,
              kMistralMarkers,
              {},
              "",
              false,
              read_mistral},
    CallStyle{"mistral", "[TOOL_CALLS]", "", kMistralForm, kMistralMarkers, {}, "", false, read_mistral},
    CallStyle{"llama json",
              "{\"name\":\"",
              "\",\"parameters\":",
              kLlamaForm,
              kLlamaMarkers,
              {},
              "",
              false,
              read_llama},
    CallStyle{"llama pythonic", "[", "(", kPythonForm, kLlamaMarkers, {}, "", false, read_llama},
};

std::string without_blanks(std::string_view text) {
  std::string dense;
  for (const char c : text)
    if (!is_blank(c)) dense += c;
  return dense;
}

}  // namespace

std::span<const CallStyle> call_styles() {
  return kStyles;
}

const CallStyle* find_call_style(std::string_view shown, std::string_view name) {
  const std::string dense = without_blanks(shown);
  for (const CallStyle& style : kStyles) {
    const std::string sign = std::string(style.sign_before).append(name).append(style.sign_behind);
    if (dense.find(sign) != dense.npos) return &style;
  }
  return nullptr;
}

std::string ReplyContext::spell(std::string_view text) const {
  std::string spelled(text);
  for (const std::string& control : controls)
    for (size_t at = spelled.find(control); at != spelled.npos; at = spelled.find(control, at + 2))
      spelled.insert(at, 1, kControlSign);
  return spelled;
}

}  // namespace tempo9::chat
