// Seeds of a collection's targets: records, a manifest, and the files of a segment.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>
#include <vector>

#include "layout/collection/out_file.h"
#include "layout/collection/segment_ids.h"
#include "layout/collection/updates_file.h"
#include "tests/fuzz/layout/collection_fuzz.h"
#include "tests/fuzz/layout/store_seeds.h"
#include "tests/fuzz/seed_files.h"

namespace farvec::fuzz {

inline void write_change(const std::filesystem::path& folder, const std::string& name,
                         const layout::RowChangeRecord& record, const VectorView& rows,
                         std::uint8_t flags = 0) {
  const auto type = static_cast<std::uint8_t>(rows.type);
  const ChangeInput head{static_cast<std::uint8_t>(type | flags),
                         static_cast<std::uint8_t>(rows.dimension)};
  std::vector<std::byte> bytes;
  append_bytes(bytes, std::as_bytes(std::span(&head, 1)));
  for (const auto part : record.parts()) append_bytes(bytes, part);
  write_seed(seed_path(folder, "layout_change_record_fuzz", name), bytes);
}

inline void write_changes(const std::filesystem::path& folder) {
  const std::vector<std::uint64_t> ids{7, 3, std::uint64_t{1} << 40};
  const std::vector<std::byte> values(ids.size() * 5 * sizeof(float), std::byte{0x3c});
  for (const ElementType type :
       {ElementType::f32, ElementType::f16, ElementType::u8, ElementType::i8}) {
    const VectorView rows = packed_view(values.data(), ids.size(), 5, type);
    write_change(folder, "insert-" + std::string(to_string(type)),
                 layout::RowChangeRecord::insert(11, ids, rows), rows);
    write_change(folder, "erase-" + std::string(to_string(type)),
                 layout::RowChangeRecord::erase(14, ids), rows);
    layout::Tuples tuples;
    for (std::size_t i = 0; i < ids.size(); ++i) {
      tuples.append(change_schema(),
                    std::vector<layout::Value>{std::int64_t(i), std::string(i, 'n'),
                                               std::vector<std::string>{"all", "new"}});
    }
    write_change(folder, "attributed-" + std::string(to_string(type)),
                 layout::RowChangeRecord::insert(11, ids, rows, tuples.view()), rows,
                 kAttributedChange);
    write_change(folder, "update-" + std::string(to_string(type)),
                 layout::RowChangeRecord::update(11, ids, tuples.view()), rows, kAttributedChange);
  }
}

/// A file of the segment, as it is and with checksums that are made right.
inline void write_segment_file_seeds(const std::filesystem::path& folder, const std::string& target,
                                     const std::filesystem::path& file) {
  std::vector<std::byte> bytes(std::filesystem::file_size(file));
  std::ifstream(file, std::ios::binary)
      .read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  for (const std::uint8_t flags : {std::uint8_t{0}, kSealSegmentFile}) {
    std::vector<std::byte> input{std::byte{flags}};
    append_bytes(input, bytes);
    write_seed(seed_path(folder, target, std::to_string(flags)), input);
  }
  std::filesystem::remove(file);
}

inline void write_segment_files(const std::filesystem::path& folder) {
  std::vector<std::uint64_t> ids;
  for (std::uint64_t row = 0; row < kFuzzSegment.rows; ++row) ids.push_back(1000 - row);
  const auto file = folder / "segment-file";
  layout::write_segment_ids(file, kFuzzSegment, ids);
  write_segment_file_seeds(folder, "layout_segment_ids_fuzz", file);
  layout::write_out_file(file, kFuzzSegment, RowSet().with(std::array<NodeId, 3>{0, 64, 69}));
  write_segment_file_seeds(folder, "layout_out_file_fuzz", file);
}

inline layout::UpdatedTuples fuzz_updates() {
  layout::Tuples tuples;
  for (const NodeId row : kFuzzUpdated) {
    tuples.append(change_schema(),
                  std::vector<layout::Value>{std::int64_t{row}, std::string("n"), {}});
  }
  return layout::UpdatedTuples().with(kFuzzUpdated, tuples.view());
}

inline void write_updates_seeds(const std::filesystem::path& folder) {
  const auto file = folder / "updates-file";
  layout::write_updates(file, kFuzzSegment, fuzz_updates());
  write_segment_file_seeds(folder, "layout_updates_file_fuzz", file);
}

/// A catalogue of two segments, of which the second has rows that are out, and with attributes some
/// that were updated.
inline void write_catalogue_seeds(const std::filesystem::path& folder,
                                  const layout::CollectionManifest& manifest,
                                  const std::string& name) {
  layout::Catalogue catalogue{
      manifest, {{11, 12, {}}, {13, 14, RowSet().with(std::array<NodeId, 3>{0, 64, 69})}}};
  if (!manifest.schema.empty()) {
    catalogue.segments[1].attributes = {.bytes = 2000, .checksum = 15};
    catalogue.segments[1].updates = fuzz_updates();
  }
  for (const std::uint8_t flags : {std::uint8_t{0}, kSealSegmentFile}) {
    std::vector<std::byte> input{std::byte{flags}};
    append_bytes(input, layout::encode_catalogue(catalogue));
    write_seed(seed_path(folder, "layout_catalogue_fuzz", name + std::to_string(flags)), input);
  }
}

inline void write_collection_seeds(const std::filesystem::path& folder) {
  write_changes(folder);
  write_segment_files(folder);
  write_updates_seeds(folder);
  layout::CollectionManifest manifest;
  manifest.dimension = 5;
  manifest.next_segment = 5;
  manifest.last_version = 20;
  manifest.schema = change_schema();
  manifest.segments = {{1, 100, 0, 0}, kFuzzSegment};
  for (const std::string& text :
       {layout::collection_to_json(manifest), layout::segment_folder_name(12),
        layout::out_file_name(12, 345), layout::updates_file_name(12, 3456)}) {
    write_seed(seed_path(folder, "layout_collection_manifest_fuzz", std::to_string(text.size())),
               std::as_bytes(std::span(text)));
  }
  write_catalogue_seeds(folder, manifest, "attributed-");
  manifest.schema = {};
  for (layout::SegmentEntry& segment : manifest.segments) {
    segment.update_version = segment.update_count = 0;
    segment.attributed = false;
  }
  write_catalogue_seeds(folder, manifest, "");
}

}  // namespace farvec::fuzz
