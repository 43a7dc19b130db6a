#include "memory_node/index_files.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <filesystem>
#include <optional>

#include "base/error.h"
#include "layout/collection/index_attributes.h"
#include "layout/collection/segment_attributes.h"
#include "layout/index/file_placement.h"

namespace farvec::memory_node {
namespace {

using OpenedFiles = std::vector<std::shared_ptr<const OpenedFile>>;

std::shared_ptr<const OpenedFile> open_file(const std::filesystem::path& path, FileKind kind) {
  const HeldFile file{
      .path = path.string(), .bytes = std::filesystem::file_size(path), .kind = kind};
  return std::make_shared<const OpenedFile>(file,
                                            layout::SegmentKey{.number = layout::kNoSegmentNumber});
}

}  // namespace

OpenedFiles open_attributes(const layout::IndexDirectory& directory, const LoadRequest& request) {
  const std::filesystem::path& folder = directory.path();
  const auto schema = layout::read_index_schema(folder, directory.manifest());
  if (!schema) return {};
  if (request.device != nullptr) {
    layout::require_no_tenants(*schema, folder.string());
    spdlog::warn("the attributes of '{}' are not held: a memory device has no place for them",
                 folder.string());
    return {};
  }
  if (!layout::holds_files(request.node)) return {};
  return {open_file(folder / layout::kIndexSchemaFile, FileKind::schema),
          open_file(folder / layout::kSegmentAttributesFile, FileKind::attributes)};
}

std::uint64_t bytes_of(const OpenedFiles& files) {
  std::uint64_t sum = 0;
  for (const auto& file : files) sum += file->said().bytes;
  return sum;
}

void require_attributes(const RegionTable& table, const layout::IndexDirectory& directory) {
  if (table.file_checksums.empty()) return;
  const auto bytes = [&](std::size_t file) {
    return std::span<const std::byte>(
        table.regions.at(directory.manifest().held_regions() + file).backing->bytes());
  };
  layout::require_index_attributes({bytes(0), bytes(1)}, directory.manifest(),
                                   fmt::format("'{}'", directory.path().string()));
}

}  // namespace farvec::memory_node
