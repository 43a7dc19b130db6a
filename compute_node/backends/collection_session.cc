#include "compute_node/backends/collection_session.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <utility>

#include "base/error.h"
#include "collection/search/collection_part.h"
#include "compute_node/backends/index_session.h"
#include "compute_node/service/sampled_feed.h"
#include "tiers/tier_spec.h"

namespace farvec::compute_node {
namespace {

/// The supervisor tries again, up to --attach-seconds.
constexpr std::chrono::milliseconds kOneAttempt{2'000};
constexpr std::uint32_t kMostClusters = std::numeric_limits<std::uint32_t>::max();

/// Returns the clusters of all segments. They tell clients what a search may choose, also before
/// there are any.
std::uint32_t clusters_of(const collection::View& view) {
  std::uint64_t clusters = 0;
  for (const collection::View::Bulk& bulk : view.segments) {
    clusters += bulk.segment->manifest().cluster().geometry.clusters;
  }
  return static_cast<std::uint32_t>(std::clamp<std::uint64_t>(clusters, 1, kMostClusters));
}

}  // namespace

CollectionSession::CollectionSession(ServedCollection served, std::uint32_t slots)
    : served_(std::move(served)), slots_(slots) {
  const layout::CollectionManifest& shape = served_.shape;
  index_.metric = shape.metric;
  index_.source_type = shape.source_type;
  index_.stored_type = shape.stored_type;
  index_.dimension = shape.dimension;
  index_.kind = shape.options.kind;
  if (index_.kind == layout::IndexKind::cluster) {
    index_.clusters = kMostClusters;  // no bound, as there will be more: present() counts them
  } else {
    index_.degree = shape.options.degree;
    index_.code_bits = shape.options.code_bits.value_or(0);
  }
  index_.refines = shape.options.store.has_value();
  index_.user_ids = true;
  index_.schema = [view = served_.view] { return view()->schema; };
  index_.layout = "collection";
  index_.tier = served_.segments.tier->name();
  const search::SearchShape& searches = served_.segments.shape;
  if (shape.options.in_pages()) index_.page_search = to_string(searches.disk);
  if (searches.pools != nullptr) index_.memory_budget = searches.pools->bytes();
  index_.generation = 1;
}

ServedIndex CollectionSession::present() const {
  const collection::ViewPointer view = served_.view();
  const collection::ViewSize size = size_of(*view);
  ServedIndex now = index_;
  if (now.kind == layout::IndexKind::cluster) now.clusters = clusters_of(*view);
  now.count = size.live;
  now.index_bytes = size.segment_bytes;
  // The bytes of memtables and ids, which the process keeps beside the segments' own indexes.
  now.offset_bytes = size.dram_bytes;
  const auto& pools = served_.segments.shape.pools;
  if (pools != nullptr) now.cache_bytes = pools->used();
  if (served_.following) now.following = served_.following();
  return now;
}

std::optional<search::ProbeTally> CollectionSession::segment_probes(std::uint64_t number) const {
  const collection::ViewPointer view = served_.view();
  for (const collection::View::Bulk& bulk : view->segments) {
    if (bulk.segment->number() == number) return bulk.segment->records().probes();
  }
  return std::nullopt;
}

void CollectionSession::run_core(unsigned, search::TaskFeed& feed) {
  const auto core = collection::make_collection_core(served_.view, slots_);
  SampledFeed sampled(feed, *core, *this);
  core->run(sampled);
}

namespace {

/// Returns the options for nodes that hold parts of a collection.
tiers::AttachOptions node_options(const BackendOptions& options) {
  tiers::AttachOptions attach;
  attach.client = fmt::format("farvec-compute-node/{}", getpid());
  attach.wait = std::min(options.attach_bound, kOneAttempt);
  attach.tls = options.tls;
  return attach;
}

collection::SegmentAccess segments_on_nodes(const SearchedCollection& collection,
                                            const BackendOptions& options) {
  collection::SegmentNodesOptions nodes;
  nodes.attach = node_options(options);
  nodes.attach.connect_timeout = kOneAttempt;  // other copies are read meanwhile
  nodes.attach.cores = options.largest.cores;
  nodes.placed.node_timeout = collection.node_timeout;
  collection::SegmentAccess segments =
      collection::segments_on_nodes(collection.nodes, std::move(nodes));
  segments.shape = options.largest;
  return segments;
}

}  // namespace

collection::SegmentAccess segments_on(const SearchedCollection& collection,
                                      const BackendOptions& options) {
  if (!collection.nodes.segments.empty()) return segments_on_nodes(collection, options);
  const std::string& tier = collection.tier;
  collection::SegmentAccess segments = collection::SegmentAccess::on(tier);
  const bool named = tier.find(':') != std::string::npos && !tier.starts_with("emulated:") &&
                     !tier.starts_with("numa:");
  if (segments.tier->is_remote() || named) {
    throw Error(
        "--tier {}: a collection has many segments, which lie in dram, shm, numa:NODE, "
        "emulated:MODEL or ssd",
        tier);
  }
  if (!collection.second_tier.empty()) {
    collection::set_second_tier(segments, collection.second_tier);
  }
  segments.shape = options.largest;
  if (collection.pages) search::set_shared_pools(segments.shape, *collection.pages);
  return segments;
}

std::shared_ptr<collection::LogNodes> log_nodes_of(const SearchedCollection& collection,
                                                   const BackendOptions& options) {
  return collection::log_nodes_of(collection.nodes, node_options(options));
}

}  // namespace farvec::compute_node
