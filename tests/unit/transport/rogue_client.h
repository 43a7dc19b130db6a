// A client that does not play by the endpoint's rules: it speaks rdma_cm and verbs itself.
#pragma once

#include <rdma/rdma_verbs.h>

#include <chrono>
#include <cstring>
#include <string>
#include <thread>

#include "base/check.h"
#include "transport/verbs/device.h"
#include "transport/verbs/wire.h"

namespace farvec::transport {

/// A connection with its grants, and reads and writes wherever it likes.
class RogueClient {
 public:
  /// connected() is false when the node refused.
  RogueClient(const std::string& host, std::uint16_t port, VerbsHello hello,
              std::size_t hello_bytes = sizeof(VerbsHello)) {
    rdma_addrinfo hints{};
    hints.ai_port_space = RDMA_PS_TCP;
    rdma_addrinfo* info = nullptr;
    FARVEC_CHECK(rdma_getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &info) == 0);
    ibv_qp_init_attr attributes{};
    attributes.qp_type = IBV_QPT_RC;
    attributes.sq_sig_all = 1;
    attributes.cap = {4, 1, 1, 1, 0};
    FARVEC_CHECK(rdma_create_ep(&id_, info, nullptr, &attributes) == 0);
    rdma_freeaddrinfo(info);
    memory_ = rdma_reg_msgs(id_, buffer_, sizeof(buffer_));
    FARVEC_CHECK(memory_ != nullptr);
    FARVEC_CHECK(rdma_post_recv(id_, nullptr, buffer_, sizeof(buffer_), memory_) == 0);
    // The queue pair's states are librdmacm's, which takes this end's MTU.
    if (hello.path_mtu_bytes == 0) {
      hello.path_mtu_bytes = query_limits(*id_->verbs, id_->port_num).path_mtu_bytes;
    }
    rdma_conn_param parameters{};
    parameters.private_data = &hello;
    parameters.private_data_len = static_cast<std::uint8_t>(hello_bytes);
    parameters.initiator_depth = 1;
    connected_ = rdma_connect(id_, &parameters) == 0;
    if (!connected_ || await(id_->recv_cq) != IBV_WC_SUCCESS) return;
    std::memcpy(grants_, buffer_, sizeof(grants_));
  }
  ~RogueClient() {
    if (connected_) (void)rdma_disconnect(id_);
    (void)rdma_dereg_mr(memory_);
    rdma_destroy_ep(id_);
  }
  RogueClient(const RogueClient&) = delete;
  RogueClient& operator=(const RogueClient&) = delete;

  bool connected() const { return connected_; }
  const VerbsGrant& grant(std::size_t region) const { return grants_[region]; }
  const std::byte* bytes() const { return buffer_; }

  ibv_wc_status read(std::uint64_t address, std::uint32_t key, std::size_t bytes) {
    FARVEC_CHECK(rdma_post_read(id_, nullptr, buffer_, bytes, memory_, 0, address, key) == 0);
    return await(id_->send_cq);
  }
  ibv_wc_status write(std::uint64_t address, std::uint32_t key, std::size_t bytes) {
    FARVEC_CHECK(rdma_post_write(id_, nullptr, buffer_, bytes, memory_, 0, address, key) == 0);
    return await(id_->send_cq);
  }

 private:
  /// IBV_WC_GENERAL_ERR when nothing came in time.
  static ibv_wc_status await(ibv_cq* queue) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    ibv_wc completion{};
    while (ibv_poll_cq(queue, 1, &completion) == 0) {
      if (std::chrono::steady_clock::now() > end) return IBV_WC_GENERAL_ERR;
      std::this_thread::sleep_for(std::chrono::microseconds(100));
    }
    return completion.status;
  }

  rdma_cm_id* id_ = nullptr;
  ibv_mr* memory_ = nullptr;
  bool connected_ = false;
  alignas(64) std::byte buffer_[4096] = {};
  VerbsGrant grants_[2];
};

}  // namespace farvec::transport
