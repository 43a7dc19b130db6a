// Writes into regions that a store reaches: a memory node's log on the node's own machine.
#pragma once

#include <vector>

#include "base/descriptor.h"
#include "transport/mapped/mapped_endpoint.h"
#include "transport/region_writer.h"

namespace farvec::transport {

/// Stores into the mappings as they are called. A mapping cannot be taken back: what keeps a writer
/// whose lease has ended from storing is that it looks for the node's hang-up before every write,
/// and a process that is stopped between that look and its stores may still do them later.
class MappedWriter final : public RegionWriter {
 public:
  /// The regions are mapped read_write. `node` is a connection that the node closes when it ends or
  /// takes the lease back; an invalid one is never looked at.
  MappedWriter(RegionSet regions, Descriptor node);

  Status write(RegionId region, std::uint64_t offset, std::span<const std::byte> bytes) override;
  /// A release fence; then says whether the node still lived behind it.
  Status flush() override;
  std::uint64_t region_bytes(RegionId region) const override;
  const Status& status() const override { return status_; }

 private:
  const Status& look();

  RegionSet regions_;
  const Descriptor node_;
  Status status_;
};

}  // namespace farvec::transport
