#include "base/bit_rule.h"

namespace farvec {

std::string_view to_string(BitRule rule) {
  switch (rule) {
    case BitRule::sign:
      return "sign";
    case BitRule::mean:
      return "mean";
    case BitRule::median:
      return "median";
  }
  return "?";
}

std::optional<BitRule> find_bit_rule(std::string_view word) {
  for (const BitRule rule : kBitRules) {
    if (word == to_string(rule)) return rule;
  }
  return std::nullopt;
}

}  // namespace farvec
