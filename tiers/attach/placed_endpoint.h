// A PlacedEndpoint makes one core's reads of an index that is spread over several memory nodes.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/clock.h"
#include "layout/index/placement.h"
#include "tiers/attach/endpoint_inbox.h"
#include "transport/endpoint.h"

namespace farvec::tiers {

struct PlacedOptions {
  /// A node that owes reads and completes none for this long is given up, and other copies are
  /// read.
  std::chrono::milliseconds node_timeout{250};
  /// The time for a node that owes a read of which no other node has a copy, if it is longer: to
  /// give that node up ends searches, and a busy machine is silent for longer than node_timeout.
  std::chrono::milliseconds last_copy_timeout{5'000};
};

/// Serves the whole regions, by the placement's extents: the reads of one post() go to all nodes at
/// once, each to the first copy whose node lives. When a node is lost (its reads end with
/// `unavailable`, or it is silent for its time) its endpoint is closed, which gives the
/// destinations back, and its reads go to other copies. A read without a living copy completes with
/// `unavailable`. A node that was attached again comes through the inbox.
class PlacedEndpoint final : public transport::Endpoint {
 public:
  /// `placement` must outlive it. Takes what is in the inbox, and throws Error when the inbox is
  /// empty.
  PlacedEndpoint(const layout::Placement& placement, std::shared_ptr<EndpointInbox> inbox,
                 PlacedOptions options);
  ~PlacedEndpoint() override { PlacedEndpoint::close(); }

  void register_memory(std::span<std::byte> memory) override;
  Status post(std::span<const transport::ReadRequest> reads) override;
  std::size_t poll(std::span<transport::Completion> completions) override;
  transport::EndpointLimits limits() const override { return limits_; }
  std::uint64_t region_bytes(transport::RegionId region) const override;
  std::string description() const override;
  double coverage() const override { return coverage_; }
  void peer_lost() override;
  void close() override;

 private:
  static constexpr std::size_t kPolledAtOnce = 64;
  /// Most times that one read is sent. Without a bound, nodes that come and go as fast as it is
  /// sent would keep it for ever.
  static constexpr std::uint32_t kMaxAttempts = 8;

  struct Node {
    std::unique_ptr<transport::Endpoint> endpoint;  ///< null: lost
    std::uint32_t outstanding = 0;
    Ticks last_progress = 0;  ///< when a read of its last completed, while there are any
    std::vector<transport::ReadRequest> batch;  ///< to be posted
  };

  /// A Flight is a read on its way. Its number times kTokensApart is its token in the endpoint
  /// below.
  struct Flight {
    transport::ReadRequest read;  ///< in its original form
    std::uint64_t offset = 0;     ///< in the node's region
    std::uint32_t extent = 0;
    std::uint32_t node = 0;
    std::uint32_t attempts = 0;
    bool used = false;
  };

  /// Returns the number that stands in Flight::node when no node owes the read.
  std::uint32_t nobody() const { return static_cast<std::uint32_t>(nodes_.size()); }
  Status find_extents(std::span<const transport::ReadRequest> reads);
  void send(std::uint32_t flight);
  void send_batches();
  std::size_t poll_node(std::uint32_t node, std::span<transport::Completion> completions);
  std::size_t deliver_failed(std::span<transport::Completion> completions);
  transport::Completion finish(const transport::Completion& below);
  void fail(std::uint32_t flight);
  void lose(std::uint32_t node, const char* why);
  void lose_silent();
  /// Returns whether the node owes a read that no other living node could serve.
  bool owes_last_copy(std::uint32_t node) const;
  /// Returns whether a living node has a copy; `left_out` does not count.
  bool has_living_copy(const layout::PlacedExtent& extent, std::uint32_t left_out) const;
  void drop(Node& node);
  void adopt();
  void install(std::uint32_t node, std::unique_ptr<transport::Endpoint> endpoint);
  void refresh_coverage();
  double count_coverage() const;
  /// Says, for the log, how much of the index can still be read without the nodes that are lost.
  std::string what_is_left() const;

  const layout::Placement& placement_;
  const std::shared_ptr<EndpointInbox> inbox_;
  const Ticks node_timeout_;
  const Ticks last_copy_timeout_;
  std::string description_;
  transport::EndpointLimits limits_;
  std::vector<Node> nodes_;
  std::uint32_t living_ = 0;
  std::vector<Flight> flights_;
  std::vector<std::uint32_t> free_;     ///< numbers of flights that are not used
  std::vector<std::uint32_t> failed_;   ///< have no copy left; to be delivered
  std::vector<std::uint32_t> extents_;  ///< those of the reads of one post()
  std::vector<std::uint32_t> orphans_;  ///< scratch of lose()
  Ticks last_poll_ = 0;
  double coverage_ = 1;
  bool coverage_is_old_ = true;  ///< nodes have come or gone since it was counted
  bool closed_ = false;
};

}  // namespace farvec::tiers
