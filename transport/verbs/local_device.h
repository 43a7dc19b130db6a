// Chooses the RDMA device of this machine from which a connection starts.
#pragma once

#include <sys/socket.h>

#include "transport/verbs/verbs_device.h"

namespace farvec::transport {

/// Returns the address of the chosen device and GID; when a connection starts from it, rdma_cm
/// takes that device. Its family is `family` (AF_INET, AF_INET6) unless a GID index decides
/// otherwise. Throws Error, listing the devices and GIDs that there are, when none is the wanted
/// one, it is not a RoCE v2 one, or a GID index is given without a device and there are several
/// devices.
sockaddr_storage local_address(const VerbsDevice& wanted, int family);

}  // namespace farvec::transport
