// A NodeSet holds memory nodes that an index is read from, and attaches each again when it was
// lost. PlacedNodes hold an index together; CopyNodes each have a copy of one.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "layout/index/manifest.h"
#include "transport/endpoint.h"
#include "transport/mapped/mapped_endpoint.h"

namespace farvec::tiers {

/// Members may be called from any thread.
class NodeSet {
 public:
  virtual ~NodeSet() = default;

  /// Waits until the index can be read, or until `bound` has passed or `stop` (may be null) is
  /// true. Throws UnreachableError that says which nodes are missing and why, and Error when a node
  /// serves what cannot be used. It may be called again.
  virtual void wait_ready(std::chrono::milliseconds bound,
                          const std::atomic<bool>* stop = nullptr) = 0;

  // PlacedNodes have what follows after wait_ready(), CopyNodes at once.

  /// False once the index can no longer be read from these nodes, for good.
  virtual bool alive() const = 0;
  /// Returns the index, with its placement over these nodes where it has one.
  virtual const layout::Manifest& manifest() const = 0;
  /// Returns true when every node that is attached has published another index since. Whether these
  /// are one index is known when another set attaches them.
  virtual bool superseded() const = 0;
  /// Returns the regions in one piece, for an index on one node that is mapped; null otherwise.
  virtual std::shared_ptr<const transport::RegionSet> regions() const { return nullptr; }
  /// Makes an endpoint for one core, over the whole regions; it must not outlive the set. Throws
  /// UnreachableError when no node can be read.
  virtual std::unique_ptr<transport::Endpoint> make_endpoint() = 0;

  struct Member {
    std::string address;
    bool attached = false;   ///< attached, and every core can read it
    std::uint32_t node = 0;  ///< its number in the manifest; set when it is attached
  };
  virtual std::vector<Member> members() const = 0;
};

}  // namespace farvec::tiers
