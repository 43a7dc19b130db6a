#include "layout/index/second_copy.h"

#include <xxhash.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "base/check.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/output_file.h"
#include "base/parallel.h"
#include "base/stored_form.h"

namespace farvec::layout {
namespace {

constexpr std::size_t kPieceBytes = std::size_t{4} << 20;
constexpr std::uint32_t kChecksumBytes = 4;
constexpr std::uint32_t kRowAlignment = 8;

std::uint32_t checksum_of(NodeId row, const std::byte* vector, std::size_t bytes) {
  return static_cast<std::uint32_t>(XXH3_64bits_withSeed(vector, bytes, row));
}

std::uint64_t checksum_of(const SecondCopyHeader& header) {
  return XXH3_64bits(&header, offsetof(SecondCopyHeader, header_checksum));
}

std::uint64_t checksum_of(std::span<const float> parameters) {
  return XXH3_64bits(parameters.data(), parameters.size_bytes());
}

std::uint64_t rows_begin_of(std::size_t parameters) {
  return kSecondCopyBlock + round_up(parameters * sizeof(float), kSecondCopyBlock);
}

/// Returns what is before the rows.
std::vector<std::byte> begin_of(const SecondCopyHeader& header, std::span<const float> parameters) {
  std::vector<std::byte> begin(header.rows_begin);
  std::memcpy(begin.data(), &header, sizeof(header));
  std::memcpy(begin.data() + kSecondCopyBlock, parameters.data(), parameters.size_bytes());
  return begin;
}

ReductionKind reduction_of(const Manifest& manifest) {
  return manifest.stored_type == ElementType::b1 ? ReductionKind::bits : ReductionKind::rounded;
}

SecondCopyHeader header_of(const SecondCopyFacts& facts, const Manifest& manifest) {
  const SecondCopyGeometry geometry(facts.type, manifest.dimension, manifest.count,
                                    rows_begin_of(facts.parameters.size()));
  SecondCopyHeader header{.dimension = manifest.dimension,
                          .rows = manifest.count,
                          .dataset_checksum = manifest.dataset.xxh3,
                          .rows_begin = geometry.offset_of(0),
                          .row_bytes = geometry.row_bytes(),
                          .metric = facts.metric,
                          .source_type = facts.source_type,
                          .type = facts.type,
                          .reduction = facts.reduction,
                          .parameters = static_cast<std::uint32_t>(facts.parameters.size()),
                          .parameters_checksum = checksum_of(facts.parameters)};
  header.header_checksum = checksum_of(header);
  return header;
}

bool is_known(const SecondCopyHeader& header) {
  return static_cast<std::size_t>(header.metric) < kMetrics.size() &&
         static_cast<std::size_t>(header.source_type) < kElementTypes.size() &&
         static_cast<std::size_t>(header.type) < kElementTypes.size() &&
         (header.reduction == ReductionKind::bits || header.reduction == ReductionKind::rounded);
}

/// Says whether rows of the header's type can have become rows of the index.
bool can_be_reduced(const SecondCopyHeader& header, const Manifest& manifest) {
  if (header.source_type == ElementType::b1 || compares_bits(header.metric)) return false;
  const ElementType stored = stored_type(header.metric, header.source_type);
  const bool halved = stored == ElementType::f32 && header.type == ElementType::f16;
  return (header.type == stored || halved) && header.reduction == reduction_of(manifest);
}

/// Returns the header of the second copy that the manifest describes.
SecondCopyHeader read_header(std::span<const std::byte> begin, const Manifest& manifest,
                             const std::string& source) {
  SecondCopyHeader header;
  std::memcpy(&header, begin.data(), sizeof(header));
  if (header.magic != kSecondCopy.magic) {
    throw Error("{} is no second copy of vectors: it begins with {:#018x}", source, header.magic);
  }
  require_format_version(header.format_version, source);
  const auto damaged = [&source] {
    return Error("{} is damaged: restore the file or build the index again", source);
  };
  if (header.header_checksum != checksum_of(header) || !is_known(header)) throw damaged();
  if (header.header_checksum != manifest.second_copy->header_checksum ||
      header.rows != manifest.count || header.dimension != manifest.dimension ||
      header.dataset_checksum != manifest.dataset.xxh3) {
    throw Error(
        "{} is the second copy of another index ({} rows of dimension {}): build the index again",
        source, header.rows, header.dimension);
  }
  const SecondCopyGeometry geometry = second_copy_geometry(manifest);
  if (!can_be_reduced(header, manifest) || header.type != manifest.second_copy->type ||
      header.parameters != reduction_parameters(header.reduction, header.dimension) ||
      header.row_bytes != geometry.row_bytes() || header.rows_begin != geometry.offset_of(0)) {
    throw damaged();
  }
  return header;
}

SecondCopyFacts read_facts(const SecondCopyHeader& header, std::span<const std::byte> begin,
                           const std::string& source) {
  SecondCopyFacts facts{.metric = header.metric,
                        .source_type = header.source_type,
                        .type = header.type,
                        .reduction = header.reduction,
                        .parameters = std::vector<float>(header.parameters)};
  std::memcpy(facts.parameters.data(), begin.data() + kSecondCopyBlock,
              facts.parameters.size() * sizeof(float));
  const bool finite =
      std::ranges::all_of(facts.parameters, [](float value) { return std::isfinite(value); });
  if (checksum_of(facts.parameters) == header.parameters_checksum && finite) return facts;
  throw Error(
      "{}: the parameters of its reduction are damaged; restore the file or build the index again",
      source);
}

/// Returns the node's copy of an extent; null: it has none.
const ExtentCopy* copy_on(const PlacedExtent& extent, std::uint32_t node) {
  const auto copies = std::span(extent.copies).first(extent.copy_count);
  const auto own = std::ranges::find(copies, node, &ExtentCopy::node);
  return own == copies.end() ? nullptr : &*own;
}

/// Returns how many rows are written, read or checked at a time.
std::size_t rows_per_piece(const SecondCopyGeometry& geometry) {
  return std::max<std::size_t>(kPieceBytes / geometry.row_bytes(), 1);
}

std::filesystem::path file_in(const std::filesystem::path& folder) {
  return folder / kSecondCopyFile;
}

InputFile open_file(const std::filesystem::path& folder) {
  const std::filesystem::path path = file_in(folder);
  if (std::filesystem::exists(path)) return InputFile(path.string());
  throw Error(
      "'{}' is missing: the index has fewer bits than its data, and searches rank their "
      "candidates again by this second copy; restore the file or build the index again",
      path.string());
}

}  // namespace

std::uint32_t reduction_parameters(ReductionKind kind, std::uint32_t dimension) {
  return kind == ReductionKind::bits ? dimension : 1;
}

SecondCopyGeometry::SecondCopyGeometry(ElementType type, std::uint32_t dimension,
                                       std::uint64_t rows, std::uint64_t rows_begin)
    : rows_(rows),
      rows_begin_(rows_begin),
      vector_bytes_(static_cast<std::uint32_t>(packed_bytes(type, dimension))),
      row_bytes_(
          static_cast<std::uint32_t>(round_up(vector_bytes_ + kChecksumBytes, kRowAlignment))) {}

bool SecondCopyGeometry::is_sound(NodeId row, const std::byte* bytes) const {
  return load_unaligned<std::uint32_t>(bytes + vector_bytes_) ==
         checksum_of(row, bytes, vector_bytes_);
}

void SecondCopyGeometry::encode(NodeId row, const std::byte* vector, std::byte* out) const {
  std::memcpy(out, vector, vector_bytes_);
  const std::uint32_t checksum = checksum_of(row, vector, vector_bytes_);
  std::memcpy(out + vector_bytes_, &checksum, sizeof(checksum));
  const std::size_t end = vector_bytes_ + sizeof(checksum);
  std::fill(out + end, out + row_bytes_, std::byte{0});
}

SecondCopyGeometry second_copy_geometry(const Manifest& manifest) {
  return {manifest.second_copy->type, manifest.dimension, manifest.count,
          rows_begin_of(reduction_parameters(reduction_of(manifest), manifest.dimension))};
}

SecondCopyEntry second_copy_entry(const SecondCopyFacts& facts, const Manifest& manifest) {
  return {.type = facts.type, .header_checksum = header_of(facts, manifest).header_checksum};
}

void require_whole_rows(const Manifest& manifest, std::string_view source) {
  if (!manifest.second_copy || !manifest.placement) return;
  const SecondCopyGeometry geometry = second_copy_geometry(manifest);
  for (const PlacedExtent& extent : manifest.placement->regions[kSecondCopyRegion].extents()) {
    const bool at_row = extent.begin > geometry.offset_of(0) &&
                        (extent.begin - geometry.offset_of(0)) % geometry.row_bytes() == 0;
    if (extent.begin == 0 || at_row) continue;
    throw Error(
        "{}: the placement cuts a row of the second copy in two, at offset {}: place the index "
        "again with 'farvec place'",
        source, extent.begin);
  }
}

SecondCopyForm::SecondCopyForm(std::span<const std::byte> begin, const Manifest& manifest,
                               const std::string& source)
    : header_(read_header(begin, manifest, source)),
      facts_(read_facts(header_, begin, source)),
      geometry_(second_copy_geometry(manifest)) {}

std::vector<std::byte> SecondCopyForm::begin() const {
  return begin_of(header_, facts_.parameters);
}

void SecondCopyForm::require_same(std::span<const std::byte> begin,
                                  const std::string& source) const {
  if (begin.size() >= sizeof(header_) &&
      std::memcmp(begin.data(), &header_, sizeof(header_)) == 0) {
    return;
  }
  throw Error("{} is not the second copy of this index", source);
}

void write_second_copy(const std::filesystem::path& folder, const Manifest& manifest,
                       const SecondCopyFacts& facts, const VectorView& rows,
                       const std::function<void(std::uint64_t bytes)>& on_chunk) {
  FARVEC_CHECK(facts.parameters.size() == reduction_parameters(facts.reduction, rows.dimension));
  if (rows.count != manifest.count || rows.dimension != manifest.dimension ||
      rows.type != facts.type) {
    throw Error("a second copy of {} rows of {} x {} is none of '{}', which has {} of {}",
                rows.count, rows.dimension, to_string(rows.type), folder.string(), manifest.count,
                manifest.dimension);
  }
  const SecondCopyHeader header = header_of(facts, manifest);
  FARVEC_CHECK(manifest.second_copy &&
               manifest.second_copy->header_checksum == header.header_checksum);
  const SecondCopyGeometry geometry = second_copy_geometry(manifest);
  OutputFile file(file_in(folder).string(), geometry.file_bytes());
  const std::vector<std::byte> begin = begin_of(header, facts.parameters);
  file.append(begin.data(), begin.size());
  const std::size_t piece = rows_per_piece(geometry);
  std::vector<std::byte> bytes(piece * geometry.row_bytes());
  for (std::size_t first = 0; first < rows.count; first += piece) {
    const std::size_t count = std::min(piece, rows.count - first);
    for (std::size_t i = 0; i < count; ++i) {
      geometry.encode(static_cast<NodeId>(first + i), rows.row(first + i),
                      bytes.data() + i * geometry.row_bytes());
    }
    file.append(bytes.data(), count * geometry.row_bytes());
    if (on_chunk) on_chunk(count * geometry.row_bytes());
  }
  file.commit();
}

void copy_second_copy(const std::filesystem::path& from, const Manifest& manifest,
                      const std::filesystem::path& to) {
  if (!manifest.second_copy) return;
  const SecondCopyFile second(from, manifest);
  OutputFile out(file_in(to).string(), second.geometry().file_bytes());
  const std::vector<std::byte> begin = second.form().begin();
  out.append(begin.data(), begin.size());
  second.for_each_piece(
      [&](std::span<const std::byte> rows) { out.append(rows.data(), rows.size()); });
  out.commit();
}

SecondCopyFile::SecondCopyFile(const std::filesystem::path& folder, const Manifest& manifest)
    : file_(open_file(folder)), form_(read_form(manifest)) {
  if (file_.size() == geometry().file_bytes()) return;
  throw Error(
      "'{}' has {} bytes, and its {} rows need {}: it is {}; restore the file or build the "
      "index again",
      path(), file_.size(), geometry().rows(), geometry().file_bytes(),
      file_.size() < geometry().file_bytes() ? "cut short" : "too long");
}

SecondCopyForm SecondCopyFile::read_form(const Manifest& manifest) const {
  std::vector<std::byte> begin(second_copy_geometry(manifest).offset_of(0));
  if (file_.size() < begin.size()) {
    throw Error(
        "'{}' has {} bytes, less than the {} before its rows: restore the file or build the index "
        "again",
        path(), file_.size(), begin.size());
  }
  file_.read_at(0, begin.data(), begin.size());
  return {begin, manifest, fmt::format("'{}'", path())};
}

void SecondCopyFile::read_rows(std::uint64_t first, std::span<std::byte> rows) const {
  file_.read_at(geometry().offset_of(static_cast<NodeId>(first)), rows.data(), rows.size());
  const std::size_t count = rows.size() / geometry().row_bytes();
  for (std::size_t i = 0; i < count; ++i) {
    const auto row = static_cast<NodeId>(first + i);
    if (geometry().is_sound(row, rows.data() + i * geometry().row_bytes())) continue;
    throw Error(
        "'{}': row {} is damaged, its checksum does not match; restore the file or build "
        "the index again",
        path(), row);
  }
}

void SecondCopyFile::load_runs(const std::vector<Run>& runs, std::span<std::byte> destination,
                               const LoadOptions& options) const {
  const std::size_t piece = rows_per_piece(geometry());
  std::vector<Run> pieces;
  for (const Run& run : runs) {
    for (std::uint64_t done = 0; done < run.rows; done += piece) {
      pieces.push_back({run.first + done, std::min<std::uint64_t>(piece, run.rows - done),
                        run.at + done * geometry().row_bytes()});
    }
  }
  parallel_for(pieces.size(), 1, resolve_threads(options.threads),
               [&](std::size_t first, std::size_t end, unsigned) {
                 for (std::size_t i = first; i < end; ++i) {
                   const std::uint64_t bytes = pieces[i].rows * geometry().row_bytes();
                   read_rows(pieces[i].first, destination.subspan(pieces[i].at, bytes));
                   if (options.on_chunk) options.on_chunk(bytes);
                 }
               });
}

void SecondCopyFile::load(std::span<std::byte> destination, const LoadOptions& options) const {
  FARVEC_CHECK(destination.size() == geometry().file_bytes());
  const std::vector<std::byte> begin = form_.begin();
  std::ranges::copy(begin, destination.begin());
  if (options.on_chunk) options.on_chunk(begin.size());
  load_runs({{0, geometry().rows(), geometry().offset_of(0)}}, destination, options);
}

void SecondCopyFile::load_share(const RegionPlacement& placement, std::uint32_t node,
                                std::span<std::byte> destination,
                                const LoadOptions& options) const {
  FARVEC_CHECK(destination.size() == placement.node_bytes(node));
  const std::vector<std::byte> begin = form_.begin();
  // The node that has the first extent has all of it, and the others have the header.
  const bool has_first = copy_on(placement.extents().front(), node) != nullptr;
  const std::size_t bytes = has_first ? begin.size() : kSecondCopyBlock;
  std::copy_n(begin.begin(), bytes, destination.begin());
  if (options.on_chunk) options.on_chunk(bytes);
  const std::uint64_t rows_begin = geometry().offset_of(0);
  std::vector<Run> runs;
  for (std::uint32_t i = 0; i < placement.extents().size(); ++i) {
    const PlacedExtent& extent = placement.extents()[i];
    const ExtentCopy* const own = copy_on(extent, node);
    if (own == nullptr) continue;
    const std::uint64_t from = std::max(extent.begin, rows_begin);
    runs.push_back({(from - rows_begin) / geometry().row_bytes(),
                    (placement.end_of(i) - from) / geometry().row_bytes(),
                    own->offset + (from - extent.begin)});
  }
  load_runs(runs, destination, options);
}

void SecondCopyFile::verify() const {
  for_each_piece([](std::span<const std::byte>) {});
}

void SecondCopyFile::for_each_piece(
    const std::function<void(std::span<const std::byte>)>& take) const {
  const std::size_t piece = rows_per_piece(geometry());
  std::vector<std::byte> bytes(piece * geometry().row_bytes());
  for (std::uint64_t first = 0; first < geometry().rows(); first += piece) {
    const std::size_t count = std::min<std::uint64_t>(piece, geometry().rows() - first);
    const std::span<std::byte> rows(bytes.data(), count * geometry().row_bytes());
    read_rows(first, rows);
    take(rows);
  }
}

}  // namespace farvec::layout
