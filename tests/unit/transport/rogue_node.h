// A node that does not play by the listener's rules: it answers one client with what it is given,
// through librdmacm's own queue pair.
#pragma once

#include <rdma/rdma_verbs.h>

#include <cstring>
#include <string>
#include <thread>

#include "base/check.h"
#include "transport/verbs/queue_pair.h"
#include "transport/verbs/wire.h"

namespace farvec::transport {

class RogueNode {
 public:
  /// Behind its grants, whose keys open nothing.
  enum class Then {
    falls_silent,  ///< whatever the client asks for is not answered, nor refused
    stays,         ///< and refuses what the client asks for
  };

  RogueNode(const std::string& host, VerbsWelcome welcome, Then then = Then::falls_silent)
      : welcome_(welcome), then_(then) {
    rdma_addrinfo hints{};
    hints.ai_flags = RAI_PASSIVE;
    hints.ai_port_space = RDMA_PS_TCP;
    rdma_addrinfo* info = nullptr;
    FARVEC_CHECK(rdma_getaddrinfo(host.c_str(), nullptr, &hints, &info) == 0);
    ibv_qp_init_attr attributes{};
    attributes.qp_type = IBV_QPT_RC;
    attributes.sq_sig_all = 1;
    attributes.cap = {4, 1, 1, 1, 0};
    FARVEC_CHECK(rdma_create_ep(&listener_, info, nullptr, &attributes) == 0);
    rdma_freeaddrinfo(info);
    FARVEC_CHECK(rdma_listen(listener_, 1) == 0);
    thread_ = std::thread([this] { serve(); });
  }
  /// A client must have come.
  ~RogueNode() {
    await_grants();
    if (memory_ != nullptr) (void)rdma_dereg_mr(memory_);
    if (id_ != nullptr) rdma_destroy_ep(id_);
    rdma_destroy_ep(listener_);
  }
  RogueNode(const RogueNode&) = delete;
  RogueNode& operator=(const RogueNode&) = delete;

  /// Until the client that has come was sent its grants and the node is silent, if it is to be. A
  /// client may have its grants before that.
  void await_grants() {
    if (thread_.joinable()) thread_.join();
  }

  std::uint16_t port() const { return ntohs(rdma_get_src_port(listener_)); }

 private:
  void serve() {
    if (rdma_get_request(listener_, &id_) != 0) return;
    memory_ = rdma_reg_msgs(id_, bytes_, sizeof(bytes_));
    FARVEC_CHECK(memory_ != nullptr);
    rdma_conn_param parameters{};
    parameters.private_data = &welcome_;
    parameters.private_data_len = sizeof(welcome_);
    parameters.responder_resources = 1;
    if (rdma_accept(id_, &parameters) != 0) return;  // the client did not like it
    const VerbsGrant grant{reinterpret_cast<std::uintptr_t>(bytes_), sizeof(bytes_), 0, 0};
    std::memcpy(bytes_, &grant, sizeof(grant));
    FARVEC_CHECK(rdma_post_send(id_, nullptr, bytes_, sizeof(grant), memory_, 0) == 0);
    ibv_wc completion{};
    (void)rdma_get_send_comp(id_, &completion);
    if (then_ == Then::falls_silent) enter_error_state(*id_->qp);
  }

  VerbsWelcome welcome_;
  const Then then_;
  rdma_cm_id* listener_ = nullptr;
  rdma_cm_id* id_ = nullptr;
  ibv_mr* memory_ = nullptr;
  alignas(64) std::byte bytes_[4096] = {};
  std::thread thread_;
};

}  // namespace farvec::transport
