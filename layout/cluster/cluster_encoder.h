// Turns a clustering into the bytes of a cluster index's records region and its table.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "base/membership.h"
#include "base/types.h"
#include "layout/cluster/cluster_layout.h"

namespace farvec::layout {

/// Writes the codes of these members of a cluster, in this order, to `out`, which holds whole
/// blocks. Any thread may call it.
using MemberCodeWriter =
    std::function<void(ClusterId, std::span<const NodeId>, std::span<std::byte> out)>;

/// It is used by the coded layout only.
struct MemberCodes {
  std::uint32_t bits = 0;         ///< bits per dimension
  std::uint32_t block_bytes = 0;  ///< bytes for kCodeBlock members
  MemberCodeWriter write = {};
};

/// ClusterContents are a clustering and its vectors; borrowed.
struct ClusterContents {
  MembershipView membership;
  /// The cluster in whose group each vector is: one of its clusters.
  std::span<const ClusterId> homes;
  VectorView vectors;  ///< stored type; may be a mapped file larger than memory
  std::uint32_t clusters = 0;
  bool record_checksum = false;
  MemberCodes codes = {};
};

/// Fixes the place of everything at construction; the bytes themselves are made when they are asked
/// for. Memory: 4 bytes per member, 8 per vector, 24 per cluster.
class ClusterEncoder {
 public:
  /// Throws Error when shapes disagree or the index would have too many addresses.
  ClusterEncoder(ClusterLayoutKind kind, const ClusterContents& contents);

  const ClusterGeometry& geometry() const { return geometry_; }
  std::span<const ClusterEntry> table() const { return table_; }
  std::uint64_t region_bytes() const { return region_bytes_; }

  /// Calls sink with the payload's bytes in order, some tens of megabytes at a time, and progress
  /// with the number of bytes that are done.
  void stream(unsigned threads, const std::function<void(std::span<const std::byte>)>& sink,
              const std::function<void(std::uint64_t)>& progress) const;

 private:
  /// A Phase is a run of the payload that consists of consecutive units: clusters or vectors.
  struct Phase {
    std::size_t units;
    std::uint64_t (ClusterEncoder::*begin)(std::size_t unit) const;
    void (ClusterEncoder::*encode)(std::size_t unit, std::span<std::byte> out) const;
  };

  void invert(const MembershipView& membership);
  void place();
  void place_coupled();
  void place_decoupled();
  void place_grouped();
  void place_inline();
  void choose_address_bytes(std::uint64_t limit);
  std::uint32_t group_of(ClusterId cluster) const;
  std::uint64_t place_lists(std::uint64_t begin);
  std::uint64_t list_bytes(ClusterId cluster) const {
    return geometry_.list_bytes(table_[cluster]);
  }
  /// Returns the vectors of a cluster's group in their order. Those that another cluster has too
  /// are side by side, so that it reads them together.
  std::vector<NodeId> group(ClusterId cluster) const;
  /// Returns the other members of a cluster, in the order of their addresses.
  std::vector<NodeId> strays(ClusterId cluster) const;
  void number_group(ClusterId cluster);
  std::vector<Phase> phases() const;
  void stream_phase(const Phase& phase, unsigned threads,
                    const std::function<void(std::span<const std::byte>)>& sink,
                    const std::function<void(std::uint64_t)>& progress) const;

  std::uint64_t begin_of_vector(std::size_t id) const;
  std::uint64_t begin_of_cluster(std::size_t cluster) const;
  std::uint64_t begin_of_list(std::size_t cluster) const;
  void encode_vector(std::size_t id, std::span<std::byte> out) const;
  void encode_cluster(std::size_t cluster, std::span<std::byte> out) const;
  void encode_list(std::size_t cluster, std::span<std::byte> out) const;
  void put_record(NodeId id, std::byte* out) const;
  bool in_group(ClusterId cluster, NodeId id) const;
  std::span<const NodeId> members(ClusterId cluster) const {
    return std::span(members_).subspan(begins_[cluster], begins_[cluster + 1] - begins_[cluster]);
  }

  const ClusterContents contents_;
  ClusterGeometry geometry_;
  std::vector<std::uint64_t> begins_;  ///< where each cluster begins in members_
  std::vector<NodeId> members_;        ///< ascending in each cluster
  std::vector<Address> addresses_;     ///< address of each vector; empty for coupled
  std::vector<ClusterEntry> table_;
  std::uint64_t lists_begin_ = 0;  ///< where records end and lists begin, when they are apart
  std::uint64_t region_bytes_ = 0;
};

}  // namespace farvec::layout
