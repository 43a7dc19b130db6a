// An OpenIndex is an index of the server that the engine has open: its collection, and what it
// covers.
#pragma once

#include "base/clock.h"
#include "changes/receipt.h"
#include "collection/state/view.h"
#include "collection/write/collection.h"
#include "postgres/channel/requests.h"
#include "postgres/engine/index_build.h"
#include "postgres/engine/index_folder.h"
#include "postgres/engine/index_name.h"
#include "postgres/engine/shared_vectors.h"
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <span>

namespace farvec::postgres {

/// Any thread may call everything at any time. Calls that change it may wait.
class OpenIndex : public std::enable_shared_from_this<OpenIndex> {
 public:
  /// Throws Error where what was opened does not fit together.
  OpenIndex(std::filesystem::path folder, IndexName name, OpenedFolder opened);

  const IndexName& name() const { return name_; }
  const std::filesystem::path& folder() const { return folder_; }
  const layout::CollectionManifest& shape() const { return collection_->shape(); }
  collection::ViewPointer view() const { return collection_->view(); }

  /// Brings the records of all segments to memory. Throws Error.
  void load() const;

  /// Inserts packed vectors, one for each VID. Those that rows have already may be shared. Throws
  /// StatusError (invalid_argument) for vectors of another size or that no search can find, or
  /// values that the columns cannot have, and Refusal, or Error. Returns false where a build has no
  /// room for the rows now, and wait_for_room() comes first.
  bool insert(std::span<const std::uint64_t> vids, std::span<const std::byte> vectors,
              const layout::TupleView& tuples, Ticks until, const Sharing& sharing = {});
  /// Rows that are inserted from now on wait for build(), as many as have `most_bytes` together.
  void begin_build(std::size_t most_bytes);
  /// These do what IndexBuild says. After the last row, build() ends the build when it is finished.
  ToldBuild wait_for_room(Ticks until);
  ToldBuild build(Ticks until);
  /// Says whether rows wait, or become a segment. They would be lost if it were closed.
  bool is_building() const { return building() != nullptr; }
  void erase(std::span<const std::uint64_t> vids, Ticks until);
  /// Reads vectors, in the form in which they are stored. Throws Refusal, or Error.
  changes::FoundRows get(std::span<const std::uint64_t> vids, Ticks until) const;
  /// Takes it that every VID below this was inserted, and with `ready`, that every later one will
  /// be too. It may be searched.
  void covers(std::uint64_t vid, bool ready);
  /// Makes all that is in it durable, then the mark, which covers `vid` at least. Throws
  /// StatusError (failed_precondition) where it has not caught up, and Error where that fails; then
  /// the mark is as it was.
  void flush(std::uint64_t vid, Ticks until);
  /// Makes all that is in it durable, ready or not.
  void make_durable(Ticks until);
  /// Does what flush() does for all that was told, where there is something new and the index is
  /// ready. A smaller VID that is still on its way is made durable before its insert is answered.
  /// One that is refused, or gets no answer, is noted by its backend in the index's pages, and is
  /// told again.
  void flush_told(Ticks until);

  /// Says which rows have the vectors that searches find.
  SharedVectors& shared() { return shared_; }

  /// Says whether searches may be answered: covers() was called since it was opened.
  bool caught_up() const { return caught_up_.load(std::memory_order_acquire); }
  /// Says whether it has caught up, and is told all later inserts.
  bool ready() const { return caught_up() && ready_.load(std::memory_order_relaxed); }
  /// Takes no lock for long: a core may call it.
  ToldState state() const;
  /// Returns the bytes that it takes in this process: records, ids and fresh rows.
  std::size_t memory() const;

  /// Notes that it is used now.
  void touch() { used_at_.store(now_ticks(), std::memory_order_relaxed); }
  Ticks used_at() const { return used_at_.load(std::memory_order_relaxed); }

  /// Says that the index is being closed or removed: cores let go of it.
  void leave() { leaving_.store(true, std::memory_order_release); }
  bool leaving() const { return leaving_.load(std::memory_order_acquire); }

 private:
  std::shared_ptr<IndexBuild> building() const;

  const std::filesystem::path folder_;
  const IndexName name_;
  const std::unique_ptr<collection::Collection> collection_;
  SharedVectors shared_;
  mutable std::mutex build_mutex_;
  std::shared_ptr<IndexBuild> build_;  ///< null: rows do not wait
  std::mutex flushing_;                ///< guards the mark
  layout::CoverageMark mark_;
  std::atomic<std::uint64_t> covered_;
  /// Inserts of smaller VIDs are durable before they are answered. It is raised before the log is
  /// flushed for a mark. An insert that still sees the former value was in the log before.
  std::atomic<std::uint64_t> marking_;
  std::atomic<std::uint64_t> told_{0};  ///< above every VID that was inserted
  std::atomic<bool> changed_{false};    ///< since the last flush_told()
  std::atomic<bool> ready_{false};
  std::atomic<bool> caught_up_{false};  ///< release after covered_ and ready_
  std::atomic<bool> leaving_{false};
  std::atomic<Ticks> used_at_{0};
};

}  // namespace farvec::postgres
