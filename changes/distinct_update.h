// A DistinctUpdate gives rows new values in several calls, of which none repeats an id of another.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "changes/batches.h"
#include "changes/changing.h"
#include "layout/attributes/tuple.h"

namespace farvec::changes {

/// Leaves out ids that come again: the first of them holds, as in one call of Changing::update().
/// It borrows all that it was made of.
class DistinctUpdate {
 public:
  /// Throws StatusError (invalid_argument) unless there is a tuple for each id, or one for all.
  DistinctUpdate(std::span<const std::uint64_t> ids, const ColumnValues& update);
  DistinctUpdate(const DistinctUpdate&) = delete;
  DistinctUpdate& operator=(const DistinctUpdate&) = delete;

  std::span<const std::uint64_t> ids() const { return ids_; }
  /// Returns how many ids were left out.
  std::size_t repeated() const { return repeated_; }
  /// Returns how many ids one call takes from `first` on, so that their values fit it: at most
  /// `most`, and one where there is any.
  std::size_t fitting(std::size_t first, std::size_t most) const;
  /// Returns the values of these ids.
  ColumnValues part(std::size_t first, std::size_t count) const;

 private:
  void leave_out(const std::vector<bool>& again);

  const ColumnValues& update_;
  const bool same_;  ///< whether all rows get one tuple
  std::span<const std::uint64_t> ids_;
  layout::TupleView values_;
  std::size_t repeated_ = 0;
  // Where ids were left out: what is left.
  std::vector<std::uint64_t> kept_ids_;
  layout::Tuples kept_values_;
};

/// Updates any number of rows, batch after batch. `receipt` counts what is in, also when this
/// throws. Throws what Changing::update() throws.
void update_all(Changing& index, std::span<const std::uint64_t> ids, const ColumnValues& update,
                const Batches& batches, Receipt& receipt);

}  // namespace farvec::changes
