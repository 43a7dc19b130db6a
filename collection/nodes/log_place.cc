#include "collection/nodes/log_place.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <utility>

#include "base/error.h"
#include "base/unreachable_error.h"
#include "wal/log_reader.h"
#include "wal/log_segment_files.h"
#include "wal/log_segment_list.h"
#include "wal/no_log.h"
#include "wal/region_source.h"

namespace farvec::collection {
namespace {

/// A move is quick, or fails.
constexpr double kMoveUs = 60e6;

class FolderLog final : public WrittenLog {
 public:
  explicit FolderLog(std::filesystem::path folder) : folder_(std::move(folder)) {}

  std::shared_ptr<wal::LogSource> source() override { return wal::folder_source(folder_); }
  std::unique_ptr<wal::Log> open(const wal::LogOptions& options) override {
    wal::LogOptions here = options;
    here.folder = folder_;
    return wal::Log::open(here);
  }
  std::uint64_t most_bytes() const override { return std::numeric_limits<std::uint64_t>::max(); }

 private:
  const std::filesystem::path folder_;
};

class NothingWritten final : public WrittenLog {
 public:
  explicit NothingWritten(wal::Position begin) : begin_(begin) {}

  std::shared_ptr<wal::LogSource> source() override { return nullptr; }
  std::unique_ptr<wal::Log> open(const wal::LogOptions&) override {
    return std::make_unique<wal::NoLog>(begin_);
  }
  std::uint64_t most_bytes() const override { return std::numeric_limits<std::uint64_t>::max(); }

 private:
  const wal::Position begin_;
};

class NodesLog final : public WrittenLog {
 public:
  NodesLog(wal::RegionWriters writers, const wal::RegionLogName& name)
      : writers_(std::move(writers)),
        log_id_(name.log_id),
        header_(wal::recover_region_log(writers_, name)) {}

  /// The epoch that open() writes into the memories.
  std::uint32_t epoch() const { return header_.epoch; }

  std::shared_ptr<wal::LogSource> source() override {
    return wal::RegionSource::make(writers_.copies, log_id_, wal::RegionSource::Quorum::none);
  }
  std::unique_ptr<wal::Log> open(const wal::LogOptions& options) override {
    return wal::open_region_log(std::exchange(writers_, {}), header_, options);
  }
  /// Half of the slots; the others are for changes that come while segments are built.
  std::uint64_t most_bytes() const override { return header_.slots / 2 * header_.slot_bytes; }

 private:
  wal::RegionWriters writers_;
  const std::uint64_t log_id_;
  const layout::LogRegionHeader header_;
};

std::filesystem::path log_folder(const std::filesystem::path& folder) {
  return folder / layout::kCollectionLogFolder;
}

void write_next(const std::filesystem::path& folder, layout::CollectionManifest& manifest,
                layout::CollectionManifest next) {
  next.revision = manifest.revision + 1;
  layout::write_collection(folder, next);
  manifest = std::move(next);
}

/// Returns none for manifests of earlier versions of farvec, which wrote none.
std::optional<std::uint32_t> last_epoch(const layout::CollectionManifest& manifest) {
  if (manifest.log_epoch == 0) return std::nullopt;
  return manifest.log_epoch;
}

/// Removes the folder's part of the log, and nothing else. The log is on the nodes already.
void remove_log(const std::filesystem::path& folder) {
  try {
    wal::remove_log_segments(folder);
  } catch (const std::exception& error) {
    spdlog::warn("'{}' is not needed any more: {}", folder.string(), error.what());
  }
}

/// Appends what is in the folder from the manifest's position on.
void append_all(wal::Log& log, const std::filesystem::path& folder, wal::Position from) {
  wal::LogReader reader(log_folder(folder), from);
  while (const std::optional<wal::LogRecord> record = reader.next()) {
    const std::array parts{record->bytes};
    const Result<wal::Position> end = log.append(parts);
    if (!end.ok()) {
      throw Error(
          "moving the log of '{}' to memory nodes: {}; open the collection without "
          "--log-nodes and flush it first",
          folder.string(), end.status().message());
    }
  }
  const Status status = log.flush(log.end(), now_ticks() + us_to_ticks(kMoveUs));
  if (!status.ok()) throw Error("moving the log of '{}': {}", folder.string(), status.message());
}

/// The manifest says which log it makes before it makes it. So what a kill left on the nodes is
/// known by its id and its epoch, and made again. A log of a copy of this folder, or of the folder
/// that this one is a copy of, has another id or a later epoch there, and is not touched.
void move_log(const std::filesystem::path& folder, layout::CollectionManifest& manifest,
              const wal::RegionWriters& writers) {
  const wal::Position from = manifest.log_position;
  layout::CollectionManifest next = manifest;
  if (manifest.log_moving == 0) {
    next.log_moving = std::max<std::uint64_t>(wal::random_word(), 1);
    next.log_epoch = 0;
  }
  // The name of the attempts before, which left nothing with a later epoch.
  const wal::RegionLogName name{next.log_moving, next.log_epoch};
  next.log_epoch = wal::next_log_epoch(writers, name);
  write_next(folder, manifest, next);
  const auto log = wal::create_region_log(writers, name, {});
  next.log_position = log->end();
  append_all(*log, folder, from);
  next.log_on_nodes = std::exchange(next.log_moving, 0);
  write_next(folder, manifest, std::move(next));
  remove_log(log_folder(folder));
}

bool are_all_there(const wal::RegionWriters& writers) {
  return std::all_of(writers.copies.begin(), writers.copies.end(),
                     [](const auto& copy) { return copy != nullptr; });
}

/// Opens the log on the nodes, and moves it there first where it is in the folder.
std::unique_ptr<WrittenLog> open_on_nodes(const std::filesystem::path& folder,
                                          layout::CollectionManifest& manifest,
                                          wal::RegionWriters writers) {
  const bool all = are_all_there(writers);
  try {
    if (manifest.log_on_nodes == 0) move_log(folder, manifest, writers);
    auto log = std::make_unique<NodesLog>(
        std::move(writers), wal::RegionLogName{manifest.log_on_nodes, last_epoch(manifest)});
    // It is written before the nodes have the log, so that they never have a later one than the
    // folder knows.
    layout::CollectionManifest next = manifest;
    next.log_epoch = log->epoch();
    write_next(folder, manifest, std::move(next));
    return log;
  } catch (const Error& error) {
    if (all) throw;
    throw UnreachableError("{}", error.what());  // this is right if the other nodes are there
  }
}

}  // namespace

std::shared_ptr<wal::LogSource> log_source(const std::filesystem::path& folder,
                                           const layout::CollectionManifest& manifest,
                                           const LogNodes* nodes) {
  if (manifest.log_on_nodes == 0) {
    if (nodes == nullptr) return wal::folder_source(log_folder(folder));
    throw UnreachableError(
        "the log of '{}' lies in its folder: a writer with --log-nodes moves it to memory "
        "nodes",
        folder.string());
  }
  if (nodes != nullptr) return nodes->source(manifest.log_on_nodes);
  throw Error(
      "the log of '{}' lies on memory nodes: 'farvec-compute-node --collection {} "
      "--log-nodes ADDRESSES' opens it, and 'farvec ... --connect' asks that node",
      folder.string(), folder.string());
}

OpenedLog open_log(const std::filesystem::path& folder, const LogNodes* nodes) {
  OpenedLog opened;
  opened.manifest = layout::read_collection(folder);
  if (nodes == nullptr) {
    (void)log_source(folder, opened.manifest, nullptr);
    opened.log = std::make_unique<FolderLog>(log_folder(folder));
    return opened;
  }
  opened.log = open_on_nodes(folder, opened.manifest, nodes->attach_writer());
  return opened;
}

OpenedLog open_without_log(const std::filesystem::path& folder) {
  OpenedLog opened;
  opened.manifest = layout::read_collection(folder);
  if (opened.manifest.log_on_nodes != 0) (void)log_source(folder, opened.manifest, nullptr);
  if (std::filesystem::exists(log_folder(folder))) remove_log(log_folder(folder));
  opened.log = std::make_unique<NothingWritten>(opened.manifest.log_position);
  return opened;
}

}  // namespace farvec::collection
