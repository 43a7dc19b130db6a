#include "compute_node/backends/collection_backend.h"

#include <spdlog/spdlog.h>

#include <utility>

#include "compute_node/backends/collection_session.h"
#include "wal/durability_option.h"

namespace farvec::compute_node {

using collection::Collection;

namespace {

/// Brings the records of all segments to their tier.
void load_segments(const collection::View& view, const std::atomic<bool>& stop) {
  for (const collection::View::Bulk& bulk : view.segments) {
    bulk.segment->load([&stop](std::uint64_t) {
      // Relaxed: only the flag itself matters.
      if (!stop.load(std::memory_order_relaxed)) return;
      throw UnreachableError("opening the collection was stopped");
    });
  }
}

/// A merge waits this long for each follower.
constexpr std::chrono::milliseconds kFollowerPatience{1'000};

std::shared_ptr<const collection::ProbingNodes> followers_of(const DaemonOptions& options) {
  if (options.changes.followers.empty()) return nullptr;
  return std::make_shared<const collection::ProbingNodes>(
      rpc::parse_addresses(options.changes.followers), kFollowerPatience,
      rpc::load_tls(options.tls));
}

}  // namespace

CollectionBackend::CollectionBackend(const DaemonOptions& options)
    : options_(options),
      segments_(segments_on(options)),
      log_nodes_(log_nodes_of(options)),
      followers_(followers_of(options)) {}

collection::CollectionAccess CollectionBackend::access() const {
  wal::LogOptions log;
  wal::parse_durability(options_.changes.durability, log);
  collection::CollectionAccess access;
  access.segments = segments_;
  access.log_nodes = log_nodes_;
  access.followers = followers_;
  access.durability = log.durability;
  access.interval_us = log.interval_us;
  access.build_threads = options_.changes.build_threads;
  access.merge_threads = options_.changes.merge_threads;
  access.merge_bytes_per_s = static_cast<double>(options_.changes.merge_bytes_per_s);
  access.link = true;
  return access;
}

std::unique_ptr<SearchSession> CollectionBackend::open(std::chrono::milliseconds,
                                                       const std::atomic<bool>& stop) {
  std::shared_ptr<Collection> opened = collection();
  if (opened == nullptr) {
    // An earlier attempt has opened it when memory nodes were not there.
    if (opening_ == nullptr) opening_ = std::make_shared<Collection>(options_.collection, access());
    load_segments(*opening_->view(), stop);
    opened = std::exchange(opening_, nullptr);
    const collection::Recovery& recovery = opened->recovery();
    spdlog::info("collection '{}': {} vectors, {} changes of the log in {:.2f} s",
                 options_.collection, size_of(*opened->view()).live, recovery.changes,
                 recovery.seconds);
    const std::lock_guard lock(mutex_);
    collection_ = opened;
  }
  ServedCollection served{.shape = opened->shape(),
                          .tier = segments_.tier->name(),
                          .view = [opened] { return opened->view(); },
                          .following = nullptr};
  return std::make_unique<CollectionSession>(std::move(served), options_.slots);
}

std::shared_ptr<Collection> CollectionBackend::collection() const {
  const std::lock_guard lock(mutex_);
  return collection_;
}

}  // namespace farvec::compute_node
