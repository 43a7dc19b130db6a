// A collection as commands change it: one of this machine, or one that a compute node serves.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "base/types.h"
#include "changes/batches.h"
#include "cli/collection/collection_options.h"
#include "client/remote_node.h"
#include "collection/build/build_watch.h"
#include "collection/write/collection.h"

namespace farvec::cli {

/// One thread. What throws throws Error that says what was wrong and where.
class ChangedCollection {
 public:
  virtual ~ChangedCollection() = default;

  virtual changes::Changing& changes() = 0;
  /// How a command inserts and deletes; it is told of Ctrl-C.
  virtual changes::Batches batches() const = 0;
  /// All rows become one segment, past the log.
  virtual changes::Receipt import(const VectorView& rows, std::span<const std::uint64_t> ids) = 0;
  /// Returns when the background has done what changes asked of it, where it ends with this
  /// process.
  virtual void settle() {}
  /// The segment that is being made, of several any; no rows: none is, or it cannot be seen. From
  /// any thread; throws nothing.
  virtual collection::BuildProgress making() const noexcept = 0;
};

/// In this process, which is the collection's one writer until it is destroyed.
std::unique_ptr<ChangedCollection> open_collection(const std::string& folder,
                                                   const measure::CollectionWrite& write,
                                                   bool quiet);

struct RemoteCollectionOptions {
  client::NodeAccess node;
  std::chrono::milliseconds deadline{10'000};  ///< of each attempt at a call
  /// Attempts at a call after the first one, when the node has no room for it now, or is not there.
  std::uint32_t retries = 30;
};

/// Throws Error when the node does not answer, or serves no collection.
std::unique_ptr<ChangedCollection> connect_to_collection(const RemoteCollectionOptions& options);

}  // namespace farvec::cli
