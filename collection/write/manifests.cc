#include "collection/write/manifests.h"

#include <algorithm>
#include <utility>

#include "base/clock.h"
#include "base/error.h"

namespace farvec::collection {
namespace {

constexpr double kLogFlushUs = 60e6;

}  // namespace

Manifests::Manifests(const OpenedCollection& opened)
    : opened_(opened),
      files_(opened.folder, opened.shape, opened.publisher),
      revision_(opened.shape.revision),
      replaced_([this](std::uint64_t number) { files_.remove_segment(number); }),
      schema_(opened.shape.schema),
      saved_position_(opened.shape.log_position),
      next_segment_(opened.shape.next_segment) {}

std::vector<View::Bulk> Manifests::open() {
  next_segment_ = std::max(next_segment_, files_.remove_strays());
  View view{.version = opened_.shape.last_version,
            .memtables = {},
            .segments = files_.open(opened_.access.segments)};
  (void)files_.publish(view, opened_.shape);
  if (opened_.publisher != nullptr) opened_.publisher->begin();
  return std::move(view.segments);
}

void Manifests::note_replaced(const View& before, const View& now) {
  replaced_.add(before, now);
  note_change();
}

void Manifests::save(Lock& lock, const Contents& contents, wal::Log& log) {
  lock.unlock();
  const std::lock_guard turn(saving_);
  lock.lock();
  if (is_saved() && !is_long(log.end())) return;
  const ViewPointer view = contents.current();
  const wal::Position end = log.end();
  const std::uint64_t changed = changed_;
  layout::CollectionManifest manifest = opened_.shape;
  manifest.schema = schema_;
  manifest.next_segment = next_segment_;
  manifest.last_version = view->version;
  manifest.log_position = contents.log_begin().value_or(end);
  lock.unlock();
  // Rows that are out because of changes that a kill undoes would be gone for good.
  const Status flushed = log.flush(end, now_ticks() + us_to_ticks(kLogFlushUs));
  if (!flushed.ok()) {
    throw Error("the log of '{}': {}", opened_.folder.string(), flushed.message());
  }
  manifest.revision = ++revision_;
  // Nodes may have only an earlier catalogue, with which readers begin where that one says: then
  // the log is not cut.
  if (files_.save(*view, manifest)) log.cut(manifest.log_position);
  replaced_.note_manifest([this](std::uint64_t number) { return files_.names(number); });
  // This frees memory and files, for which no other thread is to wait.
  replaced_.end_unused();
  lock.lock();
  saved_position_ = manifest.log_position;
  saved_ = changed;
}

}  // namespace farvec::collection
