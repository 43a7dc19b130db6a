// A Backing is the memory under one region: where it comes from, and the descriptor that a client
// may map. Memory that outlives the node is in stored_backing.h.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/descriptor.h"
#include "transport/mapped/mapped_region.h"

namespace farvec::memory_node {

enum class BackingKind : std::uint8_t { dram, shm, file, devdax, pmem };

/// Returns "dram", "shm", "file", "devdax" or "pmem".
std::string_view to_string(BackingKind kind);
/// Throws Error naming the accepted words.
BackingKind parse_backing_kind(std::string_view text);
/// Returns true when indexes are on a device, which device::DeviceStore divides, and outlive the
/// node.
constexpr bool is_stored(BackingKind kind) {
  return kind == BackingKind::devdax || kind == BackingKind::pmem;
}

struct BackingOptions {
  BackingKind kind = BackingKind::dram;
  /// shm: prefix of the names under /dev/shm, e.g. "farvec-sift1m". file: an existing folder.
  /// devdax: /dev/daxX.Y; pmem: a file; both formatted. dram: unused.
  std::string path;
};

/// Memory that is open and mapped from construction on, and owned by this process alone. It is for
/// one thread at a time.
class Backing {
 public:
  virtual ~Backing() = default;
  Backing(const Backing&) = delete;
  Backing& operator=(const Backing&) = delete;

  std::span<std::byte> bytes() { return bytes_; }
  std::uint64_t size() const { return bytes_.size(); }
  /// The alignment of the mapping's start and of the unit in which it is paged, in bytes.
  virtual std::uint64_t alignment() const = 0;
  /// Returns "dram (2 MiB pages)" or "shm /dev/shm/x-records", for logs.
  virtual std::string description() const = 0;

  /// Returns when everything written is as durable as this kind of memory can be. Throws
  /// SystemError.
  virtual void persist() {}
  /// From now on no other process can change the bytes or the length, as far as the kernel can
  /// enforce it for this kind. Throws SystemError.
  virtual void seal() = 0;
  /// From now on the length cannot change, while the bytes stay writable through descriptors that
  /// allow it. It does nothing for kinds whose length the kernel cannot fix.
  virtual void seal_length() {}

  /// Returns a new descriptor of the same memory, opened read-only: a writable mapping of it fails
  /// with EACCES. Throws SystemError.
  Descriptor read_only_descriptor() const;
  /// Returns one for reading and writing. It fails for memory that was sealed. Throws SystemError.
  Descriptor writable_descriptor() const;
  /// Returns the place of bytes() in the file or device of the descriptor.
  virtual std::uint64_t descriptor_offset() const { return 0; }

 protected:
  explicit Backing(std::span<std::byte> bytes) : bytes_(bytes) {}
  virtual int fd() const = 0;

 private:
  /// Opens the memory again, so that the descriptor shares no lock with this process's.
  Descriptor reopen(int flags, const char* how) const;

  const std::span<std::byte> bytes_;
};

/// A MappedBacking is zeroed memory with a descriptor of its own. A name that it made is removed
/// with it.
class MappedBacking : public Backing {
 protected:
  MappedBacking(Descriptor descriptor, transport::MappedRegion region)
      : Backing(region.writable_bytes()),
        descriptor_(std::move(descriptor)),
        region_(std::move(region)) {}
  int fd() const final { return descriptor_.get(); }

 private:
  Descriptor descriptor_;
  transport::MappedRegion region_;
};

/// Opens memory for a region. `region` is the word that tells this region from the others of the
/// same index ("records"). Throws SystemError, or Error when another process holds the name. It is
/// not for kinds that are stored.
std::unique_ptr<Backing> open_backing(const BackingOptions& options, const std::string& region,
                                      std::uint64_t bytes);

}  // namespace farvec::memory_node
