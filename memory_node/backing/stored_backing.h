// stored_backing() opens a region of an index that is on a memory device.
#pragma once

#include <cstdint>
#include <memory>

#include "device/stored_index.h"
#include "memory_node/backing/backing.h"

namespace farvec::memory_node {

/// Opens the device or file of the options, whose kind must be a stored one, as its only writer.
/// Throws Error when it is of the other kind, and what device::open_store() throws.
std::shared_ptr<device::DeviceStore> open_device(const BackingOptions& options);

/// Opens region `region` in its place: it is durable and published already. A client that is
/// granted it may read the whole device, because its descriptor is the device's.
std::unique_ptr<Backing> stored_backing(std::shared_ptr<const device::StoredIndex> index,
                                        std::uint32_t region);

}  // namespace farvec::memory_node
