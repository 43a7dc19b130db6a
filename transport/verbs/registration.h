// Registers memory that an RDMA device may reach.
#pragma once

#include <cstddef>
#include <span>

#include "transport/verbs/handles.h"

namespace farvec::transport {

/// `access` is that of ibv_reg_mr(); the memory must outlive the region. Throws SystemError naming
/// the device and the limit on locked memory, which is the usual reason.
MemoryRegion register_memory(ibv_pd& domain, std::span<const std::byte> memory, int access);

}  // namespace farvec::transport
