// An Attachment is a compute node's hold on a memory node: the lease, the mapped regions, and
// whether the node is still alive.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "layout/index/manifest.h"
#include "tiers/attach/attach_options.h"
#include "tiers/attach/lease_keeper.h"
#include "transport/mapped/mapped_endpoint.h"

namespace farvec::tiers {

/// Holds a lease, renews it on a thread of its own and gives it back when destroyed. Endpoints may
/// outlive it: they keep the mapping, and answer `unavailable`. Members may be called from any
/// thread.
class Attachment {
 public:
  /// Waits for a node that is absent or still loading, within options.wait. Throws UnreachableError
  /// that says which node it waited for or why the node refused, and Error when what the node
  /// serves cannot be used.
  static std::unique_ptr<Attachment> attach(const AttachOptions& options);
  ~Attachment();
  Attachment(const Attachment&) = delete;
  Attachment& operator=(const Attachment&) = delete;

  /// False once the node has died or the lease was lost; never true again. A mapping stays readable
  /// after that, but its bytes are no longer guaranteed: searches must end with `unavailable`.
  bool alive() const;
  /// The node wants its leases back: it is shutting down.
  bool draining() const;
  /// The node has published another index since; this one stays readable while it is attached.
  bool superseded() const;
  /// Ends the hold: alive() is false from here on, for every endpoint of it too.
  void give_up() const;

  /// The manifest has no regions where a collection's catalogue is attached.
  const layout::Manifest& manifest() const { return manifest_; }
  /// Returns the bytes of each file that the node holds beside an index, or as a catalogue. These
  /// files are the regions after the manifest's.
  const std::vector<std::uint64_t>& file_bytes() const { return file_bytes_; }
  /// Returns the node's number in the manifest's placement; 0 without one.
  std::uint32_t node() const { return node_; }
  /// Returns a number that differs between two publications of the node.
  std::uint64_t generation() const { return generation_; }
  /// RegionId i is the node's share of the manifest's region i, header included. Mapped read-only;
  /// null when they are read through a device.
  const std::shared_ptr<const transport::RegionSet>& regions() const { return regions_; }

  /// Makes an endpoint for one core. Its reads complete with `unavailable` once alive() is false.
  /// For reads through a device it connects, and throws UnreachableError when it cannot.
  std::unique_ptr<transport::Endpoint> make_endpoint() const;

 private:
  Attachment() = default;

  layout::Manifest manifest_;
  std::uint32_t node_ = 0;
  std::uint64_t generation_ = 0;
  std::vector<std::uint64_t> file_bytes_;
  std::shared_ptr<const transport::RegionSet> regions_;
  EndpointMaker open_endpoint_;
  std::shared_ptr<Liveness> liveness_;
  std::unique_ptr<LeaseKeeper> keeper_;
};

}  // namespace farvec::tiers
