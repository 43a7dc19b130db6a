// Writes conditions.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string>

#include "attributes/condition.h"
#include "attributes/condition_builder.h"
#include "attributes/scalar_key.h"

namespace farvec::attributes {
namespace {

std::string in_quotes(std::string_view text) {
  std::string result = "'";
  for (const char c : text) {
    result += c;
    if (c == '\'') result += c;
  }
  return result + "'";
}

std::string list_of(const std::vector<std::string>& texts) {
  std::string list;
  for (const std::string& text : texts) list += (list.empty() ? "" : ", ") + in_quotes(text);
  return "(" + list + ")";
}

/// Writes a test of keys.
class KeyText {
 public:
  explicit KeyText(const KeyTest& test) : test_(test), all_(keys_of(test.subject.type)) {}

  std::string text() const {
    const KeyRanges others = test_.keys.complement(all_);
    switch (form_of(test_.keys, test_.subject.type).shape) {
      case KeyShape::none:
        return compared("<", all_.first);
      case KeyShape::every:
        return compared(">=", all_.first);
      case KeyShape::at_most:
        return at_most(test_.keys.ranges().front().last);
      case KeyShape::at_least:
        return at_least(test_.keys.ranges().front().first);
      case KeyShape::between:
        return between("between", test_.keys);
      case KeyShape::not_between:
        return between("not between", others);
      case KeyShape::not_points:
        return points("!=", "not in", others);
      default:
        return points("=", "in", test_.keys);
    }
  }

 private:
  std::string literal(std::uint64_t key) const { return literal_of(test_.subject.type, key); }
  std::string compared(std::string_view comparison, std::uint64_t key) const {
    return fmt::format("{} {} {}", test_.subject.name, comparison, literal(key));
  }
  /// Says whether the other side of a bound has a shorter literal: 1.5 in place of
  /// 1.4999999999999998.
  bool is_shorter(std::uint64_t other, std::uint64_t key) const {
    return literal(other).size() < literal(key).size();
  }
  std::string at_most(std::uint64_t key) const {
    return is_shorter(key + 1, key) ? compared("<", key + 1) : compared("<=", key);
  }
  std::string at_least(std::uint64_t key) const {
    return is_shorter(key - 1, key) ? compared(">", key - 1) : compared(">=", key);
  }
  std::string between(std::string_view word, const KeyRanges& keys) const {
    const KeyRange range = keys.ranges().front();
    return fmt::format("{} {} {} and {}", test_.subject.name, word, literal(range.first),
                       literal(range.last));
  }
  std::string points(std::string_view one, std::string_view many, const KeyRanges& keys) const {
    const KeyRange range = keys.ranges().front();
    if (test_.subject.type == layout::ColumnType::boolean) {
      return (range.first == 0 ? "not " : "") + test_.subject.name;
    }
    if (keys.count_up_to(2) == 1) return compared(one, range.first);
    std::string list;
    for (const auto& [first, last] : keys.ranges()) {
      for (std::uint64_t i = 0; i <= last - first; ++i) {
        list += (list.empty() ? "" : ", ") + literal(first + i);
      }
    }
    return fmt::format("{} {} ({})", test_.subject.name, many, list);
  }

  const KeyTest& test_;
  const KeyRange all_;
};

/// Returns the text of a condition that stands alone or in parentheses.
struct Writer {
  std::string operator()(const Constant& constant) const {
    return constant.value ? "true" : "false";
  }
  std::string operator()(const NullTest& test) const { return test.subject.name + " is null"; }
  std::string operator()(const KeyTest& test) const { return KeyText(test).text(); }
  std::string operator()(const TextTest& test) const { return among("=", "in", test); }
  std::string operator()(const TextRangeTest& test) const { return range("between", test); }
  std::string operator()(const PrefixTest& test) const {
    return test.subject.name + " prefix " + in_quotes(test.prefix);
  }
  std::string operator()(const LabelTest& test) const {
    return fmt::format("{} contains {} {}", test.subject.name, test.all ? "all" : "any",
                       list_of(test.labels));
  }
  std::string operator()(const Not& outer) const {
    const Condition::Form& form = outer.condition->form();
    if (const auto* test = std::get_if<NullTest>(&form)) return test->subject.name + " is not null";
    if (const auto* test = std::get_if<TextTest>(&form)) return among("!=", "not in", *test);
    if (const auto* test = std::get_if<TextRangeTest>(&form)) return range("not between", *test);
    return "not " + enclosed(*outer.condition, std::holds_alternative<Group>(form));
  }
  std::string operator()(const Group& group) const {
    std::string text;
    for (const ConditionPointer& condition : group.conditions) {
      if (!text.empty()) text += group.all ? " and " : " or ";
      const auto* inner = std::get_if<Group>(&condition->form());
      text += enclosed(*condition, inner != nullptr && !inner->all);
    }
    return text;
  }

  static std::string enclosed(const Condition& condition, bool in_parentheses) {
    std::string text = to_string(condition);
    return in_parentheses ? "(" + text + ")" : text;
  }
  static std::string among(std::string_view one, std::string_view many, const TextTest& test) {
    if (test.texts.size() == 1) {
      return fmt::format("{} {} {}", test.subject.name, one, in_quotes(test.texts.front()));
    }
    return fmt::format("{} {} {}", test.subject.name, many, list_of(test.texts));
  }
  /// Both ends of a range that has two are included in it.
  static std::string range(std::string_view word, const TextRangeTest& test) {
    if (test.low && test.high) {
      return fmt::format("{} {} {} and {}", test.subject.name, word, in_quotes(test.low->text),
                         in_quotes(test.high->text));
    }
    const TextEnd& end = test.low ? *test.low : *test.high;
    return fmt::format("{} {}{} {}", test.subject.name, test.low ? ">" : "<",
                       end.included ? "=" : "", in_quotes(end.text));
  }
};

}  // namespace

std::string to_string(const Condition& condition) {
  return std::visit(Writer(), condition.form());
}

}  // namespace farvec::attributes
