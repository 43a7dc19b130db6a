#include "transport/verbs/node_connection.h"

#include <cerrno>
#include <chrono>
#include <thread>

#include "base/error.h"
#include "transport/verbs/registration.h"

namespace farvec::transport {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::milliseconds kGrantBound{1000};

/// A device demands the local right to write for the remote right to write.
int local_rights(int access) {
  return (access & IBV_ACCESS_REMOTE_WRITE) != 0 ? IBV_ACCESS_LOCAL_WRITE : 0;
}

}  // namespace

void prepare_share(const NodeDevice& device, Share& share) {
  if (!device.limits.memory_windows) return;
  for (const auto& region : share.regions) {
    share.registered.push_back(
        register_memory(*device.domain, region, IBV_ACCESS_MW_BIND | local_rights(share.access)));
  }
}

NodeConnection::NodeConnection(Connection id, const VerbsHello& hello, const NodeDevice& device,
                               const Share& share)
    : hello_(hello), device_(device), share_(share), id_(std::move(id)) {
  register_regions();
  const auto requests = static_cast<std::uint32_t>(grants_.size() + 1);
  const auto entries = static_cast<int>(requests + 1);
  queue_.reset(ibv_create_cq(device_.context.get(), entries, nullptr, nullptr, 0));
  if (!queue_) throw SystemError(errno, "making a completion queue on {}", device_.limits.device);
  QueuePairOptions options{*message_->pd, *queue_, requests, share_.access, 0};
  pair_ = make_queue_pair(*id_, options);
}

void NodeConnection::register_regions() {
  grants_.resize(share_.regions.size());
  for (std::size_t i = 0; i < grants_.size(); ++i) {
    grants_[i].address = reinterpret_cast<std::uintptr_t>(share_.regions[i].data());
    grants_[i].bytes = share_.regions[i].size();
  }
  if (!device_.limits.memory_windows) {
    own_domain_.reset(ibv_alloc_pd(device_.context.get()));
    if (!own_domain_) throw SystemError(errno, "making a protection domain");
    for (std::size_t i = 0; i < grants_.size(); ++i) {
      own_regions_.push_back(register_memory(*own_domain_, share_.regions[i],
                                             share_.access | local_rights(share_.access)));
      grants_[i].key = own_regions_.back()->rkey;
    }
  }
  ibv_pd* domain = device_.limits.memory_windows ? device_.domain.get() : own_domain_.get();
  message_ = register_memory(*domain, std::as_bytes(std::span(grants_)), 0);
}

void NodeConnection::accept(const PathTerms& terms) {
  path_mtu_bytes_ = terms.path_mtu_bytes;
  bring_up(*id_, *pair_, terms);
  VerbsWelcome welcome;
  welcome.max_reads = static_cast<std::uint16_t>(terms.reads_answered);
  welcome.regions = static_cast<std::uint32_t>(grants_.size());
  welcome.path_mtu_bytes = terms.path_mtu_bytes;
  rdma_conn_param parameters{};
  parameters.private_data = &welcome;
  parameters.private_data_len = sizeof(welcome);
  parameters.responder_resources = static_cast<std::uint8_t>(terms.reads_answered);
  parameters.rnr_retry_count = 7;
  parameters.qp_num = pair_->qp_num;
  if (rdma_accept(id_.get(), &parameters) != 0) {
    throw SystemError(errno, "accepting an RDMA connection");
  }
}

/// Returns false when the device has no window left.
bool NodeConnection::bind_windows(std::vector<ibv_send_wr>& chain) {
  for (std::size_t i = 0; i < grants_.size(); ++i) {
    windows_.emplace_back(ibv_alloc_mw(device_.domain.get(), IBV_MW_TYPE_2));
    if (!windows_.back()) return false;
    grants_[i].key = ibv_inc_rkey(windows_.back()->rkey);
    ibv_send_wr bind{};
    bind.opcode = IBV_WR_BIND_MW;
    bind.bind_mw.mw = windows_.back().get();
    bind.bind_mw.rkey = grants_[i].key;
    bind.bind_mw.bind_info = {share_.registered[i].get(), grants_[i].address, grants_[i].bytes,
                              static_cast<unsigned>(share_.access)};
    chain.push_back(bind);
  }
  return true;
}

/// Sends the keys after the binds in the same queue, so that the client cannot have a key before it
/// is valid.
bool NodeConnection::send_grants() {
  std::vector<ibv_send_wr> chain;
  chain.reserve(grants_.size() + 1);
  if (device_.limits.memory_windows && !bind_windows(chain)) return false;
  ibv_sge message{reinterpret_cast<std::uintptr_t>(grants_.data()),
                  static_cast<std::uint32_t>(grants_.size() * sizeof(VerbsGrant)), message_->lkey};
  ibv_send_wr send{};
  send.opcode = IBV_WR_SEND;
  send.send_flags = IBV_SEND_SIGNALED;
  send.sg_list = &message;
  send.num_sge = 1;
  chain.push_back(send);
  for (std::size_t i = 0; i + 1 < chain.size(); ++i) chain[i].next = &chain[i + 1];
  ibv_send_wr* bad = nullptr;
  return ibv_post_send(pair_.get(), chain.data(), &bad) == 0 && await_sent();
}

bool NodeConnection::await_sent() {
  const auto end = Clock::now() + kGrantBound;
  ibv_wc completion{};
  int got = 0;
  while ((got = ibv_poll_cq(queue_.get(), 1, &completion)) == 0 && Clock::now() < end) {
    std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
  return got == 1 && completion.status == IBV_WC_SUCCESS && completion.opcode == IBV_WC_SEND;
}

Connection NodeConnection::release() {
  // This comes first: a read without its window would be told that it is not allowed, and not that
  // the connection is gone.
  enter_error_state(*pair_);
  windows_.clear();
  pair_.reset();
  return std::move(id_);
}

}  // namespace farvec::transport
