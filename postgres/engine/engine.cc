#include "postgres/engine/engine.h"

#include <fcntl.h>
#include <spdlog/spdlog.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/descriptor.h"
#include "base/error.h"
#include "base/file_names.h"
#include "base/input_file.h"
#include "base/output_file.h"
#include "collection/search/collection_part.h"
#include "collection/segment/segment_access.h"
#include "postgres/channel/requests.h"
#include "postgres/engine/many_part.h"
#include "search/core/core_loop.h"
#include "wal/log_segment_files.h"
#include <algorithm>
#include <array>
#include <exception>

namespace farvec::postgres {
namespace {

namespace fs = std::filesystem;

constexpr std::uint32_t kSlots = 16;  ///< searches that a core has at once
constexpr unsigned kCallThreads = 8;
/// How long an index that was opened is left as it is for the first process that catches up.
constexpr double kFirstRestUs = 30e6;
constexpr std::uint32_t kSaveEvery = 60;    ///< rounds between two calls of Indexes::save()
constexpr std::uint32_t kOwnersEvery = 20;  ///< rounds between two looks for processes that ended
/// In the folder: the path of the last channel's file.
constexpr const char* kSegmentFile = "segment";
constexpr std::uint64_t kMostPath = 4096;
constexpr const char* kSegmentName = "farvec-";  ///< begins the names of all segments

collection::CollectionAccess access_for(const EngineOptions& options) {
  collection::CollectionAccess access;
  access.segments = collection::SegmentAccess::on("dram");
  search::SearchShape& shape = access.segments.shape;
  shape.cores = options.threads;
  shape.slots = kSlots;
  shape.k = ASK_MOST_ROWS;
  shape.list = ASK_MOST_ROWS;
  access.logged = false;  // the table has all rows, and its status pages say which
  access.link = true;
  access.rest_us = kFirstRestUs;
  access.build_threads = options.threads;
  access.rounds_imports = true;
  return access;
}

/// Only a file of our own is removed, since its name may come from anywhere. A running engine has
/// locked its file.
void remove_if_left(const fs::path& path) {
  struct stat found {};
  if (lstat(path.c_str(), &found) != 0) return;
  const bool ours = S_ISREG(found.st_mode) && found.st_uid == geteuid() &&
                    path.filename().string().starts_with(kSegmentName);
  if (!ours) return;
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
  if (file.valid() && try_lock(file.get()) == FileLock::taken) unlink(path.c_str());
}

/// In a copy of another server's folder the note names that server's file.
void remove_former(const fs::path& note) {
  if (fs::exists(note)) remove_if_left(read_text(note.string(), kMostPath, "a path"));
}

/// Names of one server's files are alike up to their last number: so what it has left is found
/// where a backup was put in the place of its note.
void remove_alike(const fs::path& segment) {
  const std::string name = segment.filename().string();
  const std::string alike = name.substr(0, name.rfind('-') + 1);
  if (!alike.starts_with(kSegmentName) || alike == kSegmentName) return;
  for (const fs::directory_entry& entry : fs::directory_iterator(parent_of(segment))) {
    if (entry.path().filename().string().starts_with(alike)) remove_if_left(entry.path());
  }
}

/// Without the note, a file that this engine leaves stays until someone removes it. That is better
/// than no engine: on a full disk it still answers searches.
void note_path(const fs::path& note, const std::string& path) {
  try {
    OutputFile file(note.string(), path.size());
    file.append(path.data(), path.size());
    file.commit();
  } catch (const SystemError& error) {
    spdlog::warn("if the engine is killed, '{}' stays: {}", path, error.what());
  }
}

}  // namespace

ChannelFile::ChannelFile(const fs::path& folder, const std::string& path, std::uint32_t slots)
    : path_(path) {
  const fs::path note = folder / kSegmentFile;
  remove_former(note);
  remove_alike(path);
  note_path(note, path);
  std::array<char, CHANNEL_ERROR_BYTES> why;
  const std::uint64_t incarnation = std::max<std::uint64_t>(wal::random_word(), 1);
  channel_ = channel_create(path.c_str(), slots, incarnation, why.data());
  if (channel_ == nullptr) throw Error("{}", why.data());
}

ChannelFile::~ChannelFile() {
  unlink(path_.c_str());
  channel_close(channel_);
}

Engine::Engine(const EngineOptions& options)
    : indexes_({options.folders, options.memory, access_for(options)}),
      file_(options.folders.own, options.segment, options.slots),
      calls_(indexes_, kCallThreads) {
  for (unsigned core = 0; core < options.threads; ++core) {
    cores_.emplace_back([this] { run_core(); });
  }
  channel_set_state(&file_.channel(), kChannelServing);
  // The first searches then need not wait for it. It goes on while the server replays its WAL.
  calls_.run([this] { indexes_.open_ahead([this] { return stopping_.load(); }); });
}

Engine::~Engine() {
  channel_set_state(&file_.channel(), kChannelStopping);
  stopping_.store(true, std::memory_order_relaxed);
  channel_wake_all(&file_.channel());
  for (std::thread& core : cores_) core.join();
  indexes_.save();
}

void Engine::run_core() {
  try {
    ChannelFeed feed({file_.channel(), indexes_, calls_, late_, stopping_});
    search::CoreLoop core({kSlots, kSlots * collection::CollectionPart::kHelpers},
                          [](coroutines::Scheduler& scheduler) {
                            return std::make_unique<ManyPart>(kSlots, scheduler);
                          });
    core.run(feed);
  } catch (const std::exception& error) {
    spdlog::critical("a core has ended: {}", error.what());
    broken_.store(true, std::memory_order_release);
  }
}

void Engine::keep_house() {
  channel_sweep(&file_.channel(), rounds_ % kOwnersEvery == 0);
  if (++rounds_ % kSaveEvery == 0 && !saving_.exchange(true)) {
    calls_.run([this] {
      indexes_.save();
      saving_ = false;
    });
  }
  indexes_.clean();
}

}  // namespace farvec::postgres
