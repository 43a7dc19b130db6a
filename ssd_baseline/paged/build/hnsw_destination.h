// An HnswDestination lets a graph on pages appear under its name only when it is complete.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "base/file_names.h"

namespace farvec::paged {

/// Is called before a long build. Throws Error when `out` holds something that is neither a graph
/// nor what a killed build has left; when it holds one of these and `replace` is false, where the
/// message names `option`, which would replace it; and when another process has it open.
void check_hnsw_destination(const std::string& out, bool replace, std::string_view option);

/// Is where a store is made: in folder(), which is `out`.partial. publish() gives the store its
/// name; without it the destructor removes all that was made. At every moment, also when the
/// process is killed, `out` is the old graph or the new one. The next build of the same name
/// removes what a killed one has left.
class HnswDestination {
 public:
  /// Throws what check_hnsw_destination() throws, Error when another process builds there, and
  /// SystemError.
  HnswDestination(const std::string& out, bool replace, std::string_view option);
  ~HnswDestination();
  HnswDestination(const HnswDestination&) = delete;
  HnswDestination& operator=(const HnswDestination&) = delete;

  const std::filesystem::path& folder() const { return partial_; }

  /// Gives the store its name, after it has been closed. That is durable when this returns. Throws
  /// Error or SystemError.
  void publish();

 private:
  const std::filesystem::path target_;
  const std::filesystem::path partial_;
  const bool replace_;
  const std::string_view option_;
  std::optional<NewFolders> folders_;
  bool published_ = false;
};

}  // namespace farvec::paged
