// A Background makes segments of a collection's memtables and imports, merges segments and saves
// manifests, on two threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <functional>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/progress.h"
#include "base/types.h"
#include "changes/receipt.h"
#include "collection/build/build_watch.h"
#include "collection/build/segment_builder.h"
#include "collection/state/contents.h"
#include "collection/write/background_worker.h"
#include "collection/write/collection_access.h"
#include "collection/write/import.h"
#include "collection/write/manifests.h"
#include "collection/write/monitor.h"
#include "collection/write/writer.h"

namespace farvec::collection {

/// Counts what a background has done since it began.
struct BackgroundCounts {
  std::uint64_t built = 0;          ///< segments of memtables and of imports
  std::uint64_t merged = 0;         ///< segments that took the place of others
  std::uint64_t segment_bytes = 0;  ///< sum of all segments that were written
  std::uint64_t failures = 0;
};

/// Its threads hold the writer's lock while they decide, and give it up for their work. A job that
/// fails is tried again after a pause, or at once when a call waits for it.
class Background {
 public:
  /// Begins. Borrows the collection, its writer and its manifests.
  Background(const OpenedCollection& opened, Writer& writer, Manifests& manifests);
  /// Ends its threads at once: the work that is under way is given up.
  ~Background();
  Background(const Background&) = delete;
  Background& operator=(const Background&) = delete;

  /// Do what Collection says of them. They lock the writer, and throw Error when a job fails that
  /// they wait for.
  changes::Receipt import(const changes::RowBatch& batch, const Interruption& give_up);
  changes::Receipt import_index(const std::filesystem::path& index, std::uint64_t first_id,
                                const Interruption& give_up);
  void freeze_soon();
  void save_soon();
  bool flush(const Interruption& give_up);
  bool compact(const Interruption& give_up);
  void settle();

  // A caller of these holds the writer's lock.
  const BackgroundCounts& counts() const { return counts_; }
  /// Returns why a job fails again and again; empty for a job that is done, or that need not be
  /// done any more.
  std::string failure() const;
  /// Returns why the last segment of a memtable could not be made or saved; empty: it could.
  const std::string& build_failure() const { return builder_.failure; }
  /// Says whether a full disk is why.
  bool build_lacks_disk() const { return builder_.lacks_disk; }

  // Any thread may call these.
  BuildProgress merge_progress() const { return merge_watch_.progress(); }
  BuildProgress build_progress() const { return build_watch_.progress(); }
  BuildProgress import_progress() const { return import_watch_.progress(); }

 private:
  using Lock = Writer::Lock;
  enum class Job : std::uint8_t { none, build, adopt, merge, save };

  void start();
  void stop();
  void run(BackgroundWorker& worker, Job (Background::*next)() const);
  void attempt(Lock& lock, BackgroundWorker& worker, Job job);
  void note_failure(BackgroundWorker& worker, const std::exception& error);

  // The jobs (background_jobs.cc).
  Job next_build() const;
  Job next_merge() const;
  std::vector<std::size_t> segments_to_compact(const View& view) const;
  std::vector<std::size_t> segments_to_merge(const View& view) const;
  void work(Lock& lock, Job job);
  void build(Lock& lock);
  void merge(Lock& lock);
  void adopt(Lock& lock);
  void take_over(Lock& lock, Replacement& replacement, BuildWatch& watch);
  SegmentRecipe recipe_of(std::uint64_t number, BuildWatch& watch, unsigned threads) const;
  void load(const Segment* segment, BuildWatch& watch) const;
  void or_discard(const std::shared_ptr<Segment>& segment, const std::function<void()>& first);

  // Calls that wait (background_waits.cc).
  using Workers = std::initializer_list<BackgroundWorker*>;
  bool wait_until(Lock& lock, Workers workers, const std::function<bool()>& done,
                  const Interruption& give_up = {});
  /// Makes the segment of an import by a recipe.
  using MakeSegment = std::function<std::shared_ptr<Segment>(const SegmentRecipe& recipe)>;
  std::shared_ptr<Import> begin_import(std::uint64_t rows, const MakeSegment& make,
                                       const Interruption& give_up);
  changes::Receipt take_in(const std::shared_ptr<Import>& import);

  const OpenedCollection& opened_;
  Writer& writer_;
  Manifests& manifests_;
  Monitor& monitor_;  ///< the writer's; guards the members below, except for the watches
  BuildWatch build_watch_;
  BuildWatch import_watch_;
  BuildWatch merge_watch_;
  BackgroundCounts counts_;
  std::shared_ptr<Import> import_;   ///< the one that is under way; null: there is none
  std::uint64_t compact_below_ = 0;  ///< segments of smaller numbers become one, without outs
  BackgroundWorker builder_;         ///< makes segments of memtables and imports, saves manifests
  BackgroundWorker merger_;          ///< merges segments, beside the builder
};

}  // namespace farvec::collection
