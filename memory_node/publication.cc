#include "memory_node/publication.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <set>
#include <utility>

namespace farvec::memory_node {

ReadPath* Publication::find_path(v1::Transport transport) const {
  for (const auto& path : paths) {
    if (path->transport() == transport) return path.get();
  }
  return nullptr;
}

void Publications::publish(std::shared_ptr<const Publication> publication) {
  const std::lock_guard lock(mutex_);
  if (current_ != nullptr) replaced_.push_back(std::move(current_));
  current_ = std::move(publication);
  ++published_;
}

std::shared_ptr<const Publication> Publications::current() const {
  const std::lock_guard lock(mutex_);
  return current_;
}

void Publications::put_segment(const layout::SegmentKey& key,
                               std::shared_ptr<const Publication> segment) {
  const std::lock_guard lock(mutex_);
  auto& place = segments_[key];
  if (place != nullptr) replaced_.push_back(std::move(place));
  place = std::move(segment);
}

void Publications::drop_segment(const layout::SegmentKey& key) {
  const std::lock_guard lock(mutex_);
  const auto found = segments_.find(key);
  if (found == segments_.end()) return;
  replaced_.push_back(std::move(found->second));
  segments_.erase(found);
}

std::shared_ptr<const Publication> Publications::segment(const layout::SegmentKey& key) const {
  const std::lock_guard lock(mutex_);
  const auto found = segments_.find(key);
  return found == segments_.end() ? nullptr : found->second;
}

std::map<std::uint64_t, std::shared_ptr<const Publication>> Publications::segments_of(
    std::uint64_t collection) const {
  std::map<std::uint64_t, std::shared_ptr<const Publication>> found;
  const std::lock_guard lock(mutex_);
  for (auto at = segments_.lower_bound({collection, 0});
       at != segments_.end() && at->first.collection == collection; ++at) {
    if (at->first.number == layout::kCatalogueNumber) break;
    found.emplace(at->first.number, at->second);
  }
  return found;
}

std::map<std::uint64_t, std::shared_ptr<const Publication>> Publications::catalogues() const {
  std::map<std::uint64_t, std::shared_ptr<const Publication>> found;
  const std::lock_guard lock(mutex_);
  for (const auto& [key, held] : segments_) {
    if (key.number == layout::kCatalogueNumber) found.emplace(key.collection, held);
  }
  return found;
}

/// Must be called under the lock.
template <typename Visit>
void Publications::visit_all(const Visit& visit) const {
  if (current_ != nullptr) visit(*current_);
  for (const auto& [key, segment] : segments_) visit(*segment);
  for (const auto& publication : replaced_) visit(*publication);
}

std::uint32_t Publications::free_slot() const {
  const std::lock_guard lock(mutex_);
  std::set<std::uint32_t> taken;
  visit_all([&taken](const Publication& publication) { taken.insert(publication.slot); });
  std::uint32_t slot = 0;
  while (taken.contains(slot)) ++slot;  // at most one more than there are tables
  return slot;
}

void Publications::collect() {
  std::vector<std::shared_ptr<const Publication>> unread;
  {
    const std::lock_guard lock(mutex_);
    // Only its holders give a replaced publication to others: once this list is the only one, it
    // remains the only one.
    const auto begin =
        std::stable_partition(replaced_.begin(), replaced_.end(),
                              [](const auto& publication) { return publication.use_count() > 1; });
    unread.assign(std::make_move_iterator(begin), std::make_move_iterator(replaced_.end()));
    replaced_.erase(begin, replaced_.end());
  }
  for (const auto& publication : unread) {
    spdlog::info("generation {} has no reader any more: {} bytes are freed",
                 publication->table->generation, publication->table->total_bytes());
  }
}

Publications::Usage Publications::usage() const {
  const std::lock_guard lock(mutex_);
  Usage usage;
  usage.published = published_;
  visit_all([&usage](const Publication& publication) {
    const std::uint64_t bytes = publication.table->total_bytes();
    ++usage.tables;
    usage.bytes += bytes;
    if (!publication.segment) return;
    ++usage.segments;
    usage.segment_bytes += bytes;
    if (publication.catalogue) usage.catalogue_bytes += bytes;
  });
  return usage;
}

}  // namespace farvec::memory_node
