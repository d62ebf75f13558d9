#include "grammar/formats.h"

#include <array>
#include <utility>

namespace tempo9::grammar {
namespace {

// RFC 3339, ISO 8601, RFC 5321, 1123, 4291, 4122 and 3986, in this order.
const std::string kDate =
    "[1-9][0-9]{3}-((0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01])|(0[469]|11)-(0[1-9]|[12][0-9]|30)|02-(0[1-9]|1["
    "0-9]|2["
    "0-8]))";
const std::string kTime =
    "([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\\.[0-9]{1,6})?(Z|[+-]([01][0-9]|2[0-3]):[0-5][0-9])";
const std::string kClock = "T([0-9]{1,3}H([0-9]{1,3}M)?([0-9]{1,3}S)?|[0-9]{1,3}M([0-9]{1,3}S)?|[0-9]{1,3}S)";
const std::string kDuration =
    "P([0-9]{1,3}W|([0-9]{1,3}Y([0-9]{1,3}M([0-9]{1,3}D)?)?|[0-9]{1,3}M([0-9]{1,3}D)?|[0-9]{1,"
    "3}D)(" +
    kClock + ")?|" + kClock + ")";
const std::string kLabel = "[a-z0-9]([a-z0-9-]{0,30}[a-z0-9])?";
const std::string kHost = kLabel + "(\\." + kLabel + "){0,5}";
const std::string kEmail =
    "[A-Za-z0-9_+-]{1,30}(\\.[A-Za-z0-9_+-]{1,30}){0,3}@" + kLabel + "(\\." + kLabel + "){1,5}";
const std::string kByte = "(25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])";
const std::string kIpv4 = kByte + "(\\." + kByte + "){3}";
const std::string kIpv6 =
    "([0-9a-f]{1,4}:){7}[0-9a-f]{1,4}|([0-9a-f]{1,4}:){1,6}:|([0-9a-f]{1,4}:){1,6}:[0-9a-f]{1,4}|::([0-"
    "9a-f]{1,4}(:[0-9a-f]{1,4}){0,5})?";
const std::string kUuid = "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}";
const std::string kUriCharacter = "([A-Za-z0-9._~!$&'()*+,;=:@-]|%[0-9A-F]{2})";
const std::string kQuery = "(\\?(" + kUriCharacter + "|[/?])*)?(#(" + kUriCharacter + "|[/?])*)?";
const std::string kUri = "((https?|ftp|wss?|file)://" + kHost + "(:[1-9][0-9]{0,3})?(/" + kUriCharacter +
                         "*)*" + kQuery + "|mailto:" + kEmail + "|urn:[a-z0-9]{2,30}:" + kUriCharacter +
                         "{1,200})";
const std::string kUriReference =
    "(" + kUri + "|(/" + kUriCharacter + "+(/" + kUriCharacter + "*)*)?" + kQuery + ")";

const std::array<std::pair<std::string_view, const std::string*>, 11>& table() {
  static const std::string date_time = kDate + "T" + kTime;
  static const std::array<std::pair<std::string_view, const std::string*>, 11> formats = {{
      {"date", &kDate},
      {"time", &kTime},
      {"date-time", &date_time},
      {"duration", &kDuration},
      {"email", &kEmail},
      {"hostname", &kHost},
      {"ipv4", &kIpv4},
      {"ipv6", &kIpv6},
      {"uuid", &kUuid},
      {"uri", &kUri},
      {"uri-reference", &kUriReference},
  }};
  return formats;
}

}  // namespace

std::optional<std::string> format_pattern(std::string_view format) {
  for (const auto& [name, pattern] : table())
    if (name == format) return *pattern;
  return std::nullopt;
}

std::string format_names() {
  std::string names;
  for (const auto& [name, pattern] : table()) (names += names.empty() ? "" : ", ") += name;
  return names;
}

}  // namespace tempo9::grammar
