// Owns libfabric objects: FabricPort is an endpoint with all objects that it needs.
#pragma once

#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "transport/fabric/library.h"

namespace farvec::transport {

/// Closes an object with the library's own function; an error at the end of its life has no remedy.
struct FabricDeleter {
  template <typename T>
  void operator()(T* object) const {
    (void)fi_close(&object->fid);
  }
};
template <typename T>
using FabricHandle = std::unique_ptr<T, FabricDeleter>;
using FabricRegion = FabricHandle<fid_mr>;

struct FabricInfoDeleter {
  void operator()(fi_info* info) const { fabric_library().freeinfo(info); }
};
using FabricInfo = std::unique_ptr<fi_info, FabricInfoDeleter>;

/// A FabricQuery is what is asked of a provider. Every `mr_mode` that this code can serve is
/// offered; the answer says which of them the provider wants.
struct FabricQuery {
  std::string provider;  ///< "tcp", "verbs;ofi_rxm", "shm", "efa", ...
  /// FI_RMA with FI_READ, FI_REMOTE_READ, and for writers FI_WRITE, FI_REMOTE_WRITE.
  std::uint64_t capabilities = 0;
  /// Flags that requests must be able to have: FI_DELIVERY_COMPLETE.
  std::uint64_t transmit_flags = 0;
  std::string host;  ///< address to listen on; empty: the provider's choice
  std::uint32_t address_format = 0;
  std::span<const std::byte> peer;  ///< address to reach; empty: none
};

/// Returns the provider that is used for a name. Before libfabric 1.18 `net` is used for `tcp`: the
/// older code reports a read that fails while it is being sent with a meaningless address, and its
/// user, ofi_rxm, then crashes or hangs; `net` is the code that 1.18 calls `tcp`. "tcp;ofi_rxm" is
/// not replaced.
std::string provider_for(const std::string& name);

/// Returns the provider's first answer, see provider_for(). Throws Error naming the provider when
/// it is not available (listing those that are), there is no such host, or the peer cannot be
/// reached.
FabricInfo query_fabric(const FabricQuery& query);

/// Does the same, but returns null when there is no answer.
FabricInfo find_fabric(const FabricQuery& query);

/// Returns the providers of this machine that can read remote memory: "net, shm, tcp;ofi_rxm".
std::string fabric_providers();

/// Used by one thread at a time; no other port uses its domain.
class FabricPort {
 public:
  /// Throws Error naming the provider and the step that failed. With `wants_descriptor` the
  /// completion queue has a descriptor to wait for where the provider can, see descriptor().
  FabricPort(FabricInfo info, bool wants_descriptor);

  /// Makes memory accessible with `access`. FI_READ: a destination of own reads. FI_WRITE: a source
  /// of own writes. FI_REMOTE_READ and FI_REMOTE_WRITE: peers may read and write it. `key` is used
  /// where the provider does not choose one. Returns null with -errno in `error`.
  FabricRegion register_memory(std::span<const std::byte> memory, std::uint64_t access,
                               std::uint64_t key, int& error);
  /// Returns the address by which a peer names the first byte of registered memory.
  std::uint64_t remote_address(const std::byte* begin) const;
  std::vector<std::byte> address() const;
  /// Returns -1 when the provider has none.
  int descriptor() const { return descriptor_; }
  bool has_mode(int mr_mode) const { return (info_->domain_attr->mr_mode & mr_mode) != 0; }

  const fi_info& info() const { return *info_; }
  fid_fabric& fabric() { return *fabric_; }
  fid_cq& queue() { return *queue_; }
  fid_av& peers() { return *peers_; }
  fid_ep& endpoint() { return *endpoint_; }
  /// Ends every transfer; after it the port may only be destroyed.
  void close_endpoint() { endpoint_.reset(); }

 private:
  void open_queue(bool wants_descriptor);

  // Closed in reverse order of declaration.
  FabricInfo info_;
  FabricHandle<fid_fabric> fabric_;
  FabricHandle<fid_domain> domain_;
  FabricHandle<fid_av> peers_;
  FabricHandle<fid_cq> queue_;
  FabricHandle<fid_ep> endpoint_;
  int descriptor_ = -1;
};

}  // namespace farvec::transport
