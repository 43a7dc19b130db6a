#include "python/reduction.h"

#include <string_view>

#include "python/errors.h"

namespace farvec::python {
namespace {

BitRule parse_rule(std::string_view word) {
  const auto rule = find_bit_rule(word);
  if (!rule) throw_invalid("by: '{}' is none: use sign, mean or median", word);
  return *rule;
}

}  // namespace

std::optional<layout::ReductionWish> reduction_of(const AskedStore& asked) {
  const BitRule rule = parse_rule(asked.by);
  const Metric bits_metric = parsed("bits_metric", parse_metric, asked.bits_metric);
  if (!asked.store) {
    if (asked.second_copy) throw_invalid("second_copy: is for an index with store=");
    return std::nullopt;
  }
  layout::ReductionWish wish;
  wish.type = parsed("store", parse_element_type, *asked.store);
  wish.rule = rule;
  wish.bits_metric = bits_metric;
  if (asked.second_copy) {
    wish.second = parsed("second_copy", parse_element_type, *asked.second_copy);
  }
  return wish;
}

}  // namespace farvec::python
