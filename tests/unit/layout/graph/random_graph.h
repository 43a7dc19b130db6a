// A graph of random bytes and random neighbours, for tests that only move bytes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/node_record.h"
#include "base/random.h"
#include "base/types.h"
#include "layout/graph/record_encoder.h"

namespace farvec::layout {

class RandomGraph {
 public:
  /// Of the neighbours of a vertex, in the inline layout.
  static constexpr std::uint32_t kCodeBytes = 150;

  RandomGraph(std::size_t count, std::uint32_t max_degree, std::uint32_t dimension,
              ElementType type, std::uint64_t seed = 1)
      : count_(count), max_degree_(max_degree), dimension_(dimension), type_(type) {
    Random random(seed);
    data_.resize(count * dimension * element_bytes(type));
    for (auto& byte : data_) byte = static_cast<std::byte>(random.next());
    degrees_.resize(count);
    for (auto& degree : degrees_) {
      degree = static_cast<std::uint32_t>(random.below(max_degree + 1));
    }
    degrees_[0] = 0;
    if (count > 1) degrees_[1] = max_degree;
    neighbors_.resize(count * max_degree);
    for (auto& id : neighbors_) id = static_cast<NodeId>(random.below(count));
    for (std::size_t v = 0; v < count; ++v) {
      const auto row = neighbors_.begin() + static_cast<std::ptrdiff_t>(v * max_degree);
      std::sort(row, row + degrees_[v]);
    }
    for (std::size_t v = 0; v < count; ++v) rows_.push_back(static_cast<NodeId>(count - 1 - v));
  }

  AdjacencyView view() const {
    return {neighbors_.data(), degrees_.data(), count_, max_degree_, 0};
  }
  VectorView vectors() const { return packed_view(data_.data(), count_, dimension_, type_); }
  GraphGeometry geometry(LayoutKind kind) const {
    return {.kind = kind,
            .vector_bytes = static_cast<std::uint32_t>(vectors().row_bytes()),
            .max_degree = max_degree_,
            .code_bytes = kind == LayoutKind::inlined ? kCodeBytes : 0,
            .count = count_};
  }
  /// What stands for the codes of a vertex's neighbours.
  static std::byte code_byte(NodeId id, std::size_t i) {
    return static_cast<std::byte>(id * 31 + i * 7 + 1);
  }
  /// None where a layout has no codes in its records.
  static NeighborCodeWriter code_writer(LayoutKind kind) {
    if (kind != LayoutKind::inlined) return {};
    return [](NodeId id, std::span<std::byte> out) {
      for (std::size_t i = 0; i < out.size(); ++i) out[i] = code_byte(id, i);
    };
  }
  /// Vertices are of the rows in reverse order where they have an order of their own.
  RecordContents contents(LayoutKind kind) const {
    return {view(), vectors(), code_writer(kind),
            kind == LayoutKind::packed ? std::span(rows_) : std::span<const NodeId>()};
  }
  RecordEncoder encoder(const GraphLocator& locator) const {
    return {locator, contents(locator.geometry().kind)};
  }
  GraphLocator locator(const GraphGeometry& geometry) const {
    return GraphLocator(geometry, make_offset_table(geometry, view()));
  }
  std::uint64_t edges() const {
    std::uint64_t sum = 0;
    for (const auto degree : degrees_) sum += degree;
    return sum;
  }

 private:
  std::size_t count_;
  std::uint32_t max_degree_;
  std::uint32_t dimension_;
  ElementType type_;
  std::vector<std::byte> data_;
  std::vector<std::uint32_t> degrees_;
  std::vector<NodeId> neighbors_;  ///< ascending
  std::vector<NodeId> rows_;
};

}  // namespace farvec::layout
