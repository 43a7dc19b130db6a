#include "search/disk/disk_records.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>

#include "base/error.h"
#include "search/core/index_kinds.h"

namespace farvec::search {
namespace {

namespace fs = std::filesystem;
using disk::DiskFile;

/// More reads than a disk needs to be busy, in as much memory as one search of clusters takes.
constexpr std::uint32_t kLeastReads = 32;
constexpr std::uint32_t kMostReads = 256;
constexpr std::uint32_t kStagingBytes = 8u << 20;
/// One read brings records of a graph that are near each other up to this length. A disk brings as
/// much at once.
constexpr std::uint32_t kTogetherBytes = 4096;

fs::path region_path(const std::string& path, const layout::IndexDirectory& directory,
                     std::uint32_t region) {
  fs::path own = directory.region_path(region);
  if (path.empty()) return own;
  return fs::is_directory(path) ? fs::path(path) / own.filename() : fs::path(path);
}

/// Reads the first bytes of a file or device, into memory that is fit for a direct read.
HugeBuffer read_start(const DiskFile& file, std::size_t bytes) {
  HugeBuffer buffer(round_up(bytes, file.block_bytes()));
  const ssize_t got = pread(file.descriptor(), buffer.data(), buffer.size(), 0);
  if (got < 0) throw SystemError(errno, "reading the start of '{}'", file.path());
  if (static_cast<std::size_t>(got) < bytes) {
    throw Error("'{}' ends within its header", file.path());
  }
  return buffer;
}

std::shared_ptr<const DiskFile> open_region(const layout::IndexDirectory& directory,
                                            std::uint32_t region, const fs::path& path,
                                            disk::PageCache cache) {
  auto file = std::make_shared<const DiskFile>(path.string(), disk::DiskAccess::read, cache);
  const std::uint64_t needed = directory.manifest().region(region).file_bytes();
  if (file->size() < needed) {
    throw Error("'{}' has {} bytes, but the index's {} are {}: copy '{}' there", file->path(),
                file->size(), region == layout::kVectorsRegion ? "vectors" : "records", needed,
                directory.region_path(region).string());
  }
  const HugeBuffer start = read_start(*file, layout::kRegionHeaderBytes);
  directory.check_header(region, start.span().first(layout::kRegionHeaderBytes), file->path());
  return file;
}

}  // namespace

std::shared_ptr<const DiskFile> open_disk_records(const layout::IndexDirectory& directory,
                                                  const std::string& path, disk::PageCache cache) {
  return open_region(directory, layout::kRecordsRegion,
                     region_path(path, directory, layout::kRecordsRegion), cache);
}

std::shared_ptr<const DiskFile> open_disk_vectors(const layout::IndexDirectory& directory,
                                                  const std::string& path, disk::PageCache cache) {
  const std::string folder = fs::is_directory(path) ? path : "";
  return open_region(directory, layout::kVectorsRegion,
                     region_path(folder, directory, layout::kVectorsRegion), cache);
}

std::shared_ptr<const DiskFile> open_disk_second(const layout::SecondCopyFile& second,
                                                 const std::string& path, disk::PageCache cache) {
  const fs::path own(second.path());
  if (!path.empty() && !fs::exists(path)) {
    throw Error("'{}' does not exist: the second copy '{}' cannot be read from there", path,
                own.string());
  }
  const bool elsewhere = !path.empty() && fs::is_directory(path);
  auto file = std::make_shared<const DiskFile>(
      (elsewhere ? fs::path(path) / own.filename() : own).string(), disk::DiskAccess::read, cache);
  if (file->size() < second.geometry().file_bytes()) {
    throw Error("'{}' has {} bytes, but the second copy has {}: copy '{}' there", file->path(),
                file->size(), second.geometry().file_bytes(), own.string());
  }
  const HugeBuffer start = read_start(*file, layout::kSecondCopyBlock);
  second.form().require_same(start.span(), file->path());
  return file;
}

std::uint32_t disk_read_count(std::uint32_t longest_bytes) {
  return std::clamp(kStagingBytes / longest_bytes, kLeastReads, kMostReads);
}

DiskReads disk_reads(const SearchIndex& index) {
  const auto longest = static_cast<std::uint32_t>(
      index.visit_records([](const auto& own) { return longest_read(own); }));
  const std::uint32_t most = index.graph() == nullptr ? longest : std::max(longest, kTogetherBytes);
  return {disk_read_count(longest), {most, most}};
}

std::unique_ptr<transport::Endpoint> make_disk_endpoint(std::shared_ptr<const DiskFile> records,
                                                        const DiskReads& reads,
                                                        const disk::DiskUse& use) {
  return std::make_unique<transport::DiskEndpoint>(
      disk::open_disk({std::move(records)}, reads.count, use), reads.options);
}

}  // namespace farvec::search
