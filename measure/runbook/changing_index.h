// What a runbook is run on: an index that takes inserts and deletes while it is searched.
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

/// Bytes since the index was made.
struct DiskBytes {
  std::uint64_t read = 0;
  std::uint64_t written = 0;  ///< pages and log
};

class ChangingIndex {
 public:
  virtual ~ChangingIndex() = default;

  /// All throw Error, and end early when they are interrupted. What they have done is
  /// durable when they return.

  /// Rows in the data set's type; ids[i] is row i's.
  virtual void insert(const VectorView& rows, std::span<const NodeId> ids) = 0;
  virtual void erase(std::span<const NodeId> ids) = 0;

  /// The nearest of every query, a row of `results` each; kInvalidNode where fewer are found.
  /// Latencies of the queries are added to `latency_us`.
  virtual void search(const VectorView& queries, dataset::GroundTruth& results,
                      std::vector<float>& latency_us) = 0;

  /// One of the same kind and parameters that is made of these rows at once, from nothing; it goes
  /// with the object. Null: there is no such.
  virtual std::unique_ptr<ChangingIndex> rebuilt(const VectorView& rows,
                                                 std::span<const NodeId> ids) const {
    (void)rows;
    (void)ids;
    return nullptr;
  }

  virtual DiskBytes disk_bytes() const = 0;
  /// Bytes that the index takes on its disk now.
  virtual std::uint64_t stored_bytes() const = 0;
  /// For reports: what it is, and its parameters.
  virtual nlohmann::ordered_json describe() const = 0;
};

}  // namespace farvec::measure
