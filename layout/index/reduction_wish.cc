#include "layout/index/reduction_wish.h"

#include <fmt/format.h>

#include <utility>

#include "base/status_error.h"
#include "base/stored_form.h"

namespace farvec::layout {
namespace {

template <typename... Args>
[[noreturn]] void refuse(fmt::format_string<Args...> text, Args&&... args) {
  throw StatusError(StatusCode::invalid_argument, text, std::forward<Args>(args)...);
}

}  // namespace

void check_reduction(const ReductionWish& wish, Metric metric, ElementType source_type) {
  if (source_type == ElementType::b1) refuse("vectors of bits (b1) have nothing to be left out");
  if (!compares_bits(wish.bits_metric)) {
    refuse("{} does not compare bits: use hamming or jaccard", to_string(wish.bits_metric));
  }
  const ElementType stored = stored_type(metric, source_type);
  if (wish.type != ElementType::b1 && element_bytes(wish.type) >= element_bytes(stored)) {
    refuse("an index of {} has no fewer bits than its data, which is stored as {}: leave it out",
           to_string(wish.type), to_string(stored));
  }
  const bool halved = stored == ElementType::f32 && wish.second == ElementType::f16;
  if (wish.second && *wish.second != stored && !halved) {
    refuse("a second copy of {} cannot be made of vectors that are stored as {}: use {}{}",
           to_string(*wish.second), to_string(stored), to_string(stored),
           stored == ElementType::f32 ? " or f16" : "");
  }
  if (wish.second && *wish.second == wish.type) {
    refuse("a second copy of {} has no more bits than the index", to_string(wish.type));
  }
}

ElementType whole_type(const std::optional<ReductionWish>& wish, Metric metric,
                       ElementType source_type) {
  const ElementType stored = stored_type(metric, source_type);
  return wish ? wish->second.value_or(stored) : stored;
}

}  // namespace farvec::layout
