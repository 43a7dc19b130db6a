// Says what a failed completion of libfabric means for the caller.
#pragma once

#include <rdma/fi_errno.h>

#include <cerrno>

#include "base/status.h"

namespace farvec::transport {

/// `error` is libfabric's, positive. failed_precondition: the peer exists and refuses; internal:
/// the fault is at this end; unavailable: the peer is gone.
inline StatusCode fabric_failure(int error) {
  switch (error) {
    case FI_EACCES:
    case FI_EPERM:
    case FI_ENOKEY:
    case FI_EREMOTEIO:
    case EKEYREJECTED:
    case EKEYREVOKED:
    case EKEYEXPIRED:
      return StatusCode::failed_precondition;
    case FI_EINVAL:
    case FI_ENOMEM:
    case FI_EMSGSIZE:
    case FI_ETRUNC:
    case FI_ETOOSMALL:
    case FI_EFAULT:
    case FI_EOPBADSTATE:
    case FI_EOVERRUN:
      return StatusCode::internal;
    default:
      return StatusCode::unavailable;
  }
}

}  // namespace farvec::transport
