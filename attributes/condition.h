// A Condition says which rows are meant, by their attributes and their ids.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "attributes/key_ranges.h"
#include "layout/attributes/schema.h"
#include "layout/attributes/tuple.h"

namespace farvec::attributes {

/// SQL's three values. A comparison with null is unknown.
enum class Truth : std::uint8_t { no, unknown, yes };

class Condition;
using ConditionPointer = std::shared_ptr<const Condition>;

/// The number of the column that a test of the row's id has.
inline constexpr std::size_t kIdColumn = std::numeric_limits<std::size_t>::max();

/// What a test asks: a column, or the row's id, which is a u64.
struct Subject {
  std::size_t column = kIdColumn;
  layout::ColumnType type = layout::ColumnType::u64;
  std::string name = "id";

  bool is_id() const { return column == kIdColumn; }
  auto operator<=>(const Subject&) const = default;
};

/// Is true, or false, for every row.
struct Constant {
  bool value = false;

  auto operator<=>(const Constant&) const = default;
};

struct NullTest {
  Subject subject;

  auto operator<=>(const NullTest&) const = default;
};

/// Says whether the key of a scalar (attributes/scalar_key.h) is one of these.
struct KeyTest {
  Subject subject;
  KeyRanges keys;

  auto operator<=>(const KeyTest&) const = default;
};

/// Says whether a string is one of these, which ascend.
struct TextTest {
  Subject subject;
  std::vector<std::string> texts;

  auto operator<=>(const TextTest&) const = default;
};

/// One end of a range of strings, in the order of their bytes.
struct TextEnd {
  std::string text;
  bool included = false;

  auto operator<=>(const TextEnd&) const = default;
};

/// Says whether a string is between two ends, of which one may be missing.
struct TextRangeTest {
  Subject subject;
  std::optional<TextEnd> low;
  std::optional<TextEnd> high;

  auto operator<=>(const TextRangeTest&) const = default;
};

struct PrefixTest {
  Subject subject;
  std::string prefix;

  auto operator<=>(const PrefixTest&) const = default;
};

/// Says whether a set has one of these labels, or all of them: two or more. They ascend.
struct LabelTest {
  Subject subject;
  bool all = false;
  std::vector<std::string> labels;

  auto operator<=>(const LabelTest&) const = default;
};

struct Not {
  ConditionPointer condition;
};
std::strong_ordering operator<=>(const Not& one, const Not& other);
bool operator==(const Not& one, const Not& other);

/// Conditions that all hold, or one of which holds: two or more, ascending, none twice.
struct Group {
  bool all = false;
  std::vector<ConditionPointer> conditions;
};
std::strong_ordering operator<=>(const Group& one, const Group& other);
bool operator==(const Group& one, const Group& other);

/// A Condition is a tree that never changes. The columns of its tests are those of one schema, and
/// of schemas that begin with the columns of that one. Threads may read one condition at the same
/// time.
class Condition {
 public:
  using Form = std::variant<Constant, NullTest, KeyTest, TextTest, TextRangeTest, PrefixTest,
                            LabelTest, Not, Group>;

  explicit Condition(Form form) : form_(std::move(form)) {}

  const Form& form() const { return form_; }
  /// Two conditions that are equal mean the same. What means the same need not be equal.
  auto operator<=>(const Condition&) const = default;

 private:
  Form form_;
};

/// The most bytes of the text of a condition.
inline constexpr std::size_t kMostConditionBytes = std::size_t{1} << 20;
/// The most literals, and tests without one, that a condition has.
inline constexpr std::size_t kMostTerms = 10'000;
/// The most parentheses and words `not` of a condition that are in each other.
inline constexpr std::size_t kMostNesting = 100;

/// Parses the text of a condition. Throws Error that says what is wrong and at which character of
/// the text, and for an unknown column what the schema has.
ConditionPointer parse_condition(std::string_view text, const layout::Schema& schema);

/// Writes what parse_condition() makes an equal condition of. Conditions that are equal, and they
/// alone, have equal texts.
std::string to_string(const Condition& condition);

/// Says whether a condition is true for a row. The tuple may be older than the schema.
Truth evaluate(const Condition& condition, const layout::Tuple& tuple, std::uint64_t id);

}  // namespace farvec::attributes
