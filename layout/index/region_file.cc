#include "layout/index/region_file.h"

#include <fcntl.h>
#include <unistd.h>
#include <xxhash.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/error.h"

namespace farvec::layout {

WritableFile::WritableFile(const std::filesystem::path& path) : path_(path.string()) {
  fd_ = open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  if (fd_ < 0) throw SystemError(errno, "creating '{}'", path_);
}

WritableFile::~WritableFile() {
  close(fd_);
}

void WritableFile::write_at(std::uint64_t offset, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t put = pwrite(fd_, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) throw SystemError(errno, "writing '{}' at offset {}", path_, offset);
    offset += static_cast<std::uint64_t>(put);
    bytes = bytes.subspan(static_cast<std::size_t>(put));
  }
}

void WritableFile::sync() {
  if (fsync(fd_) != 0 && errno != EINVAL) throw SystemError(errno, "syncing '{}'", path_);
}

std::string region_file_name(RegionKind kind) {
  return std::string(to_string(kind)) + (region_id(kind) == kRecordsRegion ? "" : ".bin");
}

RegionFile::RegionFile(const std::filesystem::path& directory, RegionKind kind, OnChunk on_chunk)
    : entry_{.kind = kind,
             .file = region_file_name(kind),
             .payload_bytes = 0,
             .chunk_bytes = kChunkBytes,
             .checksums = {}},
      file_(directory / entry_.file),
      on_chunk_(std::move(on_chunk)) {
  chunk_.reserve(kChunkBytes);
}

void RegionFile::append(std::span<const std::byte> payload) {
  while (!payload.empty()) {
    const std::size_t taken = std::min<std::size_t>(payload.size(), kChunkBytes - chunk_.size());
    chunk_.insert(chunk_.end(), payload.begin(), payload.begin() + static_cast<long>(taken));
    payload = payload.subspan(taken);
    if (chunk_.size() == kChunkBytes) take_chunk();
  }
}

void RegionFile::take_chunk() {
  file_.write_at(kRegionHeaderBytes + entry_.payload_bytes, chunk_);
  entry_.checksums.push_back(XXH3_64bits(chunk_.data(), chunk_.size()));
  entry_.payload_bytes += chunk_.size();
  if (on_chunk_) on_chunk_(chunk_.size());
  chunk_.clear();
}

RegionEntry RegionFile::publish() {
  if (!chunk_.empty()) take_chunk();
  file_.sync();
  file_.write_at(0, encode_region_header(entry_.header()));
  file_.sync();
  return std::move(entry_);
}

RegionEntry write_codes(const std::filesystem::path& directory, const CodesView& codes,
                        const OnChunk& on_chunk) {
  RegionFile file(directory, RegionKind::codes, on_chunk);
  file.append(encode_codes_preamble(codes));
  file.append(codes.records);
  return file.publish();
}

}  // namespace farvec::layout
