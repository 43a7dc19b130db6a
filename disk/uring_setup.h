// Sets a ring up, or says why it cannot be had.
#pragma once

#include <liburing.h>

namespace farvec::disk {

/// Sets up a ring with room for `entries` submissions and twice as many completions. Returns
/// whether the ring is deferred (IORING_SETUP_SINGLE_ISSUER | DEFER_TASKRUN) and therefore still
/// disabled; it never is with `plain`, nor on a kernel without these flags. Throws SystemError.
bool set_up_ring(io_uring& ring, unsigned entries, bool plain);

/// Enables a ring, which then belongs to the calling thread.
void enable_ring(io_uring& ring);

}  // namespace farvec::disk
