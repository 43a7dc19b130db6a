#include "compute_node/collection/collection_backend.h"

#include <spdlog/spdlog.h>

#include <utility>

#include "base/error.h"
#include "collection/collection_part.h"
#include "compute_node/service/index_session.h"
#include "compute_node/service/sampled_feed.h"
#include "tiers/tier_spec.h"
#include "wal/durability_option.h"

namespace farvec::compute_node {
namespace {

using collection::Collection;

/// Cores over the collection's newest view.
class CollectionSession final : public SearchSession {
 public:
  CollectionSession(std::shared_ptr<Collection> collection, const DaemonOptions& options,
                    std::string tier)
      : collection_(std::move(collection)), slots_(options.slots) {
    const layout::CollectionManifest& shape = collection_->shape();
    served_.metric = shape.metric;
    served_.source_type = shape.source_type;
    served_.stored_type = shape.stored_type;
    served_.dimension = shape.dimension;
    served_.degree = shape.options.degree;
    served_.code_bits = shape.options.code_bits;
    served_.user_ids = true;
    served_.layout = "collection";
    served_.tier = std::move(tier);
    served_.generation = 1;
  }

  const ServedIndex& index() const override { return served_; }
  ServedIndex present() const override {
    const collection::ViewSize size = size_of(*collection_->view());
    ServedIndex now = served_;
    now.count = size.live;
    now.index_bytes = size.segment_bytes;
    // Of memtables and ids: what the process keeps beside the segments' own indexes.
    now.offset_bytes = size.dram_bytes;
    return now;
  }
  void run_core(unsigned, search::TaskFeed& feed) override {
    const auto core =
        collection::make_collection_core([this] { return collection_->view(); }, slots_);
    SampledFeed sampled(feed, *core, *this);
    core->run(sampled);
  }
  bool alive() const override { return true; }
  TierCounters& counters() override { return counters_; }

 private:
  const std::shared_ptr<Collection> collection_;
  const std::uint32_t slots_;
  ServedIndex served_;
  TierCounters counters_;
};

/// Tiers that hold any number of indexes, and not one that is named.
collection::SegmentAccess segments_on(const DaemonOptions& options) {
  const std::string tier = options.tier.empty() ? "dram" : options.tier;
  collection::SegmentAccess segments = collection::SegmentAccess::on(tier);
  const bool named = tier.find(':') != std::string::npos && !tier.starts_with("emulated:") &&
                     !tier.starts_with("numa:");
  if (segments.tier->is_remote() || named) {
    throw Error(
        "--tier {}: a collection has many segments, which lie in dram, shm, numa:NODE, "
        "emulated:MODEL or ssd",
        tier);
  }
  segments.shape = search_shape(options);
  return segments;
}

}  // namespace

CollectionBackend::CollectionBackend(const DaemonOptions& options)
    : options_(options), segments_(segments_on(options)) {}

collection::CollectionAccess CollectionBackend::access() const {
  wal::LogOptions log;
  wal::parse_durability(options_.changes.durability, log);
  collection::CollectionAccess access;
  access.segments = segments_;
  access.durability = log.durability;
  access.interval_us = log.interval_us;
  access.build_threads = options_.changes.build_threads;
  access.link = true;
  return access;
}

std::unique_ptr<SearchSession> CollectionBackend::open(std::chrono::milliseconds,
                                                       const std::atomic<bool>& stop) {
  std::shared_ptr<Collection> opened = collection();
  if (opened == nullptr) {
    opened = std::make_shared<Collection>(options_.collection, access());
    for (const collection::View::Bulk& bulk : opened->view()->segments) {
      // Relaxed: only the flag itself matters.
      if (stop.load(std::memory_order_relaxed)) {
        throw search::UnreachableError("opening the collection was stopped");
      }
      bulk.segment->load();
    }
    const collection::Recovery& recovery = opened->recovery();
    spdlog::info("collection '{}': {} vectors, {} changes of the log in {:.2f} s",
                 options_.collection, size_of(*opened->view()).live, recovery.changes,
                 recovery.seconds);
    const std::lock_guard lock(mutex_);
    collection_ = opened;
  }
  return std::make_unique<CollectionSession>(std::move(opened), options_, segments_.tier->name());
}

std::shared_ptr<Collection> CollectionBackend::collection() const {
  const std::lock_guard lock(mutex_);
  return collection_;
}

}  // namespace farvec::compute_node
