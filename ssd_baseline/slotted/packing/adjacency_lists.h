// AdjacencyLists are lists of vertices that know both directions of a relation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/types.h"

namespace farvec::slotted {

/// Row v has the vertices that v names, in the order of v, then those that name v and are not among
/// them, by id. Immutable.
class AdjacencyLists {
 public:
  /// `of(v)` is the span of the vertices that v < count names.
  template <typename Of>
  AdjacencyLists(std::size_t count, const Of& of) : begins_(count + 1) {
    for (std::size_t v = 0; v < count; ++v) {
      for (const NodeId other : of(v)) {
        ++begins_[v + 1];
        if (!contains(of(other), v)) ++begins_[other + 1];
      }
    }
    for (std::size_t v = 0; v < count; ++v) begins_[v + 1] += begins_[v];
    ids_.resize(begins_[count]);
    std::vector<std::uint64_t> ends(begins_.begin(), begins_.end() - 1);
    for (std::size_t v = 0; v < count; ++v) {
      for (const NodeId other : of(v)) ids_[ends[v]++] = other;
    }
    for (std::size_t v = 0; v < count; ++v) {
      for (const NodeId other : of(v)) {
        if (!contains(of(other), v)) ids_[ends[other]++] = static_cast<NodeId>(v);
      }
    }
  }

  std::size_t count() const { return begins_.size() - 1; }
  std::span<const NodeId> of(std::size_t v) const {
    return std::span(ids_).subspan(begins_[v], begins_[v + 1] - begins_[v]);
  }

 private:
  static bool contains(std::span<const NodeId> ids, std::size_t v) {
    for (const NodeId id : ids) {
      if (id == v) return true;
    }
    return false;
  }

  std::vector<std::uint64_t> begins_;
  std::vector<NodeId> ids_;
};

}  // namespace farvec::slotted
