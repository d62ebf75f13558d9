#include "chat/jinja/from_json.h"

#include "chat/jinja/unicode.h"

namespace tempo9::chat::jinja {
namespace {

Result<Value> convert(Runtime& runtime, const nlohmann::ordered_json& json, int levels) {
  if (levels == 0) {
    return fail(ErrorCode::kInvalidArgument, "JSON of the request is nested deeper than {} levels",
                limits::kMaxTemplateValueDepth);
  }
  TRY(runtime.reserve(0));
  switch (json.type()) {
    case nlohmann::ordered_json::value_t::boolean:
      return json.get<bool>();
    case nlohmann::ordered_json::value_t::number_integer:
      return Integer{json.get<int64_t>()};
    case nlohmann::ordered_json::value_t::number_unsigned:
      return Integer{json.get<uint64_t>()};
    case nlohmann::ordered_json::value_t::number_float:
      return json.get<double>();
    case nlohmann::ordered_json::value_t::string:
      return from_text(runtime, json.get_ref<const std::string&>());
    case nlohmann::ordered_json::value_t::array: {
      std::vector<Value> items;
      TRY_ASSIGN(const Metered held, runtime.hold(json.size() * sizeof(Value)));
      items.reserve(json.size());
      for (const auto& item : json) {
        TRY_ASSIGN(Value value, convert(runtime, item, levels - 1));
        items.push_back(std::move(value));
      }
      return runtime.list(std::move(items));
    }
    case nlohmann::ordered_json::value_t::object: {
      std::vector<Dict::Entry> entries;
      TRY_ASSIGN(const Metered held, runtime.hold(json.size() * sizeof(Dict::Entry)));
      entries.reserve(json.size());
      for (const auto& [key, item] : json.items()) {
        TRY_ASSIGN(Value name, from_text(runtime, key));
        TRY_ASSIGN(Value value, convert(runtime, item, levels - 1));
        entries.emplace_back(std::move(name), std::move(value));
      }
      return runtime.dict(std::move(entries));
    }
    default:
      return None{};
  }
}

}  // namespace

Result<Value> from_json(Runtime& runtime, const nlohmann::ordered_json& json) {
  return convert(runtime, json, limits::kMaxTemplateValueDepth);
}

Result<Value> from_text(Runtime& runtime, const std::string& text) {
  if (!unicode::is_valid(text)) {
    return fail(ErrorCode::kInvalidArgument, "a text of the request is not valid UTF-8");
  }
  TRY(runtime.reserve(text.size()));
  return runtime.string(Text::content(text));
}

}  // namespace tempo9::chat::jinja
