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
#include "postgres/engine/vid_pages.h"
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <span>
#include <unordered_set>
#include <vector>

namespace farvec::postgres {

/// New rows wait until others are linked. Rows that lack come many together, and do not wait.
enum class Coming : std::uint8_t { new_rows, many_that_lack };

/// How rows come, and what is known of their vectors.
struct Manner {
  Coming coming = Coming::new_rows;
  Sharing sharing = {};
};

/// Any thread may call everything at any time. Calls that change it may wait.
class OpenIndex : public std::enable_shared_from_this<OpenIndex> {
 public:
  /// Throws Error where what was opened does not fit together.
  OpenIndex(std::filesystem::path folder, IndexName name, OpenedFolder opened);

  const IndexName& name() const { return name_; }
  const std::filesystem::path& folder() const { return folder_; }
  const layout::CollectionManifest& shape() const { return collection_->shape(); }
  collection::ViewPointer view() const { return collection_->view(); }
  /// Returns the place in which it was opened.
  const layout::IndexPlace& place() const { return place_; }
  /// Returns how many records a search reads at once: several where it waits for each.
  std::uint32_t records_at_once() const { return segments_.shape.width; }
  /// Returns where it is open, and what it has there.
  ToldPlace told_place() const;

  /// Brings the records of all segments to memory. Throws Error.
  void load() const;

  /// Inserts packed vectors, one for each VID. Those that rows have already may be shared. Throws
  /// StatusError (invalid_argument) for vectors of another size or that no search can find, or
  /// values that the columns cannot have, and Refusal, or Error. No row is in then, unless they
  /// come as many_that_lack. Returns false where a build has no room for the rows now, and
  /// wait_for_room() comes first.
  bool insert(std::span<const std::uint64_t> vids, std::span<const std::byte> vectors,
              const layout::TupleView& tuples, Ticks until, const Manner& manner = {});
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
  /// Compares status pages with what it has, and returns for each the VIDs that live and are not
  /// here. Those that do not live are erased. `asked` is what came before the pages. Throws as
  /// erase() does.
  std::vector<AskBits> lacks(const AskLacks& asked, std::span<const AskPage> pages, Ticks until);
  /// Takes it that every VID below this was inserted, and with `ready`, that every later one will
  /// be too. It may be searched.
  void covers(std::uint64_t vid, bool ready);
  /// Lets links, segments and merges go on that wait until it has caught up.
  void end_rest();
  /// Has its files say what was erased, and which rows share vectors, since the last call. They
  /// need not: the next comparison finds what they do not say. Throws Error, and is tried again by
  /// the next call then.
  void save(Ticks until);

  /// Says which rows have the vectors that searches find.
  SharedVectors& shared() { return shared_; }

  /// Says whether searches may be answered: covers() was called since it was opened.
  bool caught_up() const { return caught_up_.load(std::memory_order_acquire); }
  /// Says whether it has caught up, and is told all later inserts.
  bool ready() const { return caught_up() && ready_.load(std::memory_order_relaxed); }
  /// Takes no lock for long: a core may call it.
  ToldState state() const;
  /// Returns the bytes that it takes in this process: records that do not stay on a disk, a pool of
  /// its own, ids and fresh rows.
  std::size_t memory() const;

  /// A number that no other index has that this process opened. Not 0.
  std::uint32_t opening() const { return opening_; }

  /// Notes that it is used now.
  void touch() { used_at_.store(now_ticks(), std::memory_order_relaxed); }
  /// It was not asked for yet, and makes room for one that is.
  void note_unused() { used_at_.store(0, std::memory_order_relaxed); }
  Ticks used_at() const { return used_at_.load(std::memory_order_relaxed); }

  /// Says that the index is being closed or removed: cores let go of it.
  void leave() { leaving_.store(true, std::memory_order_release); }
  bool leaving() const { return leaving_.load(std::memory_order_acquire); }

 private:
  std::shared_ptr<IndexBuild> building() const;
  HeldVids held_now() const;
  std::shared_ptr<const HeldVids> held_for(const AskLacks& asked);
  void insert_rest(const changes::RowBatch& batch, Ticks until, const Manner& manner);
  void insert_all(const changes::RowBatch& batch, Ticks until, const Manner& manner);
  void rest();
  std::vector<std::uint64_t> note_pages(const AskLacks& asked, const HeldVids& held,
                                        std::span<const AskPage> pages);
  void forget_old_pass();

  std::size_t own_pool_bytes(std::uint64_t segment_bytes) const;

  const std::filesystem::path folder_;
  const IndexName name_;
  const layout::IndexPlace place_;
  const collection::SegmentAccess segments_;
  const std::unique_ptr<collection::Collection> collection_;
  SharedVectors shared_;
  mutable std::mutex build_mutex_;
  std::shared_ptr<IndexBuild> build_;  ///< null: rows do not wait
  const std::uint32_t opening_;
  std::mutex pass_mutex_;   ///< guards what was told in the pass over all pages
  std::uint64_t pass_ = 0;  ///< its number; 0: there is none
  std::unordered_set<std::uint64_t> pass_pages_;
  std::shared_ptr<const HeldVids> pass_held_;  ///< when it began; null: it is too long ago
  Ticks pass_asked_at_ = 0;                    ///< when it was last asked for
  std::atomic<std::uint64_t> covered_{0};
  std::atomic<bool> erased_{false};  ///< since the last save()
  std::atomic<bool> ready_{false};
  std::atomic<bool> caught_up_{false};  ///< release after covered_ and ready_
  std::atomic<bool> leaving_{false};
  std::atomic<Ticks> used_at_{0};
};

}  // namespace farvec::postgres
