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
  if (header.type != stored && !halved) return false;
  const bool bits = header.reduction == ReductionKind::bits;
  return bits == (manifest.stored_type == ElementType::b1);
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
  const SecondCopyGeometry geometry(facts.type, rows.dimension, rows.count,
                                    rows_begin_of(facts.parameters.size()));
  SecondCopyHeader header{.dimension = rows.dimension,
                          .rows = rows.count,
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
  const std::vector<std::byte> begin = second.begin();
  out.append(begin.data(), begin.size());
  second.for_each_piece(
      [&](std::span<const std::byte> rows) { out.append(rows.data(), rows.size()); });
  out.commit();
}

SecondCopyFile::SecondCopyFile(const std::filesystem::path& folder, const Manifest& manifest)
    : file_(open_file(folder)),
      header_(read_header(manifest)),
      facts_(read_facts()),
      geometry_(header_.type, header_.dimension, header_.rows, header_.rows_begin) {
  if (file_.size() == geometry_.file_bytes()) return;
  throw Error(
      "'{}' has {} bytes, and its {} rows need {}: it is {}; restore the file or build the "
      "index again",
      path(), file_.size(), header_.rows, geometry_.file_bytes(),
      file_.size() < geometry_.file_bytes() ? "cut short" : "too long");
}

SecondCopyHeader SecondCopyFile::read_header(const Manifest& manifest) const {
  SecondCopyHeader header;
  if (file_.size() < kSecondCopyBlock) {
    throw Error(
        "'{}' has {} bytes, less than its header: restore the file or build the index again",
        path(), file_.size());
  }
  file_.read_at(0, &header, sizeof(header));
  if (header.magic != kSecondCopy.magic) {
    throw Error("'{}' is no second copy of vectors: it begins with {:#018x}", path(), header.magic);
  }
  require_format_version(header.format_version, path());
  const auto damaged = [this] {
    return Error("'{}' is damaged: restore the file or build the index again", path());
  };
  if (header.header_checksum != checksum_of(header) || !is_known(header)) throw damaged();
  if (header.rows != manifest.count || header.dimension != manifest.dimension ||
      header.dataset_checksum != manifest.dataset.xxh3) {
    throw Error(
        "'{}' is the second copy of another index ({} rows of dimension {}): build the "
        "index again",
        path(), header.rows, header.dimension);
  }
  if (!can_be_reduced(header, manifest)) throw damaged();
  const SecondCopyGeometry geometry(header.type, header.dimension, header.rows, header.rows_begin);
  if (header.parameters != reduction_parameters(header.reduction, header.dimension) ||
      header.row_bytes != geometry.row_bytes() ||
      header.rows_begin != rows_begin_of(header.parameters)) {
    throw damaged();
  }
  return header;
}

SecondCopyFacts SecondCopyFile::read_facts() const {
  SecondCopyFacts facts{.metric = header_.metric,
                        .source_type = header_.source_type,
                        .type = header_.type,
                        .reduction = header_.reduction,
                        .parameters = std::vector<float>(header_.parameters)};
  file_.read_at(kSecondCopyBlock, facts.parameters.data(), facts.parameters.size() * sizeof(float));
  const bool finite =
      std::ranges::all_of(facts.parameters, [](float value) { return std::isfinite(value); });
  if (checksum_of(facts.parameters) == header_.parameters_checksum && finite) return facts;
  throw Error(
      "'{}': the parameters of its reduction are damaged; restore the file or build the "
      "index again",
      path());
}

void SecondCopyFile::read_rows(std::uint64_t first, std::span<std::byte> rows) const {
  file_.read_at(geometry_.offset_of(static_cast<NodeId>(first)), rows.data(), rows.size());
  const std::size_t count = rows.size() / geometry_.row_bytes();
  for (std::size_t i = 0; i < count; ++i) {
    const auto row = static_cast<NodeId>(first + i);
    if (geometry_.is_sound(row, rows.data() + i * geometry_.row_bytes())) continue;
    throw Error(
        "'{}': row {} is damaged, its checksum does not match; restore the file or build "
        "the index again",
        path(), row);
  }
}

void SecondCopyFile::load(std::span<std::byte> destination, unsigned threads) const {
  FARVEC_CHECK(destination.size() == geometry_.file_bytes());
  std::ranges::copy(begin(), destination.begin());
  parallel_for(geometry_.rows(), rows_per_piece(geometry_), resolve_threads(threads),
               [&](std::size_t first, std::size_t end, unsigned) {
                 const std::uint64_t at = geometry_.offset_of(static_cast<NodeId>(first));
                 const std::size_t bytes = (end - first) * geometry_.row_bytes();
                 read_rows(first, destination.subspan(at, bytes));
               });
}

void SecondCopyFile::verify() const {
  for_each_piece([](std::span<const std::byte>) {});
}

void SecondCopyFile::for_each_piece(
    const std::function<void(std::span<const std::byte>)>& take) const {
  const std::size_t piece = rows_per_piece(geometry_);
  std::vector<std::byte> bytes(piece * geometry_.row_bytes());
  for (std::uint64_t first = 0; first < geometry_.rows(); first += piece) {
    const std::size_t count = std::min<std::uint64_t>(piece, geometry_.rows() - first);
    const std::span<std::byte> rows(bytes.data(), count * geometry_.row_bytes());
    read_rows(first, rows);
    take(rows);
  }
}

std::vector<std::byte> SecondCopyFile::begin() const {
  return begin_of(header_, facts_.parameters);
}

void SecondCopyFile::require_same(std::span<const std::byte> begin,
                                  const std::string& source) const {
  if (begin.size() >= sizeof(header_) &&
      std::memcmp(begin.data(), &header_, sizeof(header_)) == 0) {
    return;
  }
  throw Error("{} is not the second copy '{}'", source, path());
}

}  // namespace farvec::layout
