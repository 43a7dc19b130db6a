#include "collection/log_place.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <system_error>
#include <utility>

#include "base/error.h"
#include "search/unreachable_error.h"
#include "wal/log_reader.h"
#include "wal/region_source.h"
#include "wal/segment_list.h"

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

class NodesLog final : public WrittenLog {
 public:
  NodesLog(wal::RegionWriters writers, std::uint64_t log_id)
      : writers_(std::move(writers)),
        log_id_(log_id),
        header_(wal::recover_region_log(writers_, log_id)) {}

  std::shared_ptr<wal::LogSource> source() override {
    return wal::RegionSource::make(writers_.copies, log_id_, wal::RegionSource::Quorum::none);
  }
  std::unique_ptr<wal::Log> open(const wal::LogOptions& options) override {
    return wal::open_region_log(std::exchange(writers_, {}), header_, options);
  }
  /// Half of the slots; the others are for what comes while segments are built.
  std::uint64_t most_bytes() const override { return header_.slots / 2 * header_.slot_bytes; }

 private:
  wal::RegionWriters writers_;
  const std::uint64_t log_id_;
  const layout::LogRegionHeader header_;
};

std::filesystem::path log_folder(const std::filesystem::path& folder) {
  return folder / layout::kCollectionLogFolder;
}

/// A log on nodes that a kill left before the manifest named it has the folder's id, and is made
/// again.
void move_log(const std::filesystem::path& folder, layout::CollectionManifest& manifest,
              const wal::RegionWriters& writers) {
  const std::vector<wal::Segment> segments = wal::list_segments(log_folder(folder));
  wal::LogReader reader(log_folder(folder), manifest.log_position);
  const std::uint64_t id = segments.front().header.log_id;
  const auto log = wal::create_region_log(writers, id, {});
  layout::CollectionManifest moved = manifest;
  moved.log_position = log->end();
  moved.log_on_nodes = id;
  ++moved.revision;
  while (const std::optional<wal::LogRecord> record = reader.next()) {
    const std::array parts{record->bytes};
    const Result<wal::Position> end = log->append(parts);
    if (!end.ok()) {
      throw Error(
          "moving the log of '{}' to memory nodes: {}; open the collection without "
          "--log-nodes and flush it first",
          folder.string(), end.status().message());
    }
  }
  const Status status = log->flush(log->end(), now_ticks() + us_to_ticks(kMoveUs));
  if (!status.ok()) throw Error("moving the log of '{}': {}", folder.string(), status.message());
  layout::write_collection(folder, moved);
  manifest = std::move(moved);
  std::error_code failed;
  std::filesystem::remove_all(log_folder(folder), failed);
  if (failed) {
    spdlog::warn("'{}' is not needed any more: {}", log_folder(folder).string(), failed.message());
  }
}

bool are_all_there(const wal::RegionWriters& writers) {
  return std::all_of(writers.copies.begin(), writers.copies.end(),
                     [](const auto& copy) { return copy != nullptr; });
}

/// Moves the log there first where it lies in the folder.
std::unique_ptr<WrittenLog> open_on_nodes(const std::filesystem::path& folder,
                                          layout::CollectionManifest& manifest,
                                          wal::RegionWriters writers) {
  const bool all = are_all_there(writers);
  try {
    if (manifest.log_on_nodes == 0) move_log(folder, manifest, writers);
    return std::make_unique<NodesLog>(std::move(writers), manifest.log_on_nodes);
  } catch (const Error& error) {
    if (all) throw;
    throw search::UnreachableError("{}", error.what());  // right when the others are there, perhaps
  }
}

}  // namespace

std::shared_ptr<wal::LogSource> log_source(const std::filesystem::path& folder,
                                           const layout::CollectionManifest& manifest,
                                           const LogNodes* nodes) {
  if (manifest.log_on_nodes == 0) {
    if (nodes == nullptr) return wal::folder_source(log_folder(folder));
    throw search::UnreachableError(
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

}  // namespace farvec::collection
