#include "grammar/number_range.h"

#include <algorithm>
#include <array>
#include <vector>

namespace tempo9::grammar {
namespace {

constexpr int kMaxWholeDigits = 18, kLeastFractionDigits = 6;

// Numbers without a sign, from `low` (none: 0) to `high` (none: as far as the digits go). Digit by digit,
// knowing whether those so far are still those of a bound.
class Magnitudes {
 public:
  Magnitudes(const NumberBounds& bounds, Ebnf& grammar)
      : low_(bounds.low.value_or(Decimal{})),
        high_(bounds.high),
        low_excluded_(bounds.low_excluded),
        high_excluded_(bounds.high_excluded),
        grammar_(grammar) {
    if (bounds.integers) return;
    const size_t longest = std::max(low_.fraction.size(), high_ ? high_->fraction.size() : 0);
    fraction_digits_ = std::max(kLeastFractionDigits, static_cast<int>(longest) + 1);
  }

  std::optional<std::string> expression() {
    const int shortest = static_cast<int>(low_.whole.size());
    const int longest = high_ ? static_cast<int>(high_->whole.size()) : std::max(kMaxWholeDigits, shortest);
    std::vector<std::string> choices;
    for (int digits = shortest; digits <= longest; ++digits) {
      whole_digits_ = digits;
      const bool at_low = digits == shortest, at_high = high_ && digits == longest;
      const int last_free = high_ ? longest - 1 : longest;
      if (!at_low && !at_high) {  // all of these lengths at once
        choices.push_back(
            fmt::format("[1-9] [0-9]{{{},{}}}{}", digits - 1, last_free - 1, *behind_whole({})));
        digits = last_free;
      } else if (auto choice = whole(0, {at_low, at_high})) {
        choices.push_back(*std::move(choice));
      }
    }
    return join(choices);
  }

 private:
  // Whether all digits so far are those of the bound.
  struct Tight {
    bool low = false, high = false;
  };

  static std::optional<std::string> join(const std::vector<std::string>& choices) {
    if (choices.empty()) return std::nullopt;
    std::string text = fmt::format("{}", fmt::join(choices, " | "));
    return choices.size() == 1 ? text : "(" + text + ")";
  }

  static int digit_at(const std::string& digits, int at) {
    return at < static_cast<int>(digits.size()) ? digits[static_cast<size_t>(at)] - '0' : 0;
  }

  // A digit between `least` and `most`, then what `next` allows behind it. Digits of equal consequence
  // together.
  template <class Next>
  static std::optional<std::string> digit(int least, int most, int low, int high, Tight tight,
                                          const Next& next) {
    const int first = std::max(least, tight.low ? low : 0), last = std::min(most, tight.high ? high : 9);
    const auto after = [&](int d) { return Tight{tight.low && d == low, tight.high && d == high}; };
    std::vector<std::string> choices;
    for (int begin = first; begin <= last;) {
      const Tight state = after(begin);
      int end = begin;
      while (end < last && after(end + 1).low == state.low && after(end + 1).high == state.high) ++end;
      const std::string digits =
          begin == end ? fmt::format("\"{}\"", begin) : fmt::format("[{}-{}]", begin, end);
      if (const std::optional<std::string> rest = next(state)) choices.push_back(digits + *rest);
      begin = end + 1;
    }
    return join(choices);
  }

  std::optional<std::string> whole(int at, Tight tight) {
    const int least = at == 0 && whole_digits_ > 1 ? 1 : 0;
    return digit(least, 9, digit_at(low_.whole, at), high_ ? digit_at(high_->whole, at) : 9, tight,
                 [&](Tight next) -> std::optional<std::string> {
                   const int left = whole_digits_ - at - 1;
                   if (left == 0) return behind_whole(next);
                   if (!next.low && !next.high)
                     return fmt::format(" [0-9]{{{}}}{}", left, *behind_whole(next));
                   auto rest = whole(at + 1, next);
                   return rest ? std::optional(" " + grammar_.rule("digits", *std::move(rest)))
                               : std::nullopt;
                 });
  }

  // What may follow the last digit of the whole part. With a space in front unless empty.
  std::optional<std::string> behind_whole(Tight tight) {
    if (!tight.low && !tight.high)
      return fraction_digits_ == 0 ? "" : fmt::format(" (\".\" [0-9]{{1,{}}})?", fraction_digits_);
    std::optional<std::string> some;
    if (fraction_digits_ > 0) some = fraction(0, tight);
    const bool may_end = ends(0, tight);
    if (!some) return may_end ? std::optional<std::string>("") : std::nullopt;
    return fmt::format(" (\".\" {}){}", *some, may_end ? "?" : "");
  }

  std::optional<std::string> fraction(int at, Tight tight) {
    if (at == fraction_digits_ || (tight.high && at >= static_cast<int>(high_->fraction.size())))
      return std::nullopt;  // zeros alone could follow the greatest number
    return digit(0, 9, digit_at(low_.fraction, at), high_ ? digit_at(high_->fraction, at) : 9, tight,
                 [&](Tight next) -> std::optional<std::string> {
                   const int left = fraction_digits_ - at - 1;
                   if (!next.low && !next.high) return left > 0 ? fmt::format(" [0-9]{{0,{}}}", left) : "";
                   const bool may_end = ends(at + 1, next);
                   auto rest = fraction(at + 1, next);
                   if (!rest) return may_end ? std::optional<std::string>("") : std::nullopt;
                   return " " + grammar_.rule("digits", *std::move(rest)) + (may_end ? "?" : "");
                 });
  }

  // Whether a number with `at` digits of a fraction, all of them the bounds' where tight, is within the
  // bounds.
  bool ends(int at, Tight tight) const {
    const bool at_low = at >= static_cast<int>(low_.fraction.size());
    if (tight.low && (!at_low || low_excluded_)) return false;
    const bool at_high = high_ && at >= static_cast<int>(high_->fraction.size());
    return !(tight.high && at_high && high_excluded_);
  }

  Decimal low_;
  std::optional<Decimal> high_;
  bool low_excluded_, high_excluded_;
  Ebnf& grammar_;
  int fraction_digits_ = 0, whole_digits_ = 0;
};

std::string unbounded(bool integers, Ebnf& grammar) {
  std::string body = fmt::format("\"-\"? (\"0\" | [1-9] [0-9]{{0,{}}})", kMaxWholeDigits - 1);
  // Two digits of exponent keep every number finite.
  if (!integers) body += fmt::format(" (\".\" [0-9]{{1,{}}})? ([eE] [+\\-]? [0-9]{{1,2}})?", kMaxWholeDigits);
  return grammar.rule(integers ? "integer" : "number", std::move(body));
}

std::optional<Decimal> negated(std::optional<Decimal> bound) {
  if (bound && !bound->is_zero()) bound->negative = !bound->negative;
  return bound;
}

// Bounds that the number of digits keeps anyway.
bool is_far(const std::optional<Decimal>& bound, bool negative) {
  return bound && bound->negative == negative && bound->whole.size() > static_cast<size_t>(kMaxWholeDigits);
}

}  // namespace

std::optional<std::string> numbers_within(const NumberBounds& given, Ebnf& grammar) {
  NumberBounds bounds = given;
  if (is_far(bounds.low, true)) bounds.low.reset();
  if (is_far(bounds.high, false)) bounds.high.reset();
  if (!bounds.low && !bounds.high) return unbounded(bounds.integers, grammar);
  std::vector<std::string> choices;
  if (!bounds.high || !bounds.high->negative) {
    NumberBounds upper = bounds;
    if (bounds.low && bounds.low->negative) upper.low.reset(), upper.low_excluded = false;
    if (!upper.low || !upper.high || compare(*upper.low, *upper.high) <= 0)
      if (auto choice = Magnitudes(upper, grammar).expression()) choices.push_back(*std::move(choice));
  }
  if (!bounds.low || bounds.low->negative) {  // the same behind a minus, mirrored; zero has none
    NumberBounds lower{bounds.integers, negated(bounds.high), negated(bounds.low), bounds.high_excluded,
                       bounds.low_excluded};
    if (!lower.low || lower.low->negative || lower.low->is_zero())
      lower.low = Decimal{}, lower.low_excluded = true;
    if (!lower.high || compare(*lower.low, *lower.high) <= 0)
      if (auto choice = Magnitudes(lower, grammar).expression()) choices.push_back("\"-\" " + *choice);
  }
  if (choices.empty()) return std::nullopt;
  std::string text = fmt::format("{}", fmt::join(choices, " | "));
  return choices.size() == 1 ? text : "(" + text + ")";
}

}  // namespace tempo9::grammar
