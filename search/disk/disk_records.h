// Opens the files of an index's records on a disk.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "disk/disk_file.h"
#include "layout/index/index_directory.h"
#include "layout/index/second_copy.h"
#include "search/index/search_index.h"
#include "transport/disk/disk_endpoint.h"
#include "transport/endpoint.h"

namespace farvec::search {

/// A disk that serves 150,000 requests and 2.5 GB a second reads this many bytes more in the time
/// that one more request takes.
inline constexpr std::uint32_t kDiskRequestBytes = 16384;

/// Opens the index's records; `path` has the same bytes elsewhere: a file, a block device, or a
/// directory that holds the file under its own name. When it is empty, the records in the index's
/// directory are opened. Throws Error when they belong to another index, or are not complete.
std::shared_ptr<const disk::DiskFile> open_disk_records(
    const layout::IndexDirectory& directory, const std::string& path,
    disk::PageCache cache = disk::PageCache::bypassed);

/// Opens the vectors beside slotted pages in the same way; when `path` is not a directory, those in
/// the index's own directory.
std::shared_ptr<const disk::DiskFile> open_disk_vectors(
    const layout::IndexDirectory& directory, const std::string& path,
    disk::PageCache cache = disk::PageCache::bypassed);

/// Opens a second copy of vectors: when `path` is a directory, the file in it, else that of the
/// index's own directory. Throws Error when it is another, or is not complete.
std::shared_ptr<const disk::DiskFile> open_disk_second(
    const layout::SecondCopyFile& second, const std::string& path,
    disk::PageCache cache = disk::PageCache::bypassed);

struct DiskReads {
  std::uint32_t count = 0;  ///< reads at a time of one core
  transport::DiskEndpointOptions options;
};

/// Says how many reads one core has at a time when the longest has `longest_bytes` bytes.
std::uint32_t disk_read_count(std::uint32_t longest_bytes);

/// Returns the reads that searches of an index need. Not for slotted pages, whose searches share a
/// pool. Throws Error when a cluster is too large for one read.
DiskReads disk_reads(const SearchIndex& index);

/// Makes the endpoint of one core.
std::unique_ptr<transport::Endpoint> make_disk_endpoint(
    std::shared_ptr<const disk::DiskFile> records, const DiskReads& reads,
    const disk::DiskUse& use);

}  // namespace farvec::search
