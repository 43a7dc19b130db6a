#include "compute_node/backends/following_backend.h"

#include <spdlog/spdlog.h>

#include <utility>

#include "collection/read/node_arguments.h"
#include "compute_node/backends/collection_session.h"

namespace farvec::compute_node {
namespace {

std::shared_ptr<collection::CollectionFollower> follow(
    const std::string& name, const collection::SegmentAccess& segments,
    const std::shared_ptr<collection::LogNodes>& log_nodes) {
  return std::make_shared<collection::CollectionFollower>(
      collection::collection_source(name, segments), segments,
      collection::FollowOptions{.link = true, .log_nodes = log_nodes});
}

Following tell(const collection::FollowState& state) {
  return {.stale_us = state.stale_us,
          .switches = state.switches,
          .failures = state.failures,
          .failure = state.failure};
}

}  // namespace

FollowingBackend::FollowingBackend(const SearchedCollection& collection,
                                   const BackendOptions& options)
    : collection_(collection),
      slots_(options.largest.slots),
      segments_(segments_on(collection, options)),
      log_nodes_(log_nodes_of(collection, options)) {}

std::unique_ptr<SearchSession> FollowingBackend::open(std::chrono::milliseconds,
                                                      const std::atomic<bool>&) {
  if (follower_ == nullptr) {
    follower_ = follow(collection_.name, segments_, log_nodes_);
    spdlog::info("collection '{}' is followed: {} vectors", collection_.name,
                 size_of(*follower_->view()).live);
  }
  ServedCollection served{.shape = follower_->shape(),
                          .segments = segments_,
                          .view = [follower = follower_] { return follower->view(); },
                          .following = [follower = follower_] { return tell(follower->state()); }};
  return std::make_unique<CollectionSession>(std::move(served), slots_);
}

}  // namespace farvec::compute_node
