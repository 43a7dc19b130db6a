#include "postgres/engine/indexes.h"

#include <spdlog/spdlog.h>

#include "base/error.h"
#include "base/status_error.h"
#include "postgres/engine/index_folder.h"
#include <algorithm>
#include <chrono>
#include <exception>
#include <optional>
#include <thread>
#include <utility>

namespace farvec::postgres {
namespace {

namespace fs = std::filesystem;

/// The memory of all indexes is counted again after this time.
constexpr double kCountedForUs = 10e3;
constexpr double kSaveUs = 10e6;
/// Rows of a build wait in this share of the memory: they, the segment's and its graph's are there
/// at once.
constexpr std::uint64_t kWaitingShare = 3;
/// An index that was used more lately is not closed for another one.
constexpr double kUnusedUs = 1e6;
/// Cores let go of an index within a part of this.
constexpr double kCloseUs = 2e6;
constexpr double kReopenUs = 10e6;
constexpr std::chrono::milliseconds kLook{5};

std::uint64_t bytes_in_mib(std::uint64_t bytes) {
  return bytes >> 20;
}

bool has_shape(const OpenIndex& index, const layout::CollectionManifest& wanted) {
  const layout::CollectionManifest& shape = index.shape();
  return shape.source_type == wanted.source_type && shape.metric == wanted.metric &&
         shape.dimension == wanted.dimension && index.view()->schema != nullptr &&
         *index.view()->schema == wanted.schema;
}

/// A place that cannot be read is another one.
bool is_there(const fs::path& folder, const layout::IndexPlace& place) {
  try {
    return layout::read_place(folder) == place;
  } catch (const SystemError&) {
    throw;
  } catch (const Error& error) {
    spdlog::warn("{}: its index is opened where it is asked for", error.what());
    return false;
  }
}

}  // namespace

Indexes::Indexes(IndexesOptions options)
    : options_(std::move(options)),
      places_(options_.access, options_.memory),
      tablespaces_(options_.folders) {}

std::shared_ptr<Indexes::Entry> Indexes::entry_of(const IndexName& name) {
  const std::lock_guard lock(mutex_);
  std::shared_ptr<Entry>& entry = entries_[name];
  if (entry == nullptr) entry = std::make_shared<Entry>();
  return entry;
}

std::shared_ptr<OpenIndex> Indexes::index_of(const Entry& entry) const {
  const std::lock_guard lock(mutex_);
  return entry.index;
}

std::shared_ptr<OpenIndex> Indexes::find(const IndexName& name) const {
  const std::lock_guard lock(mutex_);
  const auto found = entries_.find(name);
  if (found == entries_.end() || found->second->index == nullptr) return nullptr;
  found->second->index->touch();
  return found->second->index;
}

/// Opens a folder that is there. What is not usable is removed: the index is made again from its
/// table. Returns null where there is nothing then.
std::shared_ptr<OpenIndex> Indexes::try_open(Entry& entry, const IndexName& name) {
  const fs::path folder = tablespaces_.folder_of(name);
  if (!fs::exists(folder)) return nullptr;
  tablespaces_.enter(name);
  require_closed(name);
  try {
    return keep(entry,
                std::make_shared<OpenIndex>(folder, name, open_folder(folder, name, places_)));
  } catch (const SystemError&) {
    throw;
  } catch (const StatusError&) {
    throw;
  } catch (const Error& error) {
    spdlog::warn("index {} begins anew: {}", to_string(name), error.what());
  }
  remove_folder(folder);
  return nullptr;
}

/// Opens a folder that is there in this place, and closes it first where it is open in another one.
/// Rows that no segment has are lost then, and come again when the index catches up.
std::shared_ptr<OpenIndex> Indexes::open_there(Entry& entry, const IndexName& name,
                                               const layout::IndexPlace& place) {
  if (const std::shared_ptr<OpenIndex> index = index_of(entry); index != nullptr) save(*index);
  let_go(entry);
  const fs::path folder = tablespaces_.folder_of(name);
  if (!fs::exists(folder)) return nullptr;
  require_closed(name);
  if (!is_there(folder, place)) {
    layout::write_place(folder, place);
    spdlog::info("index {} lies on {} now", to_string(name), place.tier);
  }
  return try_open(entry, name);
}

/// Makes an opened index one that others find, after it has its memory.
std::shared_ptr<OpenIndex> Indexes::keep(Entry& entry, std::shared_ptr<OpenIndex> index) {
  const std::size_t more = index->memory();
  if (!make_room(more, nullptr)) {
    throw StatusError(StatusCode::resource_exhausted,
                      "index {} takes {} MiB of memory, and of the {} MiB that the engine may take "
                      "{} MiB are taken",
                      to_string(index->name()), bytes_in_mib(more), bytes_in_mib(options_.memory),
                      bytes_in_mib(memory_used()));
  }
  index->load();
  index->touch();
  const std::lock_guard lock(mutex_);
  entry.index = index;
  return index;
}

std::shared_ptr<OpenIndex> Indexes::open(const IndexName& name) {
  if (std::shared_ptr<OpenIndex> index = find(name); index != nullptr) return index;
  if (!fs::exists(tablespaces_.folder_of(name))) {
    throw StatusError(StatusCode::not_found, "there is no index {}", to_string(name));
  }
  const std::shared_ptr<Entry> entry = entry_of(name);
  const std::lock_guard lock(entry->changing);
  if (std::shared_ptr<OpenIndex> index = index_of(*entry); index != nullptr) return index;
  std::shared_ptr<OpenIndex> index = try_open(*entry, name);
  if (index != nullptr) return index;
  throw StatusError(StatusCode::not_found, "there is no index {}", to_string(name));
}

std::shared_ptr<OpenIndex> Indexes::open(const IndexName& name, const AskOpen& shape) {
  layout::CollectionManifest manifest = manifest_for(shape, options_.memory);
  const layout::IndexPlace place = place_of(shape);
  places_.check(place, manifest.options.layout);
  const std::shared_ptr<Entry> entry = entry_of(name);
  const std::lock_guard lock(entry->changing);
  std::shared_ptr<OpenIndex> index = index_of(*entry);
  if (index != nullptr && has_shape(*index, manifest)) {
    if (index->place() == place || index->is_building()) return index;
    index.reset();
    index = open_there(*entry, name, place);
  }
  if (index != nullptr && has_shape(*index, manifest)) return index;
  if (index != nullptr && index->used_at() != 0) {
    throw StatusError(StatusCode::failed_precondition,
                      "index {} is open with vectors of another type, metric or dimension",
                      to_string(name));
  }
  if (index == nullptr) index = open_there(*entry, name, place);
  if (index != nullptr && has_shape(*index, manifest)) return index;
  if (index != nullptr) {
    spdlog::warn("index {} begins anew: it has another shape", to_string(name));
    index.reset();
    let_go(*entry);
    remove_folder(tablespaces_.folder_of(name));
  }
  require_closed(name);
  tablespaces_.enter(name);
  const fs::path folder = tablespaces_.folder_of(name);
  try {
    index = std::make_shared<OpenIndex>(
        folder, name, make_folder(folder, name, {std::move(manifest), place}, places_));
  } catch (...) {
    tablespaces_.leave(name);
    throw;
  }
  // The last other index of the tablespace may have left it after this one entered.
  tablespaces_.enter(name);
  if (shape.begins == kAskBuilds) index->begin_build(options_.memory / kWaitingShare);
  drop_former(name);
  return keep(*entry, std::move(index));
}

void Indexes::open_ahead(const Interruption& gives_up) {
  for (const FolderOnDisk& known : folders_on_disk(tablespaces_.indexes(), places_)) {
    if (gives_up()) return;
    if (memory_used() + known.bytes > options_.memory) continue;
    const std::shared_ptr<Entry> entry = entry_of(known.name);
    // One that is asked for now is opened by who asks.
    const std::unique_lock lock(entry->changing, std::try_to_lock);
    if (!lock.owns_lock() || index_of(*entry) != nullptr) continue;
    try {
      const std::shared_ptr<OpenIndex> index = try_open(*entry, known.name);
      if (index != nullptr) index->note_unused();
    } catch (const std::exception& error) {
      spdlog::warn("index {} is not open yet: {}", to_string(known.name), error.what());
    }
  }
}

/// The server gives the name of a file again when what had it is gone. A database that moves to
/// another tablespace takes its files along: what was told since would lack here when it comes
/// back.
void Indexes::drop_former(const IndexName& name) {
  for (const IndexName& other : list({}, static_cast<std::size_t>(-1))) {
    const bool is_same_file = other.database == name.database && other.file == name.file;
    const bool is_former = other.tablespace == name.tablespace || other.number == name.number;
    if (is_same_file && is_former && other != name) drop(other);
  }
}

void Indexes::let_go(Entry& entry) {
  const std::lock_guard lock(mutex_);
  if (entry.index == nullptr) return;
  entry.index->leave();
  closing_.insert(entry.index->name());
  leaving_.push_back(std::exchange(entry.index, nullptr));
}

/// The folder goes at once. An index that cores still search has its files open, or mapped.
void Indexes::drop(const IndexName& name) {
  const std::shared_ptr<Entry> entry = entry_of(name);
  {
    const std::lock_guard lock(entry->changing);
    let_go(*entry);
    const fs::path folder = tablespaces_.folder_of(name);
    if (fs::exists(folder)) {
      tablespaces_.enter(name);
      remove_folder(folder);
    }
    tablespaces_.leave(name);
  }
  const std::lock_guard lock(mutex_);
  // Another thread may have the entry, and make the index again.
  if (entry.use_count() == 2 && entry->index == nullptr) entries_.erase(name);
}

void Indexes::clean() {
  std::vector<std::shared_ptr<OpenIndex>> closed;
  {
    const std::lock_guard lock(mutex_);
    for (auto& index : leaving_) {
      if (index.use_count() == 1) closed.push_back(std::move(index));
    }
    std::erase(leaving_, nullptr);
  }
  for (auto& index : closed) {
    const IndexName name = index->name();
    index.reset();  // its background ends without the lock
    const std::lock_guard lock(mutex_);
    closing_.erase(closing_.find(name));
    counted_at_ = 0;
  }
}

/// Closes indexes until there is room. Each turn closes one.
bool Indexes::make_room(std::size_t bytes, const OpenIndex* but) {
  while (memory_used() + bytes > options_.memory) {
    const std::shared_ptr<Entry> entry = longest_unused(but);
    if (entry == nullptr || !close(*entry)) return false;
  }
  return true;
}

/// Returns null where all were used lately.
std::shared_ptr<Indexes::Entry> Indexes::longest_unused(const OpenIndex* but) const {
  std::shared_ptr<Entry> found;
  Ticks oldest = now_ticks() - us_to_ticks(kUnusedUs);
  const std::lock_guard lock(mutex_);
  for (const auto& [name, entry] : entries_) {
    if (entry->index == nullptr || entry->index.get() == but) continue;
    if (entry->index->used_at() > oldest || entry->index->is_building()) continue;
    oldest = entry->index->used_at();
    found = entry;
  }
  return found;
}

/// What is closed loses its fresh rows, and has to catch up when it is opened again. Does not wait
/// for a thread that opens or drops it, since that may wait for this one.
bool Indexes::close(Entry& entry) {
  const std::unique_lock lock(entry.changing, std::try_to_lock);
  if (!lock.owns_lock()) return false;
  std::shared_ptr<OpenIndex> index = index_of(entry);
  if (index == nullptr) return true;
  const IndexName name = index->name();
  save(*index);
  spdlog::info("index {} is closed: others need its memory", to_string(name));
  index.reset();
  let_go(entry);
  return wait_until_closed(name, kCloseUs);
}

/// What was let go, and is not closed yet, locks its folder, and may write by its name what would
/// be in a new folder then.
void Indexes::require_closed(const IndexName& name) {
  if (wait_until_closed(name, kReopenUs)) return;
  throw StatusError(StatusCode::unavailable, "index {} is being closed", to_string(name));
}

bool Indexes::wait_until_closed(const IndexName& name, double most_us) {
  const Ticks end = now_ticks() + us_to_ticks(most_us);
  for (;;) {
    clean();
    {
      const std::lock_guard lock(mutex_);
      if (!closing_.contains(name)) return true;
    }
    if (now_ticks() >= end) return false;
    std::this_thread::sleep_for(kLook);
  }
}

void Indexes::save() {
  for (const auto& index : all_open()) {
    if (index->leaving()) continue;
    tablespaces_.is_gone(index->name()) ? drop(index->name()) : save(*index);
  }
  tablespaces_.forget_gone();
}

void Indexes::save(OpenIndex& index) {
  try {
    index.save(now_ticks() + us_to_ticks(kSaveUs));
  } catch (const std::exception& error) {
    spdlog::warn("index {} is not saved: {}", to_string(index.name()), error.what());
  }
}

std::vector<std::shared_ptr<OpenIndex>> Indexes::all_open() const {
  std::vector<std::shared_ptr<OpenIndex>> open;
  const std::lock_guard lock(mutex_);
  for (const auto& [name, entry] : entries_) {
    if (entry->index != nullptr) open.push_back(entry->index);
  }
  open.insert(open.end(), leaving_.begin(), leaving_.end());
  return open;
}

std::size_t Indexes::memory_used() const {
  const Ticks now = now_ticks();
  {
    const std::lock_guard lock(mutex_);
    if (counted_at_ != 0 && now < counted_at_ + us_to_ticks(kCountedForUs)) return used_;
  }
  std::size_t sum = 0;
  for (const auto& index : all_open()) sum += index->memory();
  sum += places_.pool_bytes();
  const std::lock_guard lock(mutex_);
  used_ = sum;
  counted_at_ = now;
  return sum;
}

void Indexes::require_memory(OpenIndex& index) {
  if (make_room(1, &index)) return;
  if (index.shared().forget_vectors()) {
    {
      const std::lock_guard lock(mutex_);
      counted_at_ = 0;
    }
    if (make_room(1, &index)) return;
  }
  index.end_rest();  // segments on a disk take less memory than fresh rows
  throw StatusError(StatusCode::resource_exhausted,
                    "indexes take {} MiB, which is all of the memory that the engine may take",
                    bytes_in_mib(memory_used()));
}

std::size_t Indexes::memory_left() const {
  const std::size_t used = memory_used();
  return used < options_.memory ? options_.memory - used : 0;
}

std::vector<IndexName> Indexes::list(const IndexName& after, std::size_t most) const {
  std::vector<IndexName> names;
  for (const IndexFolder& folder : tablespaces_.indexes()) {
    if (folder.name > after && names.size() < most) names.push_back(folder.name);
  }
  return names;
}

ToldSummary Indexes::summary() const {
  return {.memory = memory_used(),
          .memory_limit = options_.memory,
          .indexes = static_cast<std::uint32_t>(tablespaces_.indexes().size()),
          .open = static_cast<std::uint32_t>(all_open().size())};
}

}  // namespace farvec::postgres
