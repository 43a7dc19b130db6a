// RowVertices say which vertex has which row, where vertices are numbered in an order of their own.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>

#include "base/status.h"
#include "base/types.h"
#include "graph/limits.h"

namespace farvec::search {

/// Learned from the records, a batch of vertices at a time, by the searches that need it. What one
/// has learned serves all others: all cores share it. It takes no memory before open().
class RowVertices {
 public:
  explicit RowVertices(std::size_t count);

  /// Says whether all batches were learned.
  bool known() const {
    // Acquire: the reader sees what those have written who finished the batches.
    return left_.load(std::memory_order_acquire) == 0;
  }
  /// Returns data_loss when records have said of two vertices that they are of one row.
  Status check() const;
  /// Needs known(), check() and a row below the count, which are not checked.
  NodeId vertex_of(NodeId row) const {
    return vertices_[row].load(std::memory_order_relaxed);  // ordered by known()
  }

  /// Makes room; to be called before the functions below.
  void open();
  struct Batch {
    NodeId first = 0;
    std::uint32_t count = 0;  ///< at most graph::kMaxWidth
  };
  /// Returns vertices that are still to be learned; none (count 0) when it finds no such batch.
  /// Callers that ask at once get different ones, as long as there are any.
  Batch next();
  /// Takes what a record says of its row, which exists. It may be told more than once.
  void learn(NodeId vertex, NodeId row);
  /// To be called when all vertices of the batch were learned.
  void finish(const Batch& batch);

  std::size_t dram_bytes() const;

 private:
  std::size_t batches() const { return (count_ + graph::kMaxWidth - 1) / graph::kMaxWidth; }

  const std::size_t count_;
  std::once_flag opened_;
  std::atomic<bool> open_ = false;
  std::unique_ptr<std::atomic<NodeId>[]> vertices_;    ///< [row]
  std::unique_ptr<std::atomic<std::uint8_t>[]> done_;  ///< [batch]
  std::atomic<std::size_t> next_ = 0;  ///< the batch to try next, modulo their number
  std::atomic<std::size_t> left_;      ///< batches that are not done
  std::atomic<bool> damaged_ = false;
};

}  // namespace farvec::search
