// Reads what Python asks of an index with fewer bits than its data.
#pragma once

#include <optional>
#include <string>

#include "layout/index/reduction_wish.h"

namespace farvec::python {

/// Holds the arguments; one without a value was not given.
struct AskedStore {
  const std::optional<std::string>& store;
  const std::string& by;
  const std::string& bits_metric;
  const std::optional<std::string>& second_copy;
};

/// None: the vectors are to stay as they are. Throws StatusError (invalid_argument) naming the
/// argument.
std::optional<layout::ReductionWish> reduction_of(const AskedStore& asked);

}  // namespace farvec::python
