// A region of an index that lies on a memory device.
#pragma once

#include <cstdint>
#include <memory>

#include "device/stored_index.h"
#include "memory_node/backing/backing.h"

namespace farvec::memory_node {

/// Opens what the options name, of a kind that is stored, as its only writer. Throws Error when it
/// is of the other kind, and what device::open_store() throws.
std::shared_ptr<device::DeviceStore> open_device(const BackingOptions& options);

/// Region `region`, where it lies: durable and published already. Whoever is granted it may read
/// the whole device: its descriptor is of that.
std::unique_ptr<Backing> stored_backing(std::shared_ptr<const device::StoredIndex> index,
                                        std::uint32_t region);

}  // namespace farvec::memory_node
