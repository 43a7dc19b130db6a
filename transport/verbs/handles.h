// Owners of libibverbs and librdmacm objects.
#pragma once

#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>

#include <memory>

namespace farvec::transport {

/// Destroys with the library's own function; its failure at the end of a life has no remedy.
template <auto Destroy>
struct VerbsDeleter {
  template <typename T>
  void operator()(T* object) const {
    (void)Destroy(object);
  }
};

using ProtectionDomain = std::unique_ptr<ibv_pd, VerbsDeleter<ibv_dealloc_pd>>;
using CompletionQueue = std::unique_ptr<ibv_cq, VerbsDeleter<ibv_destroy_cq>>;
using MemoryRegion = std::unique_ptr<ibv_mr, VerbsDeleter<ibv_dereg_mr>>;
using EventChannel = std::unique_ptr<rdma_event_channel, VerbsDeleter<rdma_destroy_event_channel>>;

/// An rdma_cm identifier with the queue pair that was made on it.
struct ConnectionDeleter {
  void operator()(rdma_cm_id* id) const {
    if (id->qp != nullptr) rdma_destroy_qp(id);
    (void)rdma_destroy_id(id);
  }
};
using Connection = std::unique_ptr<rdma_cm_id, ConnectionDeleter>;

}  // namespace farvec::transport
