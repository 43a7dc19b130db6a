// Says what a failed work completion means for the caller.
#pragma once

#include <infiniband/verbs.h>

#include "base/status.h"

namespace farvec::transport {

inline StatusCode status_of(ibv_wc_status status) {
  switch (status) {
    case IBV_WC_SUCCESS:
      return StatusCode::ok;
    case IBV_WC_REM_ACCESS_ERR:
    case IBV_WC_REM_INV_REQ_ERR:
    case IBV_WC_REM_OP_ERR:
      return StatusCode::failed_precondition;  // the peer exists and refuses
    case IBV_WC_RETRY_EXC_ERR:
    case IBV_WC_RNR_RETRY_EXC_ERR:
    case IBV_WC_WR_FLUSH_ERR:
    case IBV_WC_REM_ABORT_ERR:
      return StatusCode::unavailable;
    default:
      return StatusCode::internal;  // this end is wrong: a length, a local key, the queue pair
                                    // itself
  }
}

}  // namespace farvec::transport
