// Sets a ring up, or says why it cannot be had.
#pragma once

#include <liburing.h>

namespace farvec::disk {

/// With room for `entries` submissions and twice as many completions. Returns whether the ring is
/// deferred (IORING_SETUP_SINGLE_ISSUER | DEFER_TASKRUN) and therefore still disabled; never with
/// `plain`, nor on a kernel without. Throws SystemError.
bool set_up_ring(io_uring& ring, unsigned entries, bool plain);

/// Makes a disabled ring the calling thread's.
void enable_ring(io_uring& ring);

}  // namespace farvec::disk
