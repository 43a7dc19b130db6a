// Writes one region file: payload in large chunks, then the header that publishes it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "layout/graph/codes_region.h"
#include "layout/index/manifest.h"

namespace farvec::layout {

/// Bytes of a chunk in every region that is written now; a reader takes the number from the
/// manifest.
inline constexpr std::uint64_t kChunkBytes = std::uint64_t{4} << 20;

/// An OnChunk is called for every chunk that was written, with its bytes. What it throws ends the
/// writing.
using OnChunk = std::function<void(std::uint64_t bytes)>;

/// Returns the name of a region's file unless that name is taken.
std::string region_file_name(RegionKind kind);

/// A WritableFile is a file that is being written. It owns the descriptor; the owner of the folder
/// removes the file. Every member throws SystemError.
class WritableFile {
 public:
  explicit WritableFile(const std::filesystem::path& path);
  ~WritableFile();
  WritableFile(const WritableFile&) = delete;
  WritableFile& operator=(const WritableFile&) = delete;

  void write_at(std::uint64_t offset, std::span<const std::byte> bytes);
  void sync();

 private:
  std::string path_;
  int fd_ = -1;
};

/// Streams one region. Without publish() the file has no header and no reader accepts it.
class RegionFile {
 public:
  RegionFile(const std::filesystem::path& directory, RegionKind kind, OnChunk on_chunk = {});

  /// Takes any length; checksums are computed per kChunkBytes of payload.
  void append(std::span<const std::byte> payload);
  /// Syncs the payload, then writes and syncs the header. The file is complete after it.
  RegionEntry publish();

 private:
  void take_chunk();

  RegionEntry entry_;
  WritableFile file_;
  const OnChunk on_chunk_;
  std::vector<std::byte> chunk_;  ///< the payload after the last whole chunk
};

/// Writes the whole codes region.
RegionEntry write_codes(const std::filesystem::path& directory, const CodesView& codes,
                        const OnChunk& on_chunk = {});

}  // namespace farvec::layout
