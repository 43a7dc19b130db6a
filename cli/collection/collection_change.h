// Provides what the commands that change a collection have in common: where the collection is, and
// the report.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/command_line.h"
#include "cli/collection/changed_collection.h"

namespace farvec::cli {

struct ChangeArguments {
  std::string folder;
  measure::CollectionWrite write;
  RemoteCollectionOptions remote;
  std::uint32_t deadline_ms = 10'000;
  bool quiet = false;
  bool json = false;
};

void add_change_options(Command& command, ChangeArguments& arguments);
/// Throws an Error that names one of the options when some do not go together.
void check_change_options(const Command& command, const ChangeArguments& arguments);

/// Runs `change` and returns what it has done; an interruption ends it early. When it throws Error,
/// the Error that this throws also tells how many changes went in before.
changes::Receipt receipt_of(const std::function<void(changes::Receipt&)>& change);

/// Opens the collection that a command changes, and reports what became of it.
class Change {
 public:
  /// Borrows the arguments, which must outlive it.
  explicit Change(const ChangeArguments& arguments);

  ChangedCollection& collection() { return *collection_; }
  /// Returns the folder or the node's address.
  const std::string& name() const {
    return arguments_.folder.empty() ? arguments_.remote.node.address : arguments_.folder;
  }

  /// Does work that makes segments, and shows how far it is.
  void watched(const std::function<void()>& work);
  /// Waits until the background has done what the change asked of it, then prints the report. When
  /// the command was interrupted, it does not wait, and throws Interrupted after the report.
  void report(const char* what, const changes::Receipt& receipt);

 private:
  using Clock = std::chrono::steady_clock;

  const ChangeArguments& arguments_;
  const Clock::time_point start_ = Clock::now();
  const std::unique_ptr<ChangedCollection> collection_;
};

}  // namespace farvec::cli
