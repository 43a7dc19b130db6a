// These functions connect to a compute node and ask it what it serves.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/progress.h"
#include "base/types.h"
#include "rpc/compute_node.grpc.pb.h"
#include "rpc/tls.h"
#include "search/core/asked_search.h"

namespace farvec::client {

struct NodeAccess {
  std::string address;  ///< "HOST:PORT" or "unix:/path"
  rpc::TlsFiles tls;
  std::chrono::milliseconds connect_wait{10'000};  ///< how long to wait for a first answer
  /// When set, connecting ends with an Error as soon as it becomes true. It is borrowed.
  const std::atomic<bool>* stop = nullptr;
};

/// Throw Error naming the address when nothing answers there.
std::shared_ptr<grpc::Channel> channel_to_node(const NodeAccess& access);
std::unique_ptr<compute_node::v1::ComputeNode::Stub> connect_to_node(const NodeAccess& access);

/// Says how long a node may take to say what it serves.
struct DescribeWait {
  std::chrono::milliseconds deadline{10'000};
  Interruption cancelled = {};  ///< ends the call, with CANCELLED
};

/// Asks the node what it serves. Throws StatusError when it does not answer, or says of an index
/// what cannot be.
compute_node::v1::DescribeResponse describe_node(compute_node::v1::ComputeNode::Stub& stub,
                                                 const NodeAccess& access,
                                                 const DescribeWait& wait = {});

/// Asks the node which index it serves, and refuses with check_limits() what that index does not
/// allow. A node without an index at the moment allows everything. Throws Error also when the node
/// does not answer.
void check_limits_of_node(compute_node::v1::ComputeNode::Stub& stub, const NodeAccess& access,
                          const search::AskedSearch& parameters);

/// Returns whether a node that describes itself like this serves a collection, or a graph on pages,
/// which changes by the same calls: its ids are users' own.
bool serves_collection(const compute_node::v1::DescribeResponse& node);

/// Returns what a node that describes itself like this allows a search to ask for. For a
/// collection, whose number of vectors changes, k may be more than that number.
search::SearchBounds limits_of(const compute_node::v1::DescribeResponse& node);

/// Returns a request with these parameters, without queries. `probing.clusters` of 0 leaves their
/// number to the node.
compute_node::v1::SearchRequest request_template(const search::AskedSearch& parameters,
                                                 ElementType type, std::uint32_t dimension);

/// Returns an entry of the trailing metadata, which a node sends beside the status of a call that
/// has ended; empty when it is not there. The text lives as long as `context`.
std::string_view trailing_entry(const grpc::ClientContext& context, std::string_view key);

/// Returns how long the node asks to wait before the next attempt at a call that has ended; 0 when
/// it does not say.
std::chrono::milliseconds retry_after(const grpc::ClientContext& context);

}  // namespace farvec::client
