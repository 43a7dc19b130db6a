#include "search/index/row_vertices.h"

#include <algorithm>

namespace farvec::search {

RowVertices::RowVertices(std::size_t count) : count_(count), left_(batches()) {}

Status RowVertices::check() const {
  // Relaxed: code that needs all vertices has seen them by known().
  if (!damaged_.load(std::memory_order_relaxed)) return {};
  return {StatusCode::data_loss, "two records say that they are of the same row"};
}

void RowVertices::open() {
  std::call_once(opened_, [this] {
    vertices_ = std::make_unique<std::atomic<NodeId>[]>(count_);
    for (std::size_t row = 0; row < count_; ++row) {
      vertices_[row].store(kInvalidNode, std::memory_order_relaxed);  // ordered by call_once
    }
    done_ = std::make_unique<std::atomic<std::uint8_t>[]>(batches());
    open_.store(true, std::memory_order_relaxed);  // for dram_bytes() alone
  });
}

RowVertices::Batch RowVertices::next() {
  for (std::size_t tries = 0; tries < batches(); ++tries) {
    // Relaxed: at worst a batch is learned twice, to the same effect.
    const std::size_t batch = next_.fetch_add(1, std::memory_order_relaxed) % batches();
    if (done_[batch].load(std::memory_order_relaxed) != 0) continue;
    const std::size_t first = batch * graph::kMaxWidth;
    return {static_cast<NodeId>(first),
            static_cast<std::uint32_t>(std::min<std::size_t>(graph::kMaxWidth, count_ - first))};
  }
  return {};
}

void RowVertices::learn(NodeId vertex, NodeId row) {
  // Relaxed: finish() shows it to others.
  const NodeId before = vertices_[row].exchange(vertex, std::memory_order_relaxed);
  if (before != kInvalidNode && before != vertex) damaged_.store(true, std::memory_order_relaxed);
}

void RowVertices::finish(const Batch& batch) {
  const std::size_t number = batch.first / graph::kMaxWidth;
  // Acquire and release: the last one to finish a batch passes on what all before have written.
  if (done_[number].exchange(1, std::memory_order_acq_rel) != 0) return;
  left_.fetch_sub(1, std::memory_order_acq_rel);
}

std::size_t RowVertices::dram_bytes() const {
  if (!open_.load(std::memory_order_relaxed)) return 0;
  return count_ * sizeof(NodeId) + batches();
}

}  // namespace farvec::search
