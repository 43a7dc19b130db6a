// These are the jobs of a collection's background: what is to be done next, and doing it.
#include <cstdint>
#include <memory>
#include <vector>

#include "collection/build/merge_policy.h"
#include "collection/write/background.h"

namespace farvec::collection {
namespace {

/// Returns a view of the oldest memtable alone: what is made of it holds nothing else.
ViewPointer oldest_memtable(const View& view) {
  auto part = std::make_shared<View>();
  part->version = view.version;
  part->memtables = {view.memtables.front()};
  return part;
}

ViewPointer segments_of(const View& view, const std::vector<std::size_t>& numbers) {
  auto part = std::make_shared<View>();
  part->version = view.version;
  for (const std::size_t i : numbers) part->segments.push_back(view.segments[i]);
  return part;
}

}  // namespace

std::vector<std::size_t> Background::segments_to_compact(const View& view) const {
  std::vector<std::size_t> compacted;
  for (std::size_t i = 0; i < view.segments.size(); ++i) {
    if (view.segments[i].segment->number() < compact_below_) compacted.push_back(i);
  }
  if (compacted.size() != 1) return compacted;
  const View::Bulk& only = view.segments[compacted.front()];
  const bool is_compact = only.out->empty() && only.updates->empty();
  return is_compact ? std::vector<std::size_t>() : compacted;
}

std::vector<std::size_t> Background::segments_to_merge(const View& view) const {
  if (auto compacted = segments_to_compact(view); !compacted.empty()) return compacted;
  std::vector<SegmentSize> sizes;
  for (const View::Bulk& bulk : view.segments) {
    sizes.push_back({bulk.segment->rows(), bulk.live(), bulk.updates->count()});
  }
  if (!opened_.access.merge) return {};
  return choose_merge(sizes, {.fanout = opened_.shape.options.merge_fanout,
                              .memtable_rows = opened_.shape.options.memtable_rows,
                              .most_rows = opened_.access.most_merged_rows});
}

Background::Job Background::next_build() const {
  if (writer_.contents().frozen() > 0 && !writer_.rest().lasts()) return Job::build;
  if (import_ != nullptr && !import_->is_in()) return Job::adopt;
  return !manifests_.is_saved() || writer_.log_is_long() ? Job::save : Job::none;
}

Background::Job Background::next_merge() const {
  if (writer_.rest().lasts()) return Job::none;
  return segments_to_merge(*writer_.view()).empty() ? Job::none : Job::merge;
}

/// Does one job. May return, or throw, without the lock.
void Background::work(Lock& lock, Job job) {
  if (job == Job::build) return build(lock);
  if (job == Job::merge) return merge(lock);
  // What is fresh becomes a segment first: the log is replayed from where the fresh rows begin.
  if ((job == Job::adopt || writer_.log_is_long()) && writer_.contents().holds_rows()) {
    return writer_.freeze();
  }
  return job == Job::adopt ? adopt(lock) : writer_.save(lock);
}

SegmentRecipe Background::recipe_of(std::uint64_t number, BuildWatch& watch,
                                    unsigned threads) const {
  return {.folder = manifests_.segment_folder(number),
          .number = number,
          .name = opened_.folder.filename().string(),
          .manifest = &opened_.shape,
          .schema = writer_.view()->schema,
          .access = opened_.access.segments,
          .publisher = opened_.publisher.get(),
          .followers = opened_.access.followers,
          .threads = threads,
          .rounds_rows = opened_.access.rounds_imports,
          .watch = &watch};
}

/// Makes a segment of the oldest memtable.
void Background::build(Lock& lock) {
  const SegmentRecipe recipe =
      recipe_of(manifests_.take_number(), build_watch_, opened_.access.build_threads);
  ViewPointer part = oldest_memtable(*writer_.view());
  std::shared_ptr<Memtable> memtable = writer_.contents().memtables().front();
  lock.unlock();
  const WatchedBuild watched(build_watch_, 1, part->live());
  Replacement replacement = build_segment(part, *memtable, recipe);
  part.reset();
  memtable.reset();
  take_over(lock, replacement, build_watch_);
}

void Background::merge(Lock& lock) {
  const SegmentRecipe recipe =
      recipe_of(manifests_.take_number(), merge_watch_, opened_.access.merge_threads);
  ViewPointer view = writer_.view();
  ViewPointer part = segments_of(*view, segments_to_merge(*view));
  view.reset();
  lock.unlock();
  const WatchedBuild watched(merge_watch_, part->segments.size(), part->live());
  Replacement replacement = merge_segments(part, recipe);
  part.reset();
  take_over(lock, replacement, merge_watch_);
}

/// Loads a new segment in a process that searches, so that searches that come after this find it
/// loaded.
void Background::load(const Segment* segment, BuildWatch& watch) const {
  if (segment == nullptr || !opened_.access.link) return;
  watch.enter(BuildPhase::loading);
  segment->records().load([&watch](std::uint64_t bytes) { watch.moved(bytes); });
}

/// Does `first`, after which something else holds the segment. Where it fails, the segment is
/// deleted.
void Background::or_discard(const std::shared_ptr<Segment>& segment,
                            const std::function<void()>& first) {
  try {
    first();
  } catch (...) {
    if (segment != nullptr) manifests_.discard(segment);
    throw;
  }
}

/// Puts the new segment in the place of what it was made of. Is called without the lock, and
/// returns with it.
void Background::take_over(Lock& lock, Replacement& replacement, BuildWatch& watch) {
  ViewPointer before;
  or_discard(replacement.segment, [&] {
    load(replacement.segment.get(), watch);
    lock.lock();
    before = writer_.view();
    writer_.replace(replacement);
  });
  manifests_.note_replaced(*before, *writer_.view());
  // From now on a few rows that are out are no reason to write a segment anew.
  if (segments_to_compact(*writer_.view()).empty()) compact_below_ = 0;
  ++(&watch == &merge_watch_ ? counts_.merged : counts_.built);
  if (replacement.segment != nullptr) counts_.segment_bytes += replacement.segment->file_bytes();
  lock.unlock();
  // This frees what was replaced, for which no other thread is to wait.
  before.reset();
  replacement = {};
  lock.lock();
  writer_.save(lock);
}

/// Takes over the segment of an import, once no memtable has rows.
void Background::adopt(Lock& lock) {
  import_->enter(writer_);
  counts_.segment_bytes += import_->bytes();
  ++counts_.built;
  manifests_.note_change();
  writer_.save(lock);
}

}  // namespace farvec::collection
