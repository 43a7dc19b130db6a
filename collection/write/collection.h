// A Collection is a changing set of vectors with ids that the user chooses: it keeps fresh rows in
// memtables and a log, and the rest in segments.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <functional>
#include <initializer_list>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/status.h"
#include "base/types.h"
#include "changes/changing.h"
#include "collection/build/build_watch.h"
#include "collection/build/segment_builder.h"
#include "collection/memtable/memtable_linker.h"
#include "collection/nodes/log_nodes.h"
#include "collection/nodes/log_place.h"
#include "collection/state/contents.h"
#include "collection/state/replaced_segments.h"
#include "collection/state/replay.h"
#include "collection/state/segment_files.h"
#include "collection/write/background_worker.h"
#include "collection/write/turns.h"
#include "layout/collection/change_record.h"
#include "layout/collection/collection_manifest.h"
#include "layout/collection/option_bounds.h"
#include "layout/index/directory_lock.h"
#include "wal/log.h"

namespace farvec::collection {

struct CollectionAccess {
  SegmentAccess segments;
  /// Where the log lies, or moves to; null: it lies in the folder.
  std::shared_ptr<const LogNodes> log_nodes = nullptr;
  /// Compute nodes that follow the collection: when segments of clusters are merged, what those
  /// nodes have probed also decides the groups. Null: only what this process has probed does.
  std::shared_ptr<const ProbingNodes> followers = nullptr;
  wal::Durability durability = wal::Durability::commit;
  double interval_us = 10'000;
  unsigned build_threads = 1;  ///< build segments in the background; 0: one per processor
  /// Threads that merge segments, beside those that build; 0: one per processor.
  unsigned merge_threads = 1;
  /// The most that merges read and write together in a second; 0: as much as they can.
  double merge_bytes_per_s = 0;
  bool link = false;  ///< link memtables in the background: for processes that search
  bool merge = true;  ///< merge segments in the background
  /// The most fresh rows that are not linked, where memtables are linked: an insert that would
  /// exceed it links rows first. A batch of more rows than this goes in when all others are linked.
  /// 0: the number of rows that are compared in the time of a search of a memtable's graph, see
  /// kUnlinkedList.
  std::uint32_t most_unlinked = 0;
  std::uint32_t most_frozen = 2;  ///< memtables that wait to become segments; 1 or more
  /// The most bytes of the log that opening has to read. When the log is longer, what is fresh
  /// becomes a segment, however small.
  std::uint64_t most_log_bytes = std::uint64_t{1} << 30;
};

using changes::FoundRows;
using changes::Receipt;

/// Says what a writer has besides its view.
struct WriterState {
  std::uint64_t log_bytes = 0;
  wal::LogCopies log_copies;                 ///< on memory nodes
  std::uint64_t segment_copies_missing = 0;  ///< on memory nodes, by the last look at them
  std::uint64_t built = 0;                   ///< segments built since it was opened
  std::uint64_t merged = 0;                  ///< segments that took the place of others
  std::uint64_t written_bytes = 0;  ///< since it was opened: the log's records and whole segments
  std::uint64_t failures = 0;       ///< failures of the background since it was opened
  BuildProgress merge;              ///< the merge that is under way
  BuildProgress build;              ///< the memtable that becomes a segment
  BuildProgress import;             ///< rows that become a segment at once; the last such call
  /// Why the log takes no more changes, or else why a segment could not be built, merged or saved
  /// that is to be, or which segment is on too few memory nodes; empty: nothing fails.
  std::string failure;
};

/// Changes and reads a collection. One process changes it; its threads may call everything at any
/// time. What a call has done is in the next view() and is durable as `durability` says.
class Collection final : public changes::Changing {
 public:
  /// Makes an empty collection. Throws Error when the folder is there and not empty, and
  /// StatusError (invalid_argument) naming, in the spelling of `spell`, an option that makes no
  /// sense; then nothing is left of it.
  static void create(const std::filesystem::path& folder, layout::CollectionManifest manifest,
                     const layout::SpellOption& spell = layout::as_it_is);

  /// Opens it for changes and brings it to where it was: opens the segments, then replays the log.
  /// Throws Error when another process has it open, and naming the file when something is damaged.
  Collection(const std::filesystem::path& folder, const CollectionAccess& access);
  /// Stops the background at once. What is fresh stays in the log.
  ~Collection() override;
  Collection(const Collection&) = delete;
  Collection& operator=(const Collection&) = delete;

  const layout::CollectionManifest& shape() const { return shape_; }
  const Recovery& recovery() const { return recovery_; }
  ViewPointer view() const { return contents_.current(); }
  WriterState state() const;

  changes::RowShape row_shape() const override;
  nlohmann::ordered_json now() const override;
  /// Returns the number of rows up to which an insert is in as a whole or not at all.
  std::size_t record_rows() const;
  /// Throws Error when the rows have another type or dimension than the source, when there are more
  /// or fewer ids than rows, and when an id comes twice. Throws StatusError (invalid_argument)
  /// naming the first row that holds NaN or infinity or is too long (kMostSquaredLength).
  void check(const VectorView& rows, std::span<const std::uint64_t> ids) const override;
  /// Inserts rows of the source type that check() accepts, and replaces those whose ids are there.
  /// Rows and ids are copied and the copies are checked again, since another thread of the caller
  /// may change them: throws Refusal (invalid_argument) for a row, numbered from `done` on. Waits
  /// for room while segments are built, and, in a process that searches, links rows itself while
  /// too many are not linked; throws Refusal (resource_exhausted) when the time is over first.
  /// Callers are served in the order in which they came, whatever they bring. When it throws, the
  /// first `done` rows are in; unavailable means that the log has ended, and that these rows may
  /// not have reached it. A batch of up to record_rows(), which are up to 1 MiB and fit a memtable,
  /// is in as a whole or not at all, also after a kill.
  void insert(const VectorView& rows, std::span<const std::uint64_t> ids,
              const changes::Patience& patience, Receipt& receipt) override;
  /// Inserts many rows without the log and the memtables: all become one segment, which is durable
  /// when this returns. Throws Error; then none of the rows is in. If only the manifest could not
  /// be written, all are in, and are durable once a later manifest is.
  Receipt import(const VectorView& rows, std::span<const std::uint64_t> ids);
  /// Removes the rows with these ids. Ids that are not there are counted as missing, and so are
  /// those that come again in one call.
  void erase(std::span<const std::uint64_t> ids, const changes::Patience& patience,
             Receipt& receipt) override;

  /// Reads rows of segments from their files: throws Refusal (deadline_exceeded) when its time is
  /// over, and Error naming the file of a row that cannot be read or is damaged. Looks at the
  /// interruption between rows.
  FoundRows get(std::span<const std::uint64_t> ids,
                const changes::Patience& patience) const override;

  /// Brings all that was inserted before into segments; it is there when this returns true. Waits
  /// for no merge. Throws Error when it fails.
  bool flush(const Interruption& give_up = {}) override;
  /// Does what flush() does, and merges all segments of that moment into one, without the rows that
  /// are out.
  bool compact(const Interruption& give_up = {}) override;
  /// Waits until the background has nothing to do. Throws Error when something fails there.
  void settle();

 private:
  using Lock = std::unique_lock<std::mutex>;
  enum class Job : std::uint8_t { none, build, adopt, merge, save };

  std::vector<std::shared_ptr<Memtable>> memtables() const;

  // Changes (changes.cc).
  std::uint64_t fewest_unlinked() const;
  Status wait_while(Lock& lock, Ticks deadline, const std::function<bool()>& busy);
  Status make_room(Lock& lock, const Turn& turn, std::size_t rows, Ticks deadline);
  bool has_room(std::size_t rows) const;
  bool is_crowded(std::size_t rows) const;
  void help_linking(Lock& lock);
  Result<wal::Position> append(const layout::RowChangeRecord& record);
  Result<wal::Position> log_change(Lock& lock, Ticks deadline,
                                   const std::function<Status()>& may_be_done,
                                   const std::function<Result<wal::Position>()>& log);
  Status said_of_log(const Status& status) const;
  Status wait_for_log(wal::Position end, Ticks deadline) const;
  Status refused(const Status& status, wal::Position end) const;
  Status insert_until(const VectorView& rows, std::span<const std::uint64_t> ids, Ticks deadline,
                      Receipt& receipt);
  Status erase_until(std::span<const std::uint64_t> ids, Ticks deadline, Receipt& receipt);
  void require_done(const Status& status) const;
  std::string reason(const Status& status) const;
  Result<wal::Position> insert_part(const VectorView& part, std::span<const std::uint64_t> ids,
                                    Ticks deadline, Receipt& receipt);

  // The background: what its threads do (background.cc), and calls that wait for it
  // (background_waits.cc).
  void start_background();
  void stop_background();
  void run(BackgroundWorker& worker, Job (Collection::*next)() const);
  Job next_build() const;
  Job next_merge() const;
  void attempt(Lock& lock, BackgroundWorker& worker, Job job);
  void note_failure(BackgroundWorker& worker, const std::exception& error);
  void work(Lock& lock, Job job);
  void build(Lock& lock);
  void merge(Lock& lock);
  void take_over(Lock& lock, Replacement& replacement, BuildWatch& watch);
  SegmentRecipe recipe_of(std::uint64_t number, BuildWatch& watch, unsigned threads) const;
  void load(const Segment* segment, BuildWatch& watch) const;
  void adopt(Lock& lock);
  void save(Lock& lock);
  bool is_saved() const { return segments_saved_ == segments_changed_; }
  std::vector<std::size_t> segments_to_compact(const View& view) const;
  std::vector<std::size_t> segments_to_merge(const View& view) const;
  bool log_is_long() const;
  using Workers = std::initializer_list<BackgroundWorker*>;
  bool wait_until(Lock& lock, Workers workers, const std::function<bool()>& done,
                  const Interruption& give_up = {});
  std::string background_failure() const;

  const std::filesystem::path folder_;
  const layout::DirectoryLock directory_lock_;
  const OpenedLog opened_;
  const CollectionAccess access_;
  const layout::CollectionManifest shape_;  ///< types and options; its other members are outdated
  SegmentFiles files_;                      ///< guarded by saving_
  Contents contents_;
  Recovery recovery_;
  std::unique_ptr<wal::Log> log_;

  mutable std::mutex mutex_;  ///< guards all changes, and what follows
  /// Is held while the manifest is written; locked before mutex_.
  std::mutex saving_;
  std::condition_variable work_;      ///< the background waits for something to do
  std::condition_variable progress_;  ///< calls wait for the background
  Turns turns_{progress_};            ///< the order of inserts
  std::uint64_t version_ = 0;
  wal::Position saved_position_ = 0;  ///< where the log is replayed from, by the saved manifest
  std::uint64_t next_segment_ = 0;
  std::uint64_t most_unlinked_ = 0;  ///< higher at first where opening found more; then only falls
  bool importing_ = false;           ///< changes wait: the log would put them before the import
  std::shared_ptr<Segment> imported_;  ///< waits until no memtable has rows
  std::uint64_t* import_replaced_ = nullptr;
  std::uint64_t segments_changed_ = 0;  ///< how many times the segments have changed
  std::uint64_t segments_saved_ = 0;    ///< how many of these changes the manifest has
  std::uint64_t compact_below_ = 0;     ///< segments of smaller numbers become one, without outs
  std::uint64_t built_ = 0;
  std::uint64_t merged_ = 0;
  std::uint64_t segment_bytes_ = 0;  ///< sum of all segments that were written
  wal::Position opened_at_ = 0;
  std::uint64_t failures_ = 0;
  std::atomic<bool> stop_{false};
  BuildWatch build_watch_;
  BuildWatch import_watch_;
  BuildWatch merge_watch_;
  ReplacedSegments replaced_;
  std::optional<MemtableLinker> linker_;
  BackgroundWorker builder_;  ///< makes segments of memtables and imports, writes the manifest
  BackgroundWorker merger_;   ///< merges segments, beside the builder
};

}  // namespace farvec::collection
