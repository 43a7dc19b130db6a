// Reads coded clusters by one-sided reads: from emulated devices, and over every transport that
// does not work by loads.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "base/coded_members.h"
#include "search/sources/coded_list.h"
#include "search/sources/endpoint_reads.h"

namespace farvec::search {

/// An EndpointCodedSource is one fiber's cluster::CodedSource. The lists of all clusters go out
/// with one doorbell, and so do all vectors. What does not fit the lane's buffer goes in further
/// rounds.
class EndpointCodedSource {
 public:
  /// The dispatcher has EndpointReads::dispatcher_options().
  EndpointCodedSource(const ClusterIndex& index, ReadDispatcher& dispatcher, std::uint32_t lane)
      : locator_(index.locator()), reads_(index, dispatcher, lane), plan_(locator_) {}

  /// Is called before each search. `counts` must live until the next call.
  void begin(const SearchRequest& request, QueryCounts& counts, const PostingPlanOptions& options) {
    reads_.begin(request, counts);
    plan_.begin(options);
  }
  double coverage() const { return reads_.coverage(); }
  std::size_t dram_bytes() const {
    return reads_.dram_bytes() + plan_.dram_bytes() + list_.dram_bytes() +
           asked_.capacity() * sizeof(ClusterId);
  }

  template <typename Visit>
  Status scan(std::span<const ClusterId> clusters, Visit& visit) {
    while (!clusters.empty()) {
      if (Status status = reads_.open(); !status.ok()) return status;
      const std::size_t count = add_lists(clusters);
      if (Status status = reads_.post(); !status.ok()) return status;
      if (Status status = reads_.wait(); !status.ok()) return status;
      reads_.count_lost();
      for (std::uint32_t i = 0; i < asked_.size(); ++i) {
        if (!reads_.arrived(i)) continue;
        Status status = list_.read(locator_, asked_[i], reads_.bytes(i));
        if (!status.ok()) return status;
        visit(list_.members());
      }
      clusters = clusters.subspan(count);
    }
    return {};
  }

  template <typename Visit>
  Status fetch(std::span<const std::uint32_t> addresses, Visit& visit) {
    return reads_.fetch(plan_, addresses, visit);
  }

 private:
  /// Adds the lists of as many clusters as fit a round, at least one, and returns how many. asked_
  /// gets those that have a list.
  std::size_t add_lists(std::span<const ClusterId> clusters) {
    asked_.clear();
    std::size_t count = 0;
    for (const ClusterId cluster : clusters) {
      const layout::ByteRange list = locator_.list(cluster);
      if (!asked_.empty() &&
          (list.bytes > reads_.room().bytes || asked_.size() == reads_.limits().max_reads)) {
        break;
      }
      ++count;
      if (list.bytes == 0) continue;
      reads_.add(list);
      asked_.push_back(cluster);
    }
    reads_.counts().list_reads += asked_.size();
    return count;
  }

  const layout::ClusterLocator& locator_;
  EndpointReads reads_;
  PostingPlan plan_;
  CodedList list_;
  std::vector<ClusterId> asked_;  ///< one per read of the round
};

}  // namespace farvec::search
