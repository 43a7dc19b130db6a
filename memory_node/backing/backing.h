// The memory under one region: where it comes from, and the descriptor that a client may map.
// Memory that outlives the node is stored_backing.h.
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

/// "dram", "shm", "file", "devdax", "pmem".
std::string_view to_string(BackingKind kind);
/// Throws Error naming the accepted words.
BackingKind parse_backing_kind(std::string_view text);
/// Indexes lie on a device, divided by device::DeviceStore, and outlive the node.
constexpr bool is_stored(BackingKind kind) {
  return kind == BackingKind::devdax || kind == BackingKind::pmem;
}

struct BackingOptions {
  BackingKind kind = BackingKind::dram;
  /// shm: prefix of the names under /dev/shm, e.g. "farvec-sift1m". file: an existing folder.
  /// devdax: /dev/daxX.Y; pmem: a file; both formatted. dram: unused.
  std::string path;
};

/// Opened and mapped from construction on, owned by this process alone. One thread at a time.
class Backing {
 public:
  virtual ~Backing() = default;
  Backing(const Backing&) = delete;
  Backing& operator=(const Backing&) = delete;

  std::span<std::byte> bytes() { return bytes_; }
  std::uint64_t size() const { return bytes_.size(); }
  /// The alignment of the mapping's start and of the unit in which it is paged, in bytes.
  virtual std::uint64_t alignment() const = 0;
  /// "dram (2 MiB pages)", "shm /dev/shm/x-records", for logs.
  virtual std::string description() const = 0;

  /// Returns when what was written is as durable as this kind of memory can be. Throws SystemError.
  virtual void persist() {}
  /// Nobody but this process can change the bytes or the length from now on, as far as the kernel
  /// can enforce it for this kind. Throws SystemError.
  virtual void seal() = 0;
  /// As above, of the length alone: the bytes stay writable for whoever has a descriptor that
  /// allows it. Nothing to do for kinds whose length the kernel cannot fix.
  virtual void seal_length() {}

  /// A new descriptor of the same memory, opened read-only: a writable mapping of it fails with
  /// EACCES. Throws SystemError.
  Descriptor read_only_descriptor() const;
  /// The same for reading and writing; not of what was sealed. Throws SystemError.
  Descriptor writable_descriptor() const;
  /// Where bytes() begin in what the descriptor is of.
  virtual std::uint64_t descriptor_offset() const { return 0; }

 protected:
  explicit Backing(std::span<std::byte> bytes) : bytes_(bytes) {}
  virtual int fd() const = 0;

 private:
  /// An open of its own, so that it shares no lock with this process's.
  Descriptor reopen(int flags, const char* how) const;

  const std::span<std::byte> bytes_;
};

/// Zeroed memory behind a descriptor of its own; a name that it made goes away with it.
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

/// `region` is the word that tells this region from the others of the same index ("records").
/// Throws SystemError, or Error when another process holds the name. Not for kinds that are stored.
std::unique_ptr<Backing> open_backing(const BackingOptions& options, const std::string& region,
                                      std::uint64_t bytes);

}  // namespace farvec::memory_node
