// These functions make conditions of their parts. What comes out means the same as what was put
// together, is as simple as they can make it, and does not depend on the order of the parts.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "attributes/condition.h"

namespace farvec::attributes {

ConditionPointer constant(bool value);
ConditionPointer key_test(Subject subject, KeyRanges keys);
/// Makes a test of any form that is not empty.
ConditionPointer make_test(Condition::Form form);
ConditionPointer negated(const ConditionPointer& condition);
/// Makes the condition that all of these hold, or with `all` false that one of them does.
ConditionPointer grouped(bool all, std::vector<ConditionPointer> conditions);

/// The shortest way to write a set of keys.
enum class KeyShape : std::uint8_t {
  none,
  every,
  at_most,
  at_least,
  between,
  points,
  not_between,
  not_points,
  scattered,  ///< none of these
};
struct KeyForm {
  KeyShape shape = KeyShape::scattered;
  std::size_t literals = 0;  ///< how many literals it takes
};
KeyForm form_of(const KeyRanges& keys, layout::ColumnType type);

}  // namespace farvec::attributes
