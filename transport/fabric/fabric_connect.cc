// This file says how a FabricEndpoint gets connected.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <thread>

#include "base/error.h"
#include "transport/fabric/fabric_endpoint.h"
#include "transport/fabric/peer.h"

namespace farvec::transport {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::microseconds kConnectNap{200};

}  // namespace

void FabricEndpoint::open() {
  const FabricPeer peer{grant_, options_.provider, options_.peer};
  port_.emplace(query_fabric(peer_query(peer, FI_RMA | FI_READ)), false);
  node_ = insert_peer(*port_, peer);
  const fi_info& info = port_->info();
  piece_bytes_ = std::min<std::uint64_t>(
      {info.ep_attr->max_msg_size, grant_.max_message_bytes, kMaxReadBytes});
  if (options_.piece_bytes != 0)
    piece_bytes_ = std::min<std::uint64_t>(piece_bytes_, options_.piece_bytes);
  in_order_ = (info.tx_attr->comp_order & FI_ORDER_STRICT) != 0;
  requests_.resize(std::min(info.tx_attr->size, kMaxRequests));
  for (std::uint32_t i = 0; i < requests_.size(); ++i) free_requests_.push_back(i);
  for (std::uint32_t i = 0; i < flights_.size(); ++i) free_flights_.push_back(i);
  description_ = fmt::format("fabric({}, {}, {} reads in {} requests)", info.fabric_attr->prov_name,
                             options_.peer, options_.max_outstanding, requests_.size());
}

/// libfabric connects when it is asked for the first transfer.
void FabricEndpoint::connect(Clock::time_point end) {
  alignas(64) std::array<std::byte, sizeof(FabricWelcome)> bytes{};
  register_memory(bytes);
  ReadRequest read;
  read.bytes = sizeof(bytes);
  read.destination = bytes.data();
  take_off(read, {grant_.welcome_address, sizeof(bytes), grant_.welcome_key});
  start_pieces();
  Completion done;
  while (poll({&done, 1}) == 0) {
    if (Clock::now() > end) {
      release_port();  // before `bytes` is destroyed
      throw Error(
          "connecting to {} with libfabric's provider {}: no answer in {} ms "
          "(FI_OFI_RXM_BUFFER_SIZE "
          "has to be the same at both ends)",
          options_.peer, options_.provider, options_.connect_timeout.count());
    }
    std::this_thread::sleep_for(kConnectNap);
  }
  registered_.clear();
  if (done.status != StatusCode::ok) {
    throw Error("connecting to {} with libfabric's provider {}: {} ({})", options_.peer,
                options_.provider, failure_.message(), failure_text_);
  }
  check_welcome(std::bit_cast<FabricWelcome>(bytes), {grant_, options_.provider, options_.peer},
                options_.lease);
  connected_ = true;
}

void FabricEndpoint::register_memory(std::span<std::byte> memory) {
  FabricRegion region;
  if (port_ && port_->has_mode(FI_MR_LOCAL)) {
    int error = 0;
    region = port_->register_memory(memory, FI_READ, next_key_++, error);
    if (!region) {
      throw SystemError(-error,
                        "registering {} bytes with libfabric's provider {}: when this is ENOMEM, "
                        "raise the limit on locked memory (ulimit -l, LimitMEMLOCK= in a unit)",
                        memory.size(), options_.provider);
    }
  }
  registered_.add(memory, std::move(region));
}

}  // namespace farvec::transport
