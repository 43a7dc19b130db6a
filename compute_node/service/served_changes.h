// ServedChanges are an index that clients of a compute node change.
#pragma once

#include <cstddef>
#include <string>

#include "changes/changing.h"
#include "rpc/collection.pb.h"

namespace farvec::compute_node {

/// Any thread may call everything.
class ServedChanges {
 public:
  virtual ~ServedChanges() = default;
  virtual changes::Changing& index() = 0;
  // The most that one call takes:
  virtual std::size_t most_rows() const = 0;  ///< for an Insert or a Get
  virtual std::size_t most_ids() const = 0;   ///< for a Delete or an Update
  /// Fills in what the index holds at this moment. May wait for a change that is being written.
  virtual void tell_state(collection::v1::StatsResponse& out) = 0;
  /// Returns why changes wait for long; empty where nothing fails.
  virtual std::string blocked_by() const { return {}; }
  /// Called when the node shuts down: ends work that no call waits for and that cores do.
  virtual void drain() {}
};

}  // namespace farvec::compute_node
