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
#include "client/remote_results.h"
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

  /// Returns what the node said last.
  const compute_node::v1::DescribeResponse& served() const { return served_; }
  /// Asks the node again, also with further attempts, and keeps what it says. References to what
  /// changes() returned are no longer good then.
  const compute_node::v1::DescribeResponse& describe(const Turn& turn);
  std::string state(const Turn& turn);

  search::SearchBounds bounds() const { return client::limits_of(served_); }
  /// Fills in what was not given, checks queries and parameters, and searches. What the node said
  /// before it was started again bounds no search, and decodes none of its answers.
  Found search(const VectorView& queries, const search::AskedSearch& asked, const Turn& turn);

  /// Returns what changes and reads rows, for this turn. Throws StatusError (failed_precondition)
  /// where the node takes no changes.
  client::RemoteCollection& changes(const Turn& turn);

 private:
  /// A search as it can be asked of the node that was described last.
  struct Ready;

  void reach() const;
  void refresh(const Turn& turn);
  compute_node::v1::DescribeResponse ask(Clock::time_point until) const;
  void require_same_rows();
  Ready ready(const VectorView& queries, search::AskedSearch asked) const;
  Ready newly_ready(const VectorView& queries, const search::AskedSearch& asked, const Turn& turn);
  client::RemoteResults send(const VectorView& queries, const Ready& ready, const Turn& turn,
                             bool& again) const;

  const client::NodeAccess access_;
  const std::uint32_t retries_;
  const Interruption cancelled_;
  const std::shared_ptr<grpc::Channel> channel_;
  const std::unique_ptr<compute_node::v1::ComputeNode::Stub> stub_;
  compute_node::v1::DescribeResponse served_;
  layout::Schema schema_;           ///< the columns in served_
  Clock::time_point described_at_;  ///< when the node said what is in served_
  Clock::time_point until_;         ///< the end of the turn that changes_ is used in
  std::optional<client::RemoteCollection> changes_;  ///< none until a call needs it
};

}  // namespace farvec::c
