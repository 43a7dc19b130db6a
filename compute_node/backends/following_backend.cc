#include "compute_node/backends/following_backend.h"

#include <spdlog/spdlog.h>

#include <utility>

#include "collection/read/node_arguments.h"
#include "compute_node/backends/collection_session.h"

namespace farvec::compute_node {
namespace {

std::shared_ptr<collection::CollectionFollower> follow(
    const DaemonOptions& options, const collection::SegmentAccess& segments,
    const std::shared_ptr<collection::LogNodes>& log_nodes) {
  return std::make_shared<collection::CollectionFollower>(
      collection::collection_source(options.collection, segments), segments,
      collection::FollowOptions{.link = true, .log_nodes = log_nodes});
}

Following tell(const collection::FollowState& state) {
  return {.stale_us = state.stale_us,
          .switches = state.switches,
          .failures = state.failures,
          .failure = state.failure};
}

}  // namespace

FollowingBackend::FollowingBackend(const DaemonOptions& options)
    : options_(options), segments_(segments_on(options)), log_nodes_(log_nodes_of(options)) {}

std::unique_ptr<SearchSession> FollowingBackend::open(std::chrono::milliseconds,
                                                      const std::atomic<bool>&) {
  if (follower_ == nullptr) {
    follower_ = follow(options_, segments_, log_nodes_);
    spdlog::info("collection '{}' is followed: {} vectors", options_.collection,
                 size_of(*follower_->view()).live);
  }
  ServedCollection served{.shape = follower_->shape(),
                          .tier = segments_.tier->name(),
                          .view = [follower = follower_] { return follower->view(); },
                          .following = [follower = follower_] { return tell(follower->state()); }};
  return std::make_unique<CollectionSession>(std::move(served), options_.slots);
}

}  // namespace farvec::compute_node
