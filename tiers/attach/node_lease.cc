#include "tiers/attach/node_lease.h"

#include <algorithm>
#include <cstring>
#include <span>
#include <thread>
#include <utility>

#include "base/error.h"
#include "base/unreachable_error.h"
#include "rpc/channel.h"
#include "rpc/grant_wire.h"
#include "rpc/status.h"
#include "rpc/unix_socket.h"
#include "tiers/attach/attach_answer.h"

namespace farvec::tiers {
namespace {

namespace v1 = memory_node::v1;
using LeaseClock = std::chrono::steady_clock;
constexpr std::chrono::milliseconds kRetryPeriod{50};

bool stopped(const AttachOptions& options) {
  // relaxed: only the flag itself matters.
  return options.stop != nullptr && options.stop->load(std::memory_order_relaxed);
}

/// Until when it is worth asking again after an answer of each kind.
struct Patience {
  LeaseClock::time_point up;     ///< the node loads, or has just gone
  LeaseClock::time_point taken;  ///< others have what was asked for

  LeaseClock::time_point until(grpc::StatusCode code) const {
    if (code == grpc::StatusCode::UNAVAILABLE) return up;
    return code == grpc::StatusCode::RESOURCE_EXHAUSTED ? taken : LeaseClock::time_point::min();
  }
};

void request_lease(NodeLease& held, const AttachOptions& options, const LeaseCall& call,
                   const Patience& patience) {
  v1::AttachRequest request;
  request.set_client(options.client);
  request.set_transport(transport_of(options.reads.kind));
  request.set_takes_files(true);
  for (;;) {
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + options.call_timeout);
    held.response.Clear();
    held.lease.asked = LeaseClock::now();
    const grpc::Status status = call.attach(*held.lease.stub, context, request, held.response);
    if (status.ok()) return;
    const bool retry =
        LeaseClock::now() + kRetryPeriod < patience.until(status.error_code()) && !stopped(options);
    if (!retry) {
      throw Error("attaching to the memory node at {}: {}", rpc::to_string(options.memory_node),
                  rpc::describe(status));
    }
    std::this_thread::sleep_for(kRetryPeriod);
  }
}

void check_reply(const rpc::GrantReply& reply, const NodeLease& held, const std::string& path) {
  if (reply.magic != rpc::kGrantMagic || reply.version != rpc::kGrantVersion) {
    throw Error("unix:{} does not speak this version of the grant exchange", path);
  }
  const auto expected = static_cast<std::size_t>(held.response.regions_size());
  if (reply.status != 0 || held.regions.size() != expected) {
    throw Error("unix:{} refused the grant ({}, {} of {} descriptors)", path,
                to_string(static_cast<StatusCode>(reply.status)), held.regions.size(), expected);
  }
}

void request_grant(NodeLease& held, const AttachOptions& options) {
  if (held.response.grant_case() != v1::AttachResponse::kMapped) {
    throw Error("the memory node at {} offers no grant that this client understands",
                rpc::to_string(options.memory_node));
  }
  const std::string& path = held.response.mapped().socket_path();
  rpc::GrantRequest request;
  request.lease = lease_bytes(held.response, options);
  Descriptor socket = rpc::connect_unix(path);
  rpc::set_socket_timeout(socket.get(), options.call_timeout);
  rpc::send_message(socket.get(), std::as_bytes(std::span(&request, 1)), {});
  rpc::GrantReply reply;
  held.regions = rpc::receive_message(socket.get(), std::as_writable_bytes(std::span(&reply, 1)));
  check_reply(reply, held, path);
  held.lease.grant_socket = std::move(socket);
}

void give_back(const HeldLease& lease) {
  v1::DetachRequest request;
  request.set_lease_id(lease.id);
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + lease.call_timeout);
  v1::DetachResponse ignored;
  (void)lease.stub->Detach(&context, request, &ignored);  // else it ends by itself, later
}

}  // namespace

transport::GrantLease lease_bytes(const v1::AttachResponse& response,
                                  const AttachOptions& options) {
  transport::GrantLease lease;
  if (response.lease_id().size() != lease.size()) {
    throw Error("the memory node at {} sent a lease id of {} bytes",
                rpc::to_string(options.memory_node), response.lease_id().size());
  }
  std::memcpy(lease.data(), response.lease_id().data(), lease.size());
  return lease;
}

NodeLease take_lease(const AttachOptions& options, const LeaseCall& call) {
  const auto end = LeaseClock::now() + options.wait;
  NodeLease held;
  try {
    rpc::ConnectOptions connect;
    connect.wait = options.wait;
    connect.await_listener = options.await_listener;
    connect.stop = options.stop;
    connect.tls = options.tls;
    held.lease.stub = v1::MemoryNode::NewStub(rpc::connect(options.memory_node, connect));
    request_lease(held, options, call, {end, LeaseClock::now() + call.taken_wait});
    held.lease.id = held.response.lease_id();
    if (const std::string fault = fault_of(held.response); !fault.empty()) {
      throw Error("the memory node at {}: {}", rpc::to_string(options.memory_node), fault);
    }
    held.lease.duration = std::chrono::milliseconds(held.response.lease_ms());
    held.lease.call_timeout = options.call_timeout;
    if (options.reads.kind == ReadPathKind::mapped) request_grant(held, options);
    return held;
  } catch (const rpc::NobodyListens& error) {
    throw AbsentError("{}", error.what());
  } catch (const Error& error) {
    if (!held.lease.id.empty()) give_back(held.lease);
    throw UnreachableError("{}", error.what());
  }
}

}  // namespace farvec::tiers
