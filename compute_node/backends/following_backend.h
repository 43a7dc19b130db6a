// A FollowingBackend opens a collection that another process changes and this one searches.
#pragma once

#include <memory>

#include "collection/read/collection_follower.h"
#include "compute_node/backends/backend_options.h"
#include "compute_node/service/search_backend.h"
#include "compute_node/sources/collection_sources.h"

namespace farvec::compute_node {

/// The first open() opens the collection in its present state. From then on it is followed until
/// the backend is destroyed, and every session searches it.
class FollowingBackend final : public SearchBackend {
 public:
  /// Throws Error on a tier that a collection cannot have.
  FollowingBackend(const SearchedCollection& collection, const BackendOptions& options);

  std::string target() const override { return "collection " + collection_.name; }
  std::unique_ptr<SearchSession> open(std::chrono::milliseconds bound,
                                      const std::atomic<bool>& stop) override;

 private:
  const SearchedCollection collection_;
  const std::uint32_t slots_;
  const collection::SegmentAccess segments_;
  const std::shared_ptr<collection::LogNodes> log_nodes_;
  std::shared_ptr<collection::CollectionFollower> follower_;  ///< used by open()'s thread only
};

}  // namespace farvec::compute_node
