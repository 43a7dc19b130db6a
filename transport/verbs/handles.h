// Owns libibverbs and librdmacm objects.
#pragma once

#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>

#include <memory>

namespace farvec::transport {

/// Destroys an object with the library's own function; an error at the end of its life has no
/// remedy.
template <auto Destroy>
struct VerbsDeleter {
  template <typename T>
  void operator()(T* object) const {
    (void)Destroy(object);
  }
};

using DeviceContext = std::unique_ptr<ibv_context, VerbsDeleter<ibv_close_device>>;
using ProtectionDomain = std::unique_ptr<ibv_pd, VerbsDeleter<ibv_dealloc_pd>>;
using CompletionQueue = std::unique_ptr<ibv_cq, VerbsDeleter<ibv_destroy_cq>>;
using QueuePair = std::unique_ptr<ibv_qp, VerbsDeleter<ibv_destroy_qp>>;
using MemoryRegion = std::unique_ptr<ibv_mr, VerbsDeleter<ibv_dereg_mr>>;

/// A deleter of its own: ibv_dealloc_mw has internal linkage, which a template's argument must not
/// have.
struct MemoryWindowDeleter {
  void operator()(ibv_mw* window) const { (void)ibv_dealloc_mw(window); }
};
using MemoryWindow = std::unique_ptr<ibv_mw, MemoryWindowDeleter>;
using EventChannel = std::unique_ptr<rdma_event_channel, VerbsDeleter<rdma_destroy_event_channel>>;

/// A Connection is an rdma_cm identifier. Queue pairs are not made on it (queue_pair.h).
using Connection = std::unique_ptr<rdma_cm_id, VerbsDeleter<rdma_destroy_id>>;

}  // namespace farvec::transport
