// An OpenedFile is a file beside an index, or of a collection, that becomes a region.
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

enum class FileKind { ids, attributes, catalogue, schema };

/// Returns the word for Region::kind.
const char* to_string(FileKind kind);

/// A HeldFile is what the caller says of a file, or what the node has found in an index's folder.
struct HeldFile {
  std::string path;
  std::uint64_t bytes = 0;
  /// XXH3-64 of all bytes. Nothing: no checksum is known, and the bytes are checked otherwise once
  /// they are there.
  std::optional<std::uint64_t> checksum = std::nullopt;
  FileKind kind = FileKind::catalogue;
  /// There is no link in the path. A link that has come since it was checked is not followed.
  bool is_resolved = false;
};

/// Thrown for a file that is not what the caller says, or cannot be read. No caller is told why.
class RefusedFile : public Error {
 public:
  using Error::Error;
};

/// The file is opened once, so that the bytes that are read belong to the file that was checked.
class OpenedFile {
 public:
  /// Checks length and header alone: the file is a catalogue or a schema, or belongs to the key's
  /// segment, which is layout::kNoSegmentNumber for an index that stands by itself.
  /// Throws RefusedFile, also where a resolved path leads elsewhere now.
  OpenedFile(const HeldFile& file, const layout::SegmentKey& key);

  const HeldFile& said() const { return said_; }
  /// Fills `to`, which has the file's length, in pieces, and returns the checksum. It calls
  /// `on_piece` with the bytes of each, which may throw. Throws RefusedFile, also when the checksum
  /// is another.
  std::uint64_t read(std::span<std::byte> to,
                     const std::function<void(std::uint64_t bytes)>& on_piece) const;

 private:
  const HeldFile said_;
  std::optional<InputFile> file_;
};

}  // namespace farvec::memory_node
