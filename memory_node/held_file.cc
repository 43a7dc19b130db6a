#include "memory_node/held_file.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <system_error>

#include "layout/collection/catalogue.h"
#include "layout/collection/index_attributes.h"
#include "layout/collection/segment_attributes.h"
#include "layout/collection/segment_ids.h"
#include "layout/index/region_file.h"

namespace farvec::memory_node {
namespace {

/// All kinds of files have headers of this length.
constexpr std::size_t kHeaderBytes = sizeof(layout::CatalogueHeader);
static_assert(kHeaderBytes == layout::kSegmentIdsHeaderBytes);
static_assert(kHeaderBytes == sizeof(layout::SegmentAttributesHeader));
static_assert(kHeaderBytes == sizeof(layout::IndexSchemaHeader));

/// Throws errors of `action`, which are due to the file, as RefusedFile.
template <typename Action>
void refusing(const Action& action) {
  try {
    action();
  } catch (const Error& error) {
    throw RefusedFile("{}", error.what());
  }
}

/// The kernel's name of the opened file must be the path, also when the file was deleted since.
void require_place(const InputFile& file) {
  std::error_code error;
  const std::string place =
      std::filesystem::read_symlink(fmt::format("/proc/self/fd/{}", file.descriptor()), error);
  if (!error && (place == file.path() || place == file.path() + " (deleted)")) return;
  throw Error("'{}' leads to '{}': a link has come into its path since it was looked at",
              file.path(), place);
}

void require_header(std::span<const std::byte> begin, const HeldFile& said, std::uint64_t segment) {
  switch (said.kind) {
    case FileKind::ids:
      return layout::require_segment_ids_header(begin, segment, said.path);
    case FileKind::attributes:
      return layout::require_segment_attributes_header(begin, segment, said.path);
    case FileKind::catalogue:
      return layout::require_catalogue_header(begin, fmt::format("'{}'", said.path));
    case FileKind::schema:
      return layout::require_index_schema_header(begin, said.path);
  }
}

}  // namespace

const char* to_string(FileKind kind) {
  switch (kind) {
    case FileKind::ids:
      return "ids";
    case FileKind::attributes:
      return "attributes";
    case FileKind::catalogue:
      return "catalogue";
    case FileKind::schema:
      return "schema";
  }
  return "?";
}

OpenedFile::OpenedFile(const HeldFile& file, const layout::SegmentKey& key) : said_(file) {
  refusing([&] {
    file_.emplace(said_.path);
    if (said_.is_resolved) require_place(*file_);
    if (file_->size() != said_.bytes) {
      throw Error("'{}' has {} bytes where its collection has {}: it was replaced, or is another's",
                  said_.path, file_->size(), said_.bytes);
    }
    std::array<std::byte, kHeaderBytes> header{};
    const auto begin = std::span(header).first(std::min<std::uint64_t>(said_.bytes, kHeaderBytes));
    file_->read_at(0, begin.data(), begin.size());
    require_header(begin, said_, key.number);
  });
}

std::uint64_t OpenedFile::read(std::span<std::byte> to,
                               const std::function<void(std::uint64_t)>& on_piece) const {
  for (std::uint64_t at = 0; at < to.size(); at += layout::kChunkBytes) {
    const auto part = to.subspan(at, std::min<std::uint64_t>(layout::kChunkBytes, to.size() - at));
    refusing([&] { file_->read_at(at, part.data(), part.size()); });
    on_piece(part.size());
  }
  const std::uint64_t found = XXH3_64bits(to.data(), to.size());
  if (found == said_.checksum.value_or(found)) return found;
  throw RefusedFile(
      "'{}' is damaged, or was replaced: its checksum is {:016x} where {:016x} is due", said_.path,
      found, *said_.checksum);
}

}  // namespace farvec::memory_node
