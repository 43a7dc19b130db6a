// Defines what a runbook is run on: an index that takes inserts and deletes while it is searched.
#pragma once

#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "base/types.h"
#include "dataset/groundtruth.h"

namespace farvec::measure {

/// Counts the bytes that were read and written since the index was made.
struct DiskBytes {
  std::uint64_t read = 0;
  std::uint64_t written = 0;  ///< pages and log
};

class ChangingIndex {
 public:
  virtual ~ChangingIndex() = default;

  /// All of these throw Error, and end early when they are interrupted. What they have done is
  /// durable when they return.

  /// Inserts rows in the data set's type; ids[i] is the id of row i.
  virtual void insert(const VectorView& rows, std::span<const NodeId> ids) = 0;
  virtual void erase(std::span<const NodeId> ids) = 0;

  /// Finds the nearest vectors of every query. Each query has a row of `results`, with kInvalidNode
  /// where fewer are found. Latencies of the queries are added to `latency_us`.
  virtual void search(const VectorView& queries, dataset::GroundTruth& results,
                      std::vector<float>& latency_us) = 0;

  /// Returns an index of the same kind and parameters that is built from these rows at once, from
  /// nothing; its files go when the object does. Returns null where this kind of index has none.
  virtual std::unique_ptr<ChangingIndex> rebuilt(const VectorView& rows,
                                                 std::span<const NodeId> ids) const {
    (void)rows;
    (void)ids;
    return nullptr;
  }

  virtual DiskBytes disk_bytes() const = 0;
  /// Returns the bytes that the index takes on its disk now.
  virtual std::uint64_t stored_bytes() const = 0;
  /// Returns, for reports, what it is, and its parameters.
  virtual nlohmann::ordered_json describe() const = 0;
};

}  // namespace farvec::measure
