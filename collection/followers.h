// The compute nodes that follow a collection, as the process that changes it asks them.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "rpc/address.h"
#include "rpc/tls.h"
#include "search/probe_counts.h"

namespace farvec::collection {

/// Immutable; shared by threads.
class Followers {
 public:
  Followers(std::vector<rpc::Address> nodes, std::shared_ptr<const rpc::Tls> tls)
      : nodes_(std::move(nodes)), tls_(std::move(tls)) {}

  /// Adds to `sum`, which is of this segment, how often each of them has probed the segment's
  /// clusters since it opened it. One that does not answer within a second, or has not opened the
  /// segment, adds nothing, and the log says so. Asks them one after the other, and ends between
  /// two of them once `interrupted` returns true. Returns how many have answered.
  std::size_t add_probes(std::uint64_t segment, search::ProbeTally& sum,
                         const std::function<bool()>& interrupted) const;

 private:
  const std::vector<rpc::Address> nodes_;
  const std::shared_ptr<const rpc::Tls> tls_;
};

}  // namespace farvec::collection
