// A compute node as its clients see it.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/types.h"
#include "rpc/compute_node.grpc.pb.h"
#include "rpc/tls.h"
#include "search/core/asked_search.h"

namespace farvec::client {

struct NodeAccess {
  std::string address;  ///< "HOST:PORT" or "unix:/path"
  rpc::TlsFiles tls;
  std::chrono::milliseconds connect_wait{10'000};  ///< for the node to answer at all
};

/// Throw Error naming the address when nothing answers there.
std::shared_ptr<grpc::Channel> channel_to_node(const NodeAccess& access);
std::unique_ptr<compute_node::v1::ComputeNode::Stub> connect_to_node(const NodeAccess& access);

/// What the node serves. Throws StatusError when it does not answer, or says of an index what
/// cannot be.
compute_node::v1::DescribeResponse describe_node(compute_node::v1::ComputeNode::Stub& stub,
                                                 const NodeAccess& access);

/// Asks the node which index it serves, and refuses by check_limits() what that does not allow. A
/// node without an index at the moment allows everything. Throws Error also when it does not
/// answer.
void check_limits_of_node(compute_node::v1::ComputeNode::Stub& stub, const NodeAccess& access,
                          const search::AskedSearch& parameters);

/// Whether a node that describes itself so serves a collection.
bool serves_collection(const compute_node::v1::DescribeResponse& node);

/// What a node that describes itself so allows a search to ask for. Of a collection, whose number
/// of vectors changes, k may be more than it has.
search::SearchBounds limits_of(const compute_node::v1::DescribeResponse& node);

/// A request for these parameters, without queries. `probing.clusters` of 0 leaves their number to
/// the node.
compute_node::v1::SearchRequest request_template(const search::AskedSearch& parameters,
                                                 ElementType type, std::uint32_t dimension);

/// What a node says of a call that has ended beside its status: an entry of the trailing metadata;
/// empty when it is not there.
std::string_view trailing_entry(const grpc::ClientContext& context, std::string_view key);

/// How long the node asks to wait before the next attempt at a call that has ended; 0 when it does
/// not say.
std::chrono::milliseconds retry_after(const grpc::ClientContext& context);

}  // namespace farvec::client
