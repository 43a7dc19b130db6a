// A MatchCache keeps the rows of a segment that met the last few conditions.
#pragma once

#include <cstddef>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <string>

#include "attributes/row_bitmap.h"

namespace farvec::attributes {

/// A MatchCache belongs to one segment, whose rows and attributes never change. Threads may use it
/// at the same time.
class MatchCache {
 public:
  using Rows = std::shared_ptr<const RowBitmap>;

  static constexpr std::size_t kMostResults = 16;

  /// Keeps results as long as they, and the texts of their conditions, are at most `most_bytes`.
  explicit MatchCache(std::size_t most_bytes) : most_bytes_(most_bytes) {}

  /// Returns the rows of the condition whose text (to_string()) this is: those that are kept, or
  /// what `find` returns, in the smallest form that it knows. `find` runs without a lock, so that
  /// two threads may do so for one condition. What it throws goes on.
  Rows rows_of(const std::string& condition, const std::function<RowBitmap()>& find);
  std::size_t dram_bytes() const;

 private:
  struct Result {
    std::string condition;
    Rows rows;
    std::size_t bytes = 0;
  };

  Rows kept(const std::string& condition);
  void keep(Result result);

  const std::size_t most_bytes_;
  mutable std::mutex mutex_;
  std::list<Result> results_;  ///< the one that was used last comes first
  std::size_t bytes_ = 0;
};

}  // namespace farvec::attributes
