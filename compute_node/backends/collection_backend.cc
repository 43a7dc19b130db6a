#include "compute_node/backends/collection_backend.h"

#include <spdlog/spdlog.h>

#include <utility>

#include "compute_node/backends/collection_changes.h"
#include "compute_node/backends/collection_session.h"
#include "wal/durability_option.h"

namespace farvec::compute_node {

using collection::Collection;

namespace {

/// Brings the records of all segments to their tier.
void load_segments(const collection::View& view, const std::atomic<bool>& stop) {
  for (const collection::View::Bulk& bulk : view.segments) {
    bulk.segment->records().load([&stop](std::uint64_t) {
      // Relaxed: only the flag itself matters.
      if (!stop.load(std::memory_order_relaxed)) return;
      throw UnreachableError("opening the collection was stopped");
    });
  }
}

/// A merge waits this long for each follower.
constexpr std::chrono::milliseconds kFollowerPatience{1'000};

std::shared_ptr<const collection::ProbingNodes> followers_of(const BackgroundOptions& background,
                                                             std::shared_ptr<const rpc::Tls> tls) {
  if (background.followers.empty()) return nullptr;
  return std::make_shared<const collection::ProbingNodes>(
      rpc::parse_addresses(background.followers), kFollowerPatience, std::move(tls));
}

}  // namespace

CollectionBackend::CollectionBackend(const ChangedSource& source, const BackendOptions& options)
    : source_(source),
      slots_(options.largest.slots),
      segments_(segments_on(source.collection, options)),
      log_nodes_(log_nodes_of(source.collection, options)),
      followers_(followers_of(source.background, options.tls)) {}

collection::CollectionAccess CollectionBackend::access() const {
  wal::LogOptions log;
  wal::parse_durability(source_.durability, log);
  collection::CollectionAccess access;
  access.segments = segments_;
  access.log_nodes = log_nodes_;
  access.followers = followers_;
  access.durability = log.durability;
  access.interval_us = log.interval_us;
  access.build_threads = source_.background.build_threads;
  access.merge_threads = source_.background.merge_threads;
  access.merge_bytes_per_s = static_cast<double>(source_.background.merge_bytes_per_s);
  access.link = true;
  return access;
}

std::unique_ptr<SearchSession> CollectionBackend::open(std::chrono::milliseconds,
                                                       const std::atomic<bool>& stop) {
  std::shared_ptr<Collection> opened = collection();
  if (opened == nullptr) {
    // An earlier attempt has opened it when memory nodes were not there.
    if (opening_ == nullptr)
      opening_ = std::make_shared<Collection>(source_.collection.name, access());
    load_segments(*opening_->view(), stop);
    opened = std::exchange(opening_, nullptr);
    const collection::Recovery& recovery = opened->recovery();
    spdlog::info("collection '{}': {} vectors, {} changes of the log in {:.2f} s",
                 source_.collection.name, size_of(*opened->view()).live, recovery.changes,
                 recovery.seconds);
    const std::lock_guard lock(mutex_);
    collection_ = opened;
  }
  ServedCollection served{.shape = opened->shape(),
                          .segments = segments_,
                          .view = [opened] { return opened->view(); },
                          .following = nullptr};
  return std::make_unique<CollectionSession>(std::move(served), slots_);
}

std::shared_ptr<ServedChanges> CollectionBackend::changes() const {
  const std::shared_ptr<Collection> open = collection();
  return open == nullptr ? nullptr : std::make_shared<CollectionChanges>(open);
}

std::shared_ptr<Collection> CollectionBackend::collection() const {
  const std::lock_guard lock(mutex_);
  return collection_;
}

}  // namespace farvec::compute_node
