// These functions ask a collection's background for what it does, and most wait for it.
#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/full_disk.h"
#include "collection/build/index_segment.h"
#include "collection/write/background.h"
#include "collection/write/unlocked.h"

namespace farvec::collection {
namespace {

/// A call that waits asks this often whether it is to give up.
constexpr auto kInterruptionPause = std::chrono::milliseconds(20);

}  // namespace

/// Waits for done(), and ends the rest. Returns false when `give_up` ended the wait. Throws Error
/// when an attempt of one of the workers that begins from now on fails, and FullDisk where a full
/// disk is why.
bool Background::wait_until(Lock& lock, Workers workers, const std::function<bool()>& done,
                            const Interruption& give_up) {
  writer_.end_rest();
  std::vector<std::pair<const BackgroundWorker*, std::uint64_t>> asked;
  for (BackgroundWorker* worker : workers) asked.emplace_back(worker, worker->ask());
  monitor_.work.notify_all();
  const auto failed = [&]() -> const BackgroundWorker* {
    for (const auto& [worker, attempt] : asked) {
      if (worker->failed_attempt >= attempt) return worker;
    }
    return nullptr;
  };
  const auto over = [&] {
    return done() || failed() != nullptr || monitor_.stop.load(std::memory_order_relaxed);
  };
  if (!give_up) monitor_.progress.wait(lock, over);
  while (!over()) {
    const bool given_up = [&] {
      const Unlocked unlocked(lock);
      return give_up();
    }();
    if (given_up && !over()) return false;
    monitor_.progress.wait_for(lock, kInterruptionPause, over);
  }
  if (done()) return true;
  const BackgroundWorker* const worker = failed();
  if (worker == nullptr) throw Error("collection '{}' is being closed", opened_.folder.string());
  const std::string why =
      fmt::format("collection '{}': {}", opened_.folder.string(), worker->failure);
  if (worker->lacks_disk) throw FullDisk("{}", why);
  throw Error("{}", why);
}

changes::Receipt Background::import(const changes::RowBatch& batch, const Interruption& give_up) {
  if (batch.rows.count == 0) return {};
  changes::check_shape(batch, *writer_.view()->schema);
  return take_in(begin_import(
      batch.rows.count, [&](const SegmentRecipe& recipe) { return build_segment(batch, recipe); },
      give_up));
}

changes::Receipt Background::import_index(const std::filesystem::path& index,
                                          std::uint64_t first_id, const Interruption& give_up) {
  const auto directory = layout::IndexDirectory::open(index);
  return take_in(begin_import(
      directory.manifest().count,
      [&](const SegmentRecipe& recipe) { return copy_segment(directory, first_id, recipe); },
      give_up));
}

/// Waits until no other import is under way, and takes the segment over.
changes::Receipt Background::take_in(const std::shared_ptr<Import>& import) {
  Lock lock = writer_.lock();
  wait_until(lock, {&builder_}, [this] { return import_ == nullptr; });
  import_ = import;
  writer_.pause();
  const auto end = [this] {
    import_ = nullptr;
    writer_.resume();
  };
  try {
    wait_until(lock, {&builder_}, [&] { return import->is_in() && manifests_.is_saved(); });
  } catch (...) {
    end();
    const bool is_in = import->is_in();
    lock.unlock();
    if (!is_in) manifests_.discard(import->give_back());
    throw;
  }
  end();
  return import->receipt();
}

std::shared_ptr<Import> Background::begin_import(std::uint64_t rows, const MakeSegment& make,
                                                 const Interruption& give_up) {
  Lock lock = writer_.lock();
  SegmentRecipe recipe =
      recipe_of(manifests_.take_number(), import_watch_, opened_.access.build_threads);
  lock.unlock();
  recipe.give_up = give_up;
  const WatchedBuild watched(import_watch_, 1, rows);
  std::shared_ptr<Segment> segment = make(recipe);
  or_discard(segment, [&] { load(segment.get(), import_watch_); });
  return std::make_shared<Import>(std::move(segment));
}

void Background::freeze_soon() {
  const Lock lock = writer_.lock();
  if (writer_.may_freeze()) writer_.freeze();
  monitor_.work.notify_all();
}

void Background::save_soon() {
  const Lock lock = writer_.lock();
  manifests_.note_change();
  monitor_.work.notify_all();
}

bool Background::flush(const Interruption& give_up) {
  Lock lock = writer_.lock();
  if (!wait_until(
          lock, {&builder_}, [this] { return writer_.may_freeze(); }, give_up))
    return false;
  writer_.freeze();
  const std::vector<std::shared_ptr<Memtable>> all = writer_.contents().memtables();
  const Memtable* const last = all.size() < 2 ? nullptr : all[all.size() - 2].get();
  const auto saved = [&] {
    const auto& memtables = writer_.view()->memtables;
    return manifests_.is_saved() &&
           std::none_of(memtables.begin(), memtables.end(),
                        [&](const auto& fresh) { return fresh.memtable.get() == last; });
  };
  return wait_until(lock, {&builder_}, saved, give_up);
}

bool Background::compact(const Interruption& give_up) {
  if (!flush(give_up)) return false;
  Lock lock = writer_.lock();
  // This does not wait for segments that inserts make meanwhile.
  const std::uint64_t below = compact_below_ = manifests_.next_number();
  const auto compacted = [&] {
    return manifests_.is_saved() && segments_to_compact(*writer_.view()).empty();
  };
  if (!wait_until(lock, {&builder_, &merger_}, compacted, give_up)) return false;
  if (compact_below_ == below) compact_below_ = 0;
  return true;
}

void Background::settle() {
  Lock lock = writer_.lock();
  wait_until(lock, {&builder_, &merger_},
             [this] { return next_build() == Job::none && next_merge() == Job::none; });
}

}  // namespace farvec::collection
