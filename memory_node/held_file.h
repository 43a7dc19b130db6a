// A file of a collection that becomes a region.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>

#include "base/error.h"
#include "base/input_file.h"
#include "layout/collection/segment_key.h"

namespace farvec::memory_node {

/// What the caller says of it.
struct HeldFile {
  std::string path;
  std::uint64_t bytes = 0;
  std::uint64_t checksum = 0;  ///< XXH3-64 of all of them
  /// No link is in the path: one that has come since it was looked at is not followed.
  bool is_resolved = false;
};

/// Thrown for what is not what the caller says, or cannot be read. No caller is told why.
class RefusedFile : public Error {
 public:
  using Error::Error;
};

/// Opened once, so that what is read is what was looked at.
class OpenedFile {
 public:
  /// Looks at length and header alone: the file is a catalogue (`key` has kCatalogueNumber) or the
  /// ids of the key's segment. Throws RefusedFile, also where a resolved path leads elsewhere now.
  OpenedFile(const HeldFile& file, const layout::SegmentKey& key);

  const HeldFile& said() const { return said_; }
  /// Its word, as Region::kind.
  const char* kind() const { return kind_; }
  /// Fills `to`, which has the file's length, in pieces; after each `on_piece` is called and may
  /// throw. Throws RefusedFile, also when the checksum is another.
  void read(std::span<std::byte> to, const std::function<void()>& on_piece) const;

 private:
  const HeldFile said_;
  const char* const kind_;
  std::optional<InputFile> file_;
};

}  // namespace farvec::memory_node
