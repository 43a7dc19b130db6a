// Seeds of the page store's targets: two pages of vertices as inserts and deletes make them, the
// records that made them, an image, and a checkpoint.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "layout/hnsw/hnsw_vertex.h"
#include "layout/store/checkpoint.h"
#include "layout/store/store_record.h"
#include "tests/fuzz/layout/store_fuzz.h"
#include "tests/fuzz/seed_files.h"

namespace farvec::fuzz {

/// As layout_hnsw_fuzz reads pages.
inline const layout::HnswShape kSeedShape{
    .page_bytes = kFuzzPageBytes, .dimension = 3, .type = ElementType::u8, .m = 2, .max_level = 4};

inline void append_bytes(std::vector<std::byte>& to, std::span<const std::byte> bytes) {
  to.insert(to.end(), bytes.begin(), bytes.end());
}

/// A page, and its changes as the log keeps them.
class SeedPage {
 public:
  explicit SeedPage(layout::PageNumber number) : number_(number), page_(kFuzzPageBytes) {
    layout::format_page(page_, number);
    change({.kind = static_cast<std::uint16_t>(layout::HnswPageKind::vertices),
            .tag = 7,
            .next = layout::kNoPage});
  }

  void change(const layout::PageChange& change) {
    if (!layout::apply_change(page_, change).ok()) throw Error("a seed's page refuses a change");
    layout::encode(change, changes_);
  }
  void add_vertex(NodeId id, std::uint8_t level) {
    const auto slot = static_cast<std::uint16_t>(layout::StorePage(page_).slots());
    const auto next = static_cast<std::uint16_t>(slot + 1);
    const std::array<std::byte, 3> vector{std::byte{1}, static_cast<std::byte>(id), std::byte{3}};
    std::vector<std::byte> element(kSeedShape.element_bytes());
    layout::encode_element(kSeedShape, {.level = level, .id = id, .neighbors = next}, vector.data(),
                           element);
    std::vector<std::byte> neighbors(kSeedShape.neighbors_bytes(level));
    layout::encode_no_neighbors({.level = level, .element = slot}, neighbors);
    change({.change = layout::ChangeKind::put, .slot = slot, .bytes = element});
    change({.change = layout::ChangeKind::put, .slot = next, .bytes = neighbors});
  }
  /// An edge of a vertex, the end of another vertex, the page on a list.
  void change_some() {
    std::array<std::byte, layout::HnswPlace::kBytes> place{};
    layout::store_place(place.data(), {1, 2});
    change({.change = layout::ChangeKind::patch,
            .slot = 1,
            .offset = static_cast<std::uint16_t>(kSeedShape.place_offset(0, 1)),
            .bytes = place});
    change({.change = layout::ChangeKind::erase, .slot = 2});
    change({.change = layout::ChangeKind::erase, .slot = 3});
    change({.change = layout::ChangeKind::set_next, .next = 9});
    change({.change = layout::ChangeKind::set_tag, .tag = 8});
  }

  layout::PageNumber number() const { return number_; }
  std::span<const std::byte> page() const { return page_; }
  std::span<const std::byte> changes() const { return changes_; }

 private:
  layout::PageNumber number_;
  std::vector<std::byte> page_;
  std::vector<std::byte> changes_;
};

/// With its length before it.
inline void append_record(std::vector<std::byte>& to, layout::StoreRecordKind kind,
                          std::initializer_list<layout::StorePart> parts) {
  const layout::StoreRecordHeader header{static_cast<std::uint32_t>(kind),
                                         static_cast<std::uint32_t>(parts.size())};
  std::vector<std::byte> record;
  append_bytes(record, std::as_bytes(std::span(&header, 1)));
  for (const layout::StorePart& part : parts) {
    const layout::StorePartHeader of{part.page, static_cast<std::uint32_t>(part.bytes.size())};
    append_bytes(record, std::as_bytes(std::span(&of, 1)));
    append_bytes(record, part.bytes);
  }
  const auto length = static_cast<RecordLength>(record.size());
  append_bytes(to, std::as_bytes(std::span(&length, 1)));
  append_bytes(to, record);
}

inline std::vector<std::byte> image_bytes(std::span<const std::byte> page) {
  const layout::PageImage image = layout::image_of(page);
  std::vector<std::byte> bytes(image.front.begin(), image.front.end());
  append_bytes(bytes, image.back);
  return bytes;
}

inline void write_store_page(const std::filesystem::path& folder, const SeedPage& seed,
                             const std::string& name) {
  const layout::PageImage image = layout::image_of(seed.page());
  const PageInput head{.front = static_cast<std::uint16_t>(image.front.size()),
                       .back = static_cast<std::uint16_t>(image.back.size())};
  std::vector<std::byte> bytes;
  append_bytes(bytes, std::as_bytes(std::span(&head, 1)));
  append_bytes(bytes, image_bytes(seed.page()));
  append_bytes(bytes, seed.changes());
  write_seed(seed_path(folder, "layout_store_page_fuzz", name), bytes);
  write_seed(seed_path(folder, "layout_hnsw_fuzz", name), seed.page());
}

inline void write_store(const std::filesystem::path& folder) {
  SeedPage one(1);
  SeedPage two(2);
  for (NodeId id = 0; id < 12; ++id) one.add_vertex(id, id % 5 == 4 ? 2 : 0);
  for (NodeId id = 12; id < 90; ++id) two.add_vertex(id, 0);
  one.change_some();
  write_store_page(folder, one, "vertices");
  write_store_page(folder, two, "full");
  const auto image = image_bytes(two.page());
  using layout::StoreRecordKind;
  std::vector<std::byte> records;
  append_record(records, StoreRecordKind::changes, {{1, one.changes()}, {2, two.changes()}});
  append_record(records, StoreRecordKind::image, {{2, image}});
  append_record(records, StoreRecordKind::changes, {{2, one.changes()}});
  write_seed(seed_path(folder, "layout_store_record_fuzz", "changes-and-image"), records);
  layout::StoreCheckpoint checkpoint{.page_bytes = kFuzzPageBytes, .redo = 1000, .pages = 3};
  layout::seal_checkpoint(checkpoint);
  for (const std::uint8_t flag : {std::uint8_t{0}, kSealCheckpoint}) {
    std::vector<std::byte> file{std::byte{flag}};
    append_bytes(file, std::as_bytes(std::span(&checkpoint, 1)));
    write_seed(seed_path(folder, "layout_checkpoint_fuzz", std::to_string(flag)), file);
  }
}

}  // namespace farvec::fuzz
