// Defines what a runbook is run on: an index that changes, and what a report asks of it besides.
#pragma once

#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <vector>

#include "base/types.h"
#include "changes/changing.h"
#include "dataset/groundtruth.h"

namespace farvec::measure {

/// Counts the bytes that were read and written since the index was made.
struct DiskBytes {
  std::uint64_t read = 0;
  std::uint64_t written = 0;  ///< pages and log
};

/// Calls throw Error, and end early when they are interrupted.
class RunbookIndex {
 public:
  virtual ~RunbookIndex() = default;

  /// Returns what inserts and deletes go through. What a call has done is durable when it returns.
  virtual changes::Changing& changing() = 0;
  /// Does what follows the deletes of a step in this kind of index. The step's time includes it.
  virtual void settle() {}

  /// Finds the nearest vectors of every query. Each query has a row of `results`, with kInvalidNode
  /// where fewer are found. Latencies of the queries are added to `latency_us`.
  virtual void search(const VectorView& queries, dataset::GroundTruth& results,
                      std::vector<float>& latency_us) = 0;

  /// Returns an index of the same kind and parameters that is built from these rows at once, from
  /// nothing; its files go when the object does. Returns null where this kind of index has none.
  virtual std::unique_ptr<RunbookIndex> rebuilt(const changes::RowBatch& batch) const {
    (void)batch;
    return nullptr;
  }

  virtual DiskBytes disk_bytes() const = 0;
  /// Returns the bytes that the index takes on its disk now.
  virtual std::uint64_t stored_bytes() const = 0;
  /// Returns, for reports, what it is, and its parameters.
  virtual nlohmann::ordered_json describe() const = 0;
};

}  // namespace farvec::measure
