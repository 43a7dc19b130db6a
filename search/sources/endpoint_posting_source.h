// Reads clusters by one-sided reads: from emulated devices, and over every transport that does not
// work by loads.
#pragma once

#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "search/sources/endpoint_reads.h"

namespace farvec::search {

/// An EndpointPostingSource is one fiber's PostingSource. The lists and groups of all clusters go
/// out with one doorbell, then all strays; the groups are scored while the strays are on their way.
/// What does not fit the lane's buffer goes in further rounds.
class EndpointPostingSource {
 public:
  /// The dispatcher has EndpointReads::dispatcher_options().
  EndpointPostingSource(const ClusterIndex& index, ReadDispatcher& dispatcher, std::uint32_t lane)
      : index_(index),
        locator_(index.locator()),
        reads_(index, dispatcher, lane),
        plan_(index.locator()),
        iota_(index.locator().max_members()) {
    std::iota(iota_.begin(), iota_.end(), 0u);
  }

  /// Is called before each search. `counts` must live until the next call.
  void begin(const SearchRequest& request, QueryCounts& counts, const PostingPlanOptions& options) {
    reads_.begin(request, counts);
    dedup_ = options.dedup;
    plan_.begin(options);
  }
  double coverage() const { return reads_.coverage(); }
  bool distinct() const { return dedup_ && locator_.geometry().decouples(); }
  std::size_t dram_bytes() const {
    return plan_.dram_bytes() + iota_.size() * sizeof(std::uint32_t) +
           round_.capacity() * sizeof(RoundCluster) + reads_.dram_bytes();
  }

  template <typename Visit>
  Status probe(std::span<const ClusterId> clusters, Visit&& visit) {
    while (!clusters.empty()) {
      const std::size_t count = fitting(clusters);
      if (Status status = round(clusters.first(count), visit); !status.ok()) return status;
      clusters = clusters.subspan(count);
    }
    return {};
  }

  /// Works like CodedSource::fetch().
  template <typename Visit>
  Status fetch(std::span<const std::uint32_t> addresses, Visit& visit) {
    return reads_.fetch(plan_, addresses, visit);
  }

 private:
  /// A RoundCluster is a cluster of a round, and the reads that bring its list and its group.
  struct RoundCluster {
    ClusterId cluster = 0;
    std::uint32_t list_read = 0;
    std::uint32_t group_read = 0;      ///< may be the same read
    std::uint64_t group_begin = 0;     ///< place in its read
    const std::byte* group = nullptr;  ///< set once it is there
  };

  /// Returns the most bytes that a cluster can bring: its list, its group, and every stray.
  static std::uint64_t most_bytes(const layout::ClusterLocator& locator, ClusterId cluster) {
    return locator.cluster_bytes(cluster) + 3 * kCacheLineBytes +
           std::uint64_t{locator.entry(cluster).list_addresses} * locator.geometry().record_bytes();
  }
  /// Says how many of the clusters, at least one, fit one round.
  std::size_t fitting(std::span<const ClusterId> clusters) const {
    const DispatcherOptions& lanes = reads_.limits();
    std::uint64_t bytes = 0;
    std::uint64_t reads = 0;
    std::size_t count = 0;
    for (const ClusterId cluster : clusters) {
      bytes += most_bytes(locator_, cluster);
      reads += locator_.entry(cluster).list_addresses + EndpointReads::kReadsBesides;
      if (count > 0 && (bytes > lanes.lane_bytes || reads > lanes.max_reads)) break;
      ++count;
    }
    return count;
  }

  template <typename Visit>
  Status round(std::span<const ClusterId> clusters, Visit& visit) {
    plan_.open(clusters);
    if (Status status = reads_.open(); !status.ok()) return status;
    plan_cluster_reads(clusters);
    if (Status status = reads_.post(); !status.ok()) return status;
    if (Status status = reads_.wait(); !status.ok()) return status;
    if (Status status = take_parts(); !status.ok()) return status;
    plan_.close(reads_.room());
    if (Status status = reads_.post_fetch(plan_); !status.ok()) return status;
    const Status groups = hand_out_groups(visit);
    if (Status status = reads_.wait(); !status.ok()) return status;
    if (!groups.ok()) return groups;
    return reads_.hand_out_fetched(plan_, visit);
  }

  void plan_cluster_reads(std::span<const ClusterId> clusters) {
    round_.clear();
    QueryCounts& counts = reads_.counts();
    for (const ClusterId cluster : clusters) {
      const layout::ByteRange list = locator_.list(cluster);
      const layout::ByteRange group = locator_.group(cluster);
      const layout::ByteRange whole = locator_.whole(cluster);
      RoundCluster one{cluster};
      counts.group_reads += group.bytes > 0 ? 1 : 0;
      if (whole.bytes > 0) {
        one.group_begin = group.offset - whole.offset;
        one.list_read = one.group_read = reads_.add(whole);
      } else {
        if (list.bytes > 0) {
          ++counts.list_reads;
          one.list_read = reads_.add(list);
        }
        if (group.bytes > 0) one.group_read = reads_.add(group);
      }
      round_.push_back(one);
    }
  }

  /// Hands the lists to the plan and finds the groups; parts that a partial search must do without
  /// are empty.
  Status take_parts() {
    for (RoundCluster& one : round_) {
      const std::uint64_t list_bytes = locator_.list(one.cluster).bytes;
      if (list_bytes > 0 && reads_.arrived(one.list_read)) {
        const auto list = reads_.bytes(one.list_read).first(list_bytes);
        if (Status status = plan_.take_list(one.cluster, list); !status.ok()) return status;
      }
      if (locator_.group(one.cluster).bytes > 0 && reads_.arrived(one.group_read)) {
        one.group = reads_.bytes(one.group_read).data() + one.group_begin;
      }
    }
    reads_.count_lost();
    return {};
  }

  template <typename Visit>
  Status hand_out_groups(Visit& visit) {
    for (const RoundCluster& one : round_) {
      if (one.group == nullptr) continue;
      const std::uint32_t records = locator_.entry(one.cluster).group_records;
      Status status = hand_out(index_, {one.group, locator_.group(one.cluster).bytes},
                               std::span(iota_).first(records), visit);
      if (!status.ok()) return status;
    }
    return {};
  }

  const ClusterIndex& index_;
  const layout::ClusterLocator& locator_;
  EndpointReads reads_;
  PostingPlan plan_;
  std::vector<std::uint32_t> iota_;  ///< 0, 1, 2...
  bool dedup_ = true;
  std::vector<RoundCluster> round_;
};

}  // namespace farvec::search
