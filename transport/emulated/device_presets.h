// Lists the devices of the second-tier memory study as models: every number and where it comes
// from.
#pragma once

#include <span>

#include "transport/emulated/device_model.h"

namespace farvec::transport {

/// Returns the presets rdma, cxl, nvm, ssd. They live as long as the program.
std::span<const DeviceModel> device_presets();

}  // namespace farvec::transport
