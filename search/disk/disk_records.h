// Where an index's records lie on a disk.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "disk/disk_file.h"
#include "layout/index/index_directory.h"
#include "search/index/search_index.h"
#include "transport/disk/disk_endpoint.h"
#include "transport/endpoint.h"

namespace farvec::search {

/// Opens the index's records; `path` is the same bytes elsewhere: a file, a block device, or a
/// directory that holds the file under its own name. Empty: they lie in the index's directory.
/// Throws Error when they are another index's, or not all of them.
std::shared_ptr<const disk::DiskFile> open_disk_records(const layout::IndexDirectory& directory,
                                                        const std::string& path);

/// The same for the vectors beside slotted pages; when `path` is not a directory they lie in the
/// index's own.
std::shared_ptr<const disk::DiskFile> open_disk_vectors(const layout::IndexDirectory& directory,
                                                        const std::string& path);

struct DiskReads {
  std::uint32_t count = 0;  ///< at a time, of one core
  transport::DiskEndpointOptions options;
};

/// Reads of one core at a time, the longest of which has so many bytes.
std::uint32_t disk_read_count(std::uint32_t longest_bytes);

/// What the searches of an index need. Not for slotted pages, whose searches share a pool. Throws
/// Error when a cluster is too large for one read.
DiskReads disk_reads(const SearchIndex& index);

/// For one core.
std::unique_ptr<transport::Endpoint> make_disk_endpoint(
    std::shared_ptr<const disk::DiskFile> records, const DiskReads& reads, disk::DiskThread thread);

}  // namespace farvec::search
