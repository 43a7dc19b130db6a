// A MappedWriter writes into regions by stores: a memory node's log on the node's own machine.
#pragma once

#include <vector>

#include "base/descriptor.h"
#include "transport/mapped/mapped_endpoint.h"
#include "transport/region_writer.h"

namespace farvec::transport {

/// Each call stores into the mappings before it returns. A mapping cannot be taken back: a writer
/// whose lease has ended is kept from storing only by looking for the node's hang-up before every
/// write. A process that is stopped between that look and its stores may still do the stores later.
class MappedWriter final : public RegionWriter {
 public:
  /// The regions are mapped read_write. `node` is a connection that the node closes when it ends or
  /// takes the lease back; an invalid one is not looked at.
  MappedWriter(RegionSet regions, Descriptor node);

  Status write(RegionId region, std::uint64_t offset, std::span<const std::byte> bytes) override;
  /// Sets a release fence; then says whether the node was still alive after it.
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
