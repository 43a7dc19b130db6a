// A Session is one connection to a compute node, as the worker's thread uses it.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/types.h"
#include "changes/changing.h"
#include "client/c/answers.h"
#include "client/c/worker.h"
#include "client/remote_collection.h"
#include "client/remote_node.h"
#include "search/core/asked_search.h"

namespace farvec::c {

/// Returns how long a change or a read may take.
changes::Patience patience_of(const Turn& turn);

/// Calls throw StatusError, and Error for input that cannot be. They end soon after the turn was
/// cancelled.
class Session {
 public:
  /// Connects and asks what there is. Throws StatusError (unavailable) where nothing answers or
  /// nothing is served. `turn.cancelled` lives as long as the session.
  Session(client::NodeAccess access, std::uint32_t retries, const Turn& turn);

  /// Returns what the node said when the session was made.
  const compute_node::v1::DescribeResponse& served() const { return served_; }
  /// Asks the node again.
  compute_node::v1::DescribeResponse describe(const Turn& turn) const;
  std::string state(const Turn& turn);

  search::SearchBounds bounds() const { return client::limits_of(served_); }
  /// Checks queries and parameters, and searches.
  Found search(const VectorView& queries, const search::AskedSearch& asked, const Turn& turn);

  /// Returns what changes and reads rows, for this turn. Throws StatusError (failed_precondition)
  /// where the node takes no changes.
  client::RemoteCollection& changes();

 private:
  void reach() const;
  layout::Schema selected(const std::vector<std::string>& columns, const Turn& turn);

  const client::NodeAccess access_;
  const std::uint32_t retries_;
  const Interruption cancelled_;
  const std::shared_ptr<grpc::Channel> channel_;
  const std::unique_ptr<compute_node::v1::ComputeNode::Stub> stub_;
  compute_node::v1::DescribeResponse served_;
  layout::Schema schema_;  ///< the columns of which the node has told so far
  std::optional<client::RemoteCollection> changes_;  ///< once there was a call of it
};

}  // namespace farvec::c
