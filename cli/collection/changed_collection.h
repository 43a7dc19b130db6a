// Gives commands one way to change a collection: one of this machine, or one that a compute node
// serves.
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

/// Changes a collection for a command. One thread uses it. Members that throw throw an Error that
/// says what was wrong and where.
class ChangedCollection {
 public:
  virtual ~ChangedCollection() = default;

  virtual changes::Changing& changes() = 0;
  /// Returns how a command inserts and deletes, in batches that end at Ctrl-C.
  virtual changes::Batches batches() const = 0;
  /// Makes one segment of all rows, without the log. Throws Error for a collection that a node
  /// serves.
  virtual changes::Receipt import(const changes::RowBatch& batch) = 0;
  /// Takes an index in as a segment, its row r with the id first_id + r. Throws like import().
  virtual changes::Receipt import_index(const std::string& index, std::uint64_t first_id) = 0;
  /// Waits until the background has done what changes asked of it, where the background ends with
  /// this process.
  virtual void settle() {}
  /// Returns the progress of the segment that is being made, or of any when there are several;
  /// without rows when there is none, or when it cannot be seen. Any thread may call it.
  virtual collection::BuildProgress making() const noexcept = 0;
};

/// Opens a collection in this process, which is the collection's one writer until the object is
/// destroyed. Throws Error.
std::unique_ptr<ChangedCollection> open_collection(const std::string& folder,
                                                   const measure::CollectionWrite& write,
                                                   bool quiet);

struct RemoteCollectionOptions {
  client::NodeAccess node;
  std::chrono::milliseconds deadline{10'000};  ///< deadline of each attempt at a call
  /// Attempts at a call after the first one, made while the node has no room for it or is not
  /// there.
  std::uint32_t retries = 30;
};

/// Connects to the collection of a node. Throws Error when the node does not answer, or serves no
/// collection.
std::unique_ptr<ChangedCollection> connect_to_collection(const RemoteCollectionOptions& options);

}  // namespace farvec::cli
