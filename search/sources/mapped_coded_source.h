// Reads coded clusters by load: the region is mapped into this process (DRAM, shared memory,
// devdax).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/coded_members.h"
#include "search/sources/coded_list.h"
#include "search/sources/mapped_reads.h"

namespace farvec::search {

/// A MappedCodedSource is one fiber's cluster::CodedSource. The beginnings of lists are prefetched.
/// After other fibers have had their turn, lists are read in place, each while the next one comes.
/// Vectors are read in the same way. With a modelled device, nothing is read before the device
/// would have brought it.
class MappedCodedSource {
 public:
  MappedCodedSource(const ClusterIndex& index, const std::byte* region,
                    coroutines::Scheduler& scheduler, transport::DeviceReader* device)
      : locator_(index.locator()), reads_(index, region, scheduler, device), plan_(locator_) {}

  /// Is called before each search. `counts` must live until the next call.
  void begin(const SearchRequest& request, QueryCounts& counts, const PostingPlanOptions& options) {
    reads_.begin(request, counts);
    plan_.begin(options);
  }
  double coverage() const { return 1; }
  std::size_t dram_bytes() const { return plan_.dram_bytes() + list_.dram_bytes(); }

  template <typename Visit>
  Status scan(std::span<const ClusterId> clusters, Visit& visit) {
    for (const ClusterId cluster : clusters) {
      const layout::ByteRange list = locator_.list(cluster);
      if (list.bytes == 0) continue;
      ++reads_.counts().list_reads;
      reads_.request(list);
    }
    if (Status status = reads_.come_back(); !status.ok()) return status;
    for (std::size_t i = 0; i < clusters.size(); ++i) {
      if (i + 1 < clusters.size()) reads_.prefetch(locator_.list(clusters[i + 1]));
      const layout::ByteRange list = locator_.list(clusters[i]);
      if (list.bytes == 0) continue;
      Status status = list_.read(locator_, clusters[i], reads_.bytes(list));
      if (!status.ok()) return status;
      visit(list_.members());
    }
    return {};
  }

  template <typename Visit>
  Status fetch(std::span<const std::uint32_t> addresses, Visit& visit) {
    return reads_.fetch(plan_, addresses, visit);
  }

 private:
  const layout::ClusterLocator& locator_;
  MappedReads reads_;
  PostingPlan plan_;
  CodedList list_;
};

}  // namespace farvec::search
