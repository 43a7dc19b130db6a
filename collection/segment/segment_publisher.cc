#include "collection/segment/segment_publisher.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <numeric>
#include <utility>

#include "base/check.h"
#include "base/unreachable_error.h"
#include "collection/memtable/yielding.h"
#include "collection/segment/segment_folder.h"
#include "layout/collection/segment_attributes.h"
#include "layout/collection/segment_ids.h"

namespace farvec::collection {
namespace {

/// Nodes that were started again, or that need what failed before, are looked at this often.
constexpr auto kLookPause = std::chrono::seconds(1);

bool holds(const std::optional<tiers::SegmentHost::Held>& held, std::uint64_t number,
           const tiers::SegmentHost::Contents& contents) {
  if (!held) return false;
  const auto found = held->find(number);
  return found != held->end() && found->second == contents;
}

}  // namespace

tiers::SegmentHost::SegmentPaths paths_of(const Segment& segment) {
  const layout::Manifest& manifest = segment.manifest();
  const std::filesystem::path folder = segment.folder().directory().path();
  const layout::SegmentEntry entry{.number = segment.number(), .rows = segment.rows()};
  tiers::SegmentHost::SegmentPaths paths{
      .index = folder,
      .index_bytes = manifest.node_bytes(0),
      .ids = folder / layout::kSegmentIdsFile,
      .ids_bytes = layout::segment_ids_bytes(entry),
      .contents = {layout::manifest_checksum(layout::manifest_to_json(manifest)),
                   layout::segment_ids_checksum(entry, segment.ids().all())}};
  if (!segment.attributes().has_tuples()) return paths;
  paths.attributes = folder / layout::kSegmentAttributesFile;
  const layout::FileSum sum = layout::sum_of_file(paths.attributes);
  paths.attributes_bytes = sum.bytes;
  paths.contents.attributes = sum.checksum;
  return paths;
}

SegmentPublisher::SegmentPublisher(std::shared_ptr<const SegmentNodes> nodes,
                                   std::uint64_t collection)
    : nodes_(std::move(nodes)), collection_(collection) {
  for (std::size_t i = 0; i < nodes_->options().nodes.size(); ++i) {
    hosts_.emplace_back().host =
        std::make_unique<tiers::SegmentHost>(nodes_->attach_options(i, {}));
  }
}

void SegmentPublisher::begin() {
  thread_ = std::thread([this] { run(); });
}

SegmentPublisher::~SegmentPublisher() {
  stop();
  if (thread_.joinable()) thread_.join();
}

void SegmentPublisher::stop() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  wake_.notify_all();
  for (const Node& node : hosts_) node.host->stop();
}

void SegmentPublisher::want(const Segment& segment) {
  {
    const tiers::SegmentHost::SegmentPaths paths = paths_of(segment);
    const std::lock_guard lock(mutex_);
    wanted_[segment.number()] = paths;
    changed_ = true;
  }
  wake_.notify_all();
}

tiers::SegmentHost::SegmentPaths SegmentPublisher::files(std::uint64_t number) const {
  const std::lock_guard lock(mutex_);
  const auto found = wanted_.find(number);
  FARVEC_CHECK(found != wanted_.end(), "segment {} is not wanted", number);
  return found->second;
}

std::size_t SegmentPublisher::publish_catalogue(const tiers::SegmentHost::CatalogueFile& file) {
  {
    const std::lock_guard lock(mutex_);
    catalogue_ = file;
    changed_ = true;
  }
  wake_.notify_all();
  const std::lock_guard work(work_);
  return spread_catalogue();
}

std::optional<tiers::SegmentHost::CatalogueFile> SegmentPublisher::catalogue() const {
  const std::lock_guard lock(mutex_);
  return catalogue_;
}

/// Called under work_. Returns how many nodes have the newest catalogue; nodes that have not
/// answered lately may have it too.
std::size_t SegmentPublisher::spread_catalogue() {
  const std::optional<tiers::SegmentHost::CatalogueFile> file = catalogue();
  if (!file) return 0;
  std::size_t holders = 0;
  for (Node& node : hosts_) {
    if (!node.held) continue;
    try {
      if (node.catalogue != file->checksum) node.host->load_catalogue(collection_, *file);
      node.catalogue = file->checksum;
      ++holders;
    } catch (const std::exception& error) {
      node.failure = error.what();
    }
  }
  return holders;
}

void SegmentPublisher::forget(std::uint64_t number) {
  {
    const std::lock_guard lock(mutex_);
    wanted_.erase(number);
    changed_ = true;
  }
  wake_.notify_all();
}

void SegmentPublisher::publish(std::uint64_t number) {
  const std::lock_guard work(work_);
  const WantedSegments all = wanted();
  const auto found = all.find(number);
  if (found == all.end()) throw UnreachableError("segment {} is not wanted", number);
  for (const std::size_t node : nodes_->homes(number)) look_at(hosts_[node]);
  if (spread(number, found->second) > 0) return;
  throw UnreachableError("no memory node has taken segment {}{}", number,
                         why_not(nodes_->homes(number)));
}

void SegmentPublisher::require_node() const {
  const std::lock_guard lock(mutex_);
  if (!answered_) throw UnreachableError("none of the segments' memory nodes answers");
}

std::uint64_t SegmentPublisher::missing_copies() const {
  const std::lock_guard lock(mutex_);
  return missing_;
}

std::string SegmentPublisher::failure() const {
  const std::lock_guard lock(mutex_);
  return failure_;
}

void SegmentPublisher::run() {
  yield_to_searches();
  std::unique_lock lock(mutex_);
  while (!stop_) {
    wake_.wait_for(lock, kLookPause, [this] { return stop_ || changed_; });
    if (stop_) return;
    changed_ = false;
    lock.unlock();
    look();
    lock.lock();
  }
}

bool SegmentPublisher::is_stopping() const {
  const std::lock_guard lock(mutex_);
  return stop_;
}

bool SegmentPublisher::is_wanted(std::uint64_t number) const {
  const std::lock_guard lock(mutex_);
  return wanted_.contains(number);
}

SegmentPublisher::WantedSegments SegmentPublisher::wanted() const {
  const std::lock_guard lock(mutex_);
  return wanted_;
}

/// Makes one round over all nodes and segments; publish() may come between two segments.
void SegmentPublisher::look() {
  const std::size_t copies = nodes_->options().copies;
  std::uint64_t missing = 0;
  std::string failure = look_at_all();
  for (const auto& [number, segment] : wanted()) {
    if (is_stopping()) return;
    const std::lock_guard work(work_);
    if (!is_wanted(number)) continue;
    const std::size_t holders = spread(number, segment);
    if (holders >= copies) continue;
    missing += copies - holders;
    failure = fmt::format("segment {} is on {} of {} memory nodes{}", number, holders, copies,
                          why_not(nodes_->homes(number)));
  }
  tell(failure, missing);
}

/// To get room, drops what is on a node and not wanted, when the node has a catalogue that does not
/// name it. What is wanted is read under the lock, so that whatever another thread publishes from
/// then on stays. Returns what is wrong with catalogues.
std::string SegmentPublisher::look_at_all() {
  const std::lock_guard work(work_);
  const WantedSegments now = wanted();
  for (Node& node : hosts_) look_at(node);
  const std::size_t holders = spread_catalogue();
  bool answered = false;
  std::vector<std::size_t> all(hosts_.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  std::string failure;
  if (holders < nodes_->options().copies) {
    failure = fmt::format("the catalogue is on {} of {} memory nodes{}", holders,
                          nodes_->options().copies, why_not(all));
  }
  const auto newest = catalogue();
  for (Node& node : hosts_) {
    if (newest && node.catalogue == newest->checksum) drop_others(node, now);
    answered = answered || node.held.has_value();
  }
  const std::lock_guard lock(mutex_);
  answered_ = answered;
  return failure;
}

/// Called under work_: returns the failures of these nodes.
std::string SegmentPublisher::why_not(const std::vector<std::size_t>& nodes) const {
  std::string why;
  for (const std::size_t node : nodes) {
    if (!hosts_[node].failure.empty()) why += "; " + hosts_[node].failure;
  }
  return why;
}

void SegmentPublisher::tell(const std::string& failure, std::uint64_t missing) {
  const std::lock_guard lock(mutex_);
  missing_ = missing;
  if (failure == failure_) return;
  failure_ = failure;
  if (!failure.empty()) spdlog::warn("segments of the collection: {}", failure);
}

void SegmentPublisher::look_at(Node& node) const {
  node.failure.clear();
  try {
    node.held = node.host->list(collection_);
    node.catalogue = 0;
    for (const auto& held : node.host->catalogues()) {
      if (held.collection == collection_) node.catalogue = held.checksum;
    }
  } catch (const std::exception& error) {
    node.held.reset();
    node.failure = error.what();
  }
}

/// Returns how many nodes hold the segment. Where these are too few, it loads it first.
std::size_t SegmentPublisher::spread(std::uint64_t number,
                                     const tiers::SegmentHost::SegmentPaths& wanted) {
  const std::vector<std::size_t> homes = nodes_->homes(number);
  auto holders =
      static_cast<std::size_t>(std::count_if(homes.begin(), homes.end(), [&](std::size_t home) {
        return holds(hosts_[home].held, number, wanted.contents);
      }));
  for (const std::size_t home : homes) {
    Node& node = hosts_[home];
    if (holders >= nodes_->options().copies) break;
    if (!node.held || holds(node.held, number, wanted.contents)) continue;
    try {
      node.host->load({collection_, number}, wanted);
      (*node.held)[number] = wanted.contents;
      ++holders;
    } catch (const std::exception& error) {
      node.failure = error.what();
    }
  }
  return holders;
}

void SegmentPublisher::drop_others(Node& node, const WantedSegments& wanted) {
  if (!node.held) return;
  for (const auto& [number, contents] : *node.held) {
    const auto found = wanted.find(number);
    if (found != wanted.end() && found->second.contents == contents) continue;
    try {
      node.host->drop({collection_, number});
    } catch (const std::exception& error) {
      node.failure = error.what();
      return;
    }
  }
  std::erase_if(*node.held, [&](const auto& held) {
    const auto found = wanted.find(held.first);
    return found == wanted.end() || found->second.contents != held.second;
  });
}

}  // namespace farvec::collection
