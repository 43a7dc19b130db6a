// A MappedRegion is a region of memory behind a file descriptor: memfd, shm_open, hugetlbfs, file
// or devdax.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace farvec::transport {

enum class Access { read_only, read_write };

/// The mapping is shared, so that writes of a memory node are seen, and has huge pages where the
/// kernel gives them. Devdax devices are mapped with MAP_SYNC where they support it; their size and
/// alignment come from sysfs.
///
/// The size is checked when the region is opened and never again: a file that is truncated under
/// the mapping makes the next access to the lost pages raise SIGBUS, which ends the process. Hand
/// regions over as memfd sealed with F_SEAL_SHRINK, or through a file that only its owner can
/// write.
///
/// Movable, not copyable. Errors throw.
class MappedRegion {
 public:
  /// `bytes` == 0 maps everything; otherwise the file must have at least that many bytes.
  static MappedRegion map_file(const std::string& path, Access access = Access::read_only,
                               std::uint64_t bytes = 0);
  /// Maps like map_file(), from `offset` on. The caller keeps the descriptor and may close it
  /// afterwards.
  static MappedRegion map_fd(int fd, std::uint64_t bytes = 0, Access access = Access::read_only,
                             std::uint64_t offset = 0);

  /// Returns a read-only view of memory that something else owns and keeps for as long as the
  /// region lives.
  static MappedRegion borrow(std::span<const std::byte> memory);

  ~MappedRegion();
  MappedRegion(MappedRegion&& other) noexcept;
  MappedRegion& operator=(MappedRegion&& other) noexcept;

  std::span<const std::byte> bytes() const { return {data_, bytes_}; }
  /// CHECKs that the region was mapped read_write.
  std::span<std::byte> writable_bytes();
  std::uint64_t size() const { return bytes_; }

 private:
  struct Source;
  static MappedRegion map(const Source& source, std::uint64_t offset, std::uint64_t bytes,
                          Access access);
  MappedRegion() = default;

  std::byte* data_ = nullptr;
  std::uint64_t bytes_ = 0;
  std::uint64_t skipped_bytes_ = 0;  ///< bytes of the first page before data_
  std::uint64_t mapped_bytes_ = 0;   ///< whole pages of the source; 0: borrowed
  Access access_ = Access::read_only;
};

}  // namespace farvec::transport
