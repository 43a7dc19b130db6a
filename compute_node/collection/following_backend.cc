#include "compute_node/collection/following_backend.h"

#include <spdlog/spdlog.h>

#include <utility>

#include "compute_node/collection/collection_session.h"

namespace farvec::compute_node {
namespace {

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
    follower_ = std::make_shared<collection::CollectionFollower>(
        options_.collection, segments_,
        collection::FollowOptions{.link = true, .log_nodes = log_nodes_});
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
