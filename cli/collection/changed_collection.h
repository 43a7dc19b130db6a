// A collection as commands change it: one of this machine, or one that a compute node serves.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <string>

#include "base/types.h"
#include "cli/collection/collection_options.h"
#include "client/remote_node.h"
#include "collection/build/build_watch.h"
#include "collection/write/collection.h"

namespace farvec::cli {

/// One thread. What throws throws Error that says what was wrong and where.
class ChangedCollection {
 public:
  virtual ~ChangedCollection() = default;

  /// Rows of one insert().
  virtual std::size_t batch_rows() const = 0;
  /// Ids of one erase().
  virtual std::size_t batch_ids() const = 0;
  /// Of all rows, before the first is inserted: throws as collection::Collection::check().
  virtual void check(const VectorView& rows, std::span<const std::uint64_t> ids) const = 0;
  /// `receipt`, which is empty, has what is in, also when it throws. What failed may be done again.
  virtual void insert(const VectorView& rows, std::span<const std::uint64_t> ids,
                      collection::Receipt& receipt) = 0;
  virtual void erase(std::span<const std::uint64_t> ids, collection::Receipt& receipt) = 0;
  /// All rows become one segment, past the log.
  virtual collection::Receipt import(const VectorView& rows,
                                     std::span<const std::uint64_t> ids) = 0;
  /// Returns when everything is one segment, or the command is interrupted.
  virtual void compact() = 0;
  /// Returns when the background has done what changes asked of it, where it ends with this
  /// process.
  virtual void settle() {}
  /// The segment that is being made, of several any; no rows: none is, or it cannot be seen. From
  /// any thread; throws nothing.
  virtual collection::BuildProgress making() const noexcept = 0;
  /// As state_json().
  virtual nlohmann::ordered_json now() const = 0;
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
