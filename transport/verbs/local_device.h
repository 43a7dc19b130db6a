// Which of this machine's RDMA devices a connection starts from.
#pragma once

#include <sys/socket.h>

#include "transport/verbs/verbs_device.h"

namespace farvec::transport {

/// The address of the chosen device and GID: connecting from it, rdma_cm takes that device. Of
/// `family` (AF_INET, AF_INET6) where no GID index says otherwise. Throws Error listing the devices
/// and GIDs that there are when none is the wanted one, it is not a RoCE v2 one, or a GID index is
/// given without a device and there are several.
sockaddr_storage local_address(const VerbsDevice& wanted, int family);

}  // namespace farvec::transport
