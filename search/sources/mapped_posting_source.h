// Reads clusters by load: the region is mapped into this process (DRAM, shared memory, devdax).
#pragma once

#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "search/sources/mapped_reads.h"

namespace farvec::search {

/// A MappedPostingSource is one fiber's PostingSource. Lists and groups are prefetched and, after
/// other fibers have had their turn, read in place; strays as well. With a modelled device, nothing
/// is read before the device would have brought it.
class MappedPostingSource {
 public:
  MappedPostingSource(const ClusterIndex& index, const std::byte* region,
                      coroutines::Scheduler& scheduler, transport::DeviceReader* device)
      : index_(index),
        locator_(index.locator()),
        reads_(index, region, scheduler, device),
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
  double coverage() const { return 1; }
  bool distinct() const { return dedup_ && locator_.geometry().decouples(); }
  std::size_t dram_bytes() const {
    return plan_.dram_bytes() + iota_.size() * sizeof(std::uint32_t);
  }

  template <typename Visit>
  Status probe(std::span<const ClusterId> clusters, Visit&& visit) {
    plan_.open(clusters);
    if (Status status = fetch_clusters(clusters); !status.ok()) return status;
    for (const ClusterId cluster : clusters) {
      const layout::ByteRange list = locator_.list(cluster);
      if (list.bytes == 0) continue;
      Status status = plan_.take_list(cluster, reads_.bytes(list));
      if (!status.ok()) return status;
    }
    plan_.close({.read_bytes = MappedReads::kMostReadBytes});
    if (Status status = reads_.fetch(plan_); !status.ok()) return status;
    for (const ClusterId cluster : clusters) {
      const layout::ByteRange group = locator_.group(cluster);
      const auto records = locator_.entry(cluster).group_records;
      if (records == 0) continue;
      Status status = hand_out(index_, reads_.bytes(group), std::span(iota_).first(records), visit);
      if (!status.ok()) return status;
    }
    return reads_.hand_out_fetched(plan_, visit);
  }

  /// Works like CodedSource::fetch().
  template <typename Visit>
  Status fetch(std::span<const std::uint32_t> addresses, Visit& visit) {
    return reads_.fetch(plan_, addresses, visit);
  }

 private:
  Status fetch_clusters(std::span<const ClusterId> clusters) {
    QueryCounts& counts = reads_.counts();
    for (const ClusterId cluster : clusters) {
      const layout::ByteRange whole = locator_.whole(cluster);
      const layout::ByteRange list = locator_.list(cluster);
      const layout::ByteRange group = locator_.group(cluster);
      counts.group_reads += group.bytes > 0 ? 1 : 0;
      if (whole.bytes > 0) {
        reads_.request(whole);
        continue;
      }
      counts.list_reads += list.bytes > 0 ? 1 : 0;
      if (list.bytes > 0) reads_.request(list);
      if (group.bytes > 0) reads_.request(group);
    }
    return reads_.come_back();
  }

  const ClusterIndex& index_;
  const layout::ClusterLocator& locator_;
  MappedReads reads_;
  PostingPlan plan_;
  std::vector<std::uint32_t> iota_;  ///< 0, 1, 2...
  bool dedup_ = true;
};

}  // namespace farvec::search
