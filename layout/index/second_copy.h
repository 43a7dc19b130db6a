// Reads and writes the second copy of an index's vectors, by which searches rank their candidates
// again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "base/input_file.h"
#include "base/types.h"
#include "layout/index/companion_file.h"
#include "layout/index/load_options.h"
#include "layout/index/manifest.h"

namespace farvec::layout {

inline constexpr const char* kSecondCopyFile = kSecondCopy.name;

/// Says how a vector of the second copy becomes one of the index.
enum class ReductionKind : std::uint8_t {
  bits = 1,    ///< element i becomes 1 where it is above parameter i
  rounded = 2  ///< each element is multiplied by the one parameter and rounded to the type
};

/// SecondCopyFacts are what a second copy is, beside its rows.
struct SecondCopyFacts {
  Metric metric = Metric::l2;                  ///< that of results
  ElementType source_type = ElementType::f32;  ///< that of queries
  ElementType type = ElementType::f32;         ///< that of the rows, in the metric's stored form
  ReductionKind reduction = ReductionKind::bits;
  std::vector<float>
      parameters;  ///< those of the reduction: a threshold for each element, or a factor
};

/// Begins the file, little-endian; see docs/format.md. The parameters follow after kSecondCopyBlock
/// bytes, and the rows begin at rows_begin.
struct SecondCopyHeader {
  std::uint64_t magic = kSecondCopy.magic;
  std::uint32_t format_version = kFormatVersion;
  std::uint32_t dimension = 0;
  std::uint64_t rows = 0;
  std::uint64_t dataset_checksum = 0;  ///< `dataset.xxh3` of the index's manifest
  std::uint64_t rows_begin = 0;        ///< a multiple of kSecondCopyBlock
  std::uint32_t row_bytes = 0;         ///< a row, its checksum and its padding
  Metric metric = Metric::l2;
  ElementType source_type = ElementType::f32;
  ElementType type = ElementType::f32;
  ReductionKind reduction = ReductionKind::bits;
  std::uint32_t parameters = 0;  ///< floats
  std::uint32_t reserved = 0;
  std::uint64_t parameters_checksum = 0;  ///< XXH3-64
  std::uint64_t header_checksum = 0;      ///< XXH3-64 of the 64 bytes before it
};
static_assert(sizeof(SecondCopyHeader) == 72);
static_assert(offsetof(SecondCopyHeader, metric) == 44 && offsetof(SecondCopyHeader, type) == 46);
static_assert(offsetof(SecondCopyHeader, header_checksum) == 64);
inline constexpr std::uint64_t kSecondCopyBlock = 4096;

/// A SecondCopyGeometry knows where each row is. Offsets count from the start of the file.
class SecondCopyGeometry {
 public:
  SecondCopyGeometry(ElementType type, std::uint32_t dimension, std::uint64_t rows,
                     std::uint64_t rows_begin);

  std::uint64_t rows() const { return rows_; }
  /// Returns the bytes from one row to the next: those of a vector, of its checksum and of padding.
  std::uint32_t row_bytes() const { return row_bytes_; }
  std::uint64_t offset_of(NodeId row) const {
    return rows_begin_ + std::uint64_t{row} * row_bytes_;
  }
  std::uint64_t file_bytes() const { return offset_of(0) + rows_ * row_bytes_; }
  /// Says whether `bytes`, row_bytes() of them, are those of this row. Only then is the vector,
  /// with which they begin, what was written.
  bool is_sound(NodeId row, const std::byte* bytes) const;
  /// Writes a row: `vector` is packed, and `out` is row_bytes() long.
  void encode(NodeId row, const std::byte* vector, std::byte* out) const;

 private:
  std::uint64_t rows_;
  std::uint64_t rows_begin_;
  std::uint32_t vector_bytes_;
  std::uint32_t row_bytes_;
};

/// Returns where the rows of the index's second copy are, which the manifest has.
SecondCopyGeometry second_copy_geometry(const Manifest& manifest);

/// Returns what the manifest says of a second copy with these facts. The manifest has the shape of
/// the index, its data set, and its stored type.
SecondCopyEntry second_copy_entry(const SecondCopyFacts& facts, const Manifest& manifest);

/// Throws Error, naming `source`, where the manifest's placement of its second copy cuts a row.
void require_whole_rows(const Manifest& manifest, std::string_view source);

/// A SecondCopyForm is what a second copy is, without its rows. Its first bytes say so, wherever
/// they come from.
class SecondCopyForm {
 public:
  /// `begin` has what is before the rows, as long as second_copy_geometry() says. Throws Error
  /// naming `source`: the bytes are damaged, those of another index's copy, or no vectors that they
  /// describe can have been reduced to the index's type.
  SecondCopyForm(std::span<const std::byte> begin, const Manifest& manifest,
                 const std::string& source);

  const SecondCopyFacts& facts() const { return facts_; }
  const SecondCopyGeometry& geometry() const { return geometry_; }
  /// Returns the number by which the manifest knows it.
  std::uint64_t header_checksum() const { return header_.header_checksum; }
  /// Returns the bytes that it was made of.
  std::vector<std::byte> begin() const;
  /// Throws Error, naming `source`, unless these first bytes of a copy of the file are the same.
  void require_same(std::span<const std::byte> begin, const std::string& source) const;

 private:
  const SecondCopyHeader header_;
  const SecondCopyFacts facts_;
  const SecondCopyGeometry geometry_;
};

/// Gives the index in `folder`, whose manifest this is, its second copy. `rows` has a row for each
/// of the index's, of facts.type, and the manifest has the second_copy_entry() of these facts. A
/// second copy that is there is replaced. Memory: 4 MiB. Throws Error where the rows are others
/// than the manifest's, SystemError like OutputFile, and what `on_chunk` throws, which is called
/// with the bytes of each chunk; then no new file is there.
void write_second_copy(const std::filesystem::path& folder, const Manifest& manifest,
                       const SecondCopyFacts& facts, const VectorView& rows,
                       const std::function<void(std::uint64_t bytes)>& on_chunk = {});

/// Gives the index in `to`, which has the rows of the one in `from`, its second copy. Throws Error
/// where it is damaged or missing.
void copy_second_copy(const std::filesystem::path& from, const Manifest& manifest,
                      const std::filesystem::path& to);

/// A SecondCopyFile is the file of an index, open for reading. Threads share it.
class SecondCopyFile {
 public:
  /// Opens the second copy of the index in `folder`, whose manifest says that it has one. Reads
  /// what is before the rows. Throws Error naming the file: it is missing, shorter or longer than
  /// the manifest says, or what SecondCopyForm refuses.
  SecondCopyFile(const std::filesystem::path& folder, const Manifest& manifest);

  const SecondCopyForm& form() const { return form_; }
  const SecondCopyFacts& facts() const { return form_.facts(); }
  const SecondCopyGeometry& geometry() const { return form_.geometry(); }
  const std::string& path() const { return file_.path(); }

  /// Reads the whole file into `destination`, which is geometry().file_bytes() long, and checks
  /// every row there. Throws Error naming the first row that is damaged, and what options.on_chunk
  /// throws. It asks for no options.store.
  void load(std::span<std::byte> destination, const LoadOptions& options) const;
  /// Reads what memory node `node` of the placement serves of the file, which is
  /// placement.node_bytes(node) long. It begins as the file does. Throws what load() throws.
  void load_share(const RegionPlacement& placement, std::uint32_t node,
                  std::span<std::byte> destination, const LoadOptions& options) const;
  /// Reads a row, its checksum and its padding into `bytes`, which is as long, and checks it.
  /// Throws what load() throws.
  void read_row(NodeId row, std::span<std::byte> bytes) const {
    FARVEC_CHECK(row < geometry().rows() && bytes.size() == geometry().row_bytes());
    read_rows(row, bytes);
  }
  /// Checks every row, in pieces of 4 MiB. Throws what load() throws.
  void verify() const;
  /// Does the same, and gives `take` the rows of each piece, in order, after it has checked them.
  void for_each_piece(const std::function<void(std::span<const std::byte> rows)>& take) const;

 private:
  /// A Run is some of the file's rows, and their place in a destination.
  struct Run {
    std::uint64_t first;
    std::uint64_t rows;
    std::uint64_t at;
  };
  SecondCopyForm read_form(const Manifest& manifest) const;
  /// Reads rows from `first` on, and checks each. Throws what load() throws.
  void read_rows(std::uint64_t first, std::span<std::byte> rows) const;
  void load_runs(const std::vector<Run>& runs, std::span<std::byte> destination,
                 const LoadOptions& options) const;

  const InputFile file_;
  const SecondCopyForm form_;
};

/// Returns how many parameters a reduction of that kind has.
std::uint32_t reduction_parameters(ReductionKind kind, std::uint32_t dimension);

}  // namespace farvec::layout
