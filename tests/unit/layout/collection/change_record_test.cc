#include "layout/collection/change_record.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <limits>

#include "base/error.h"
#include "base/memory.h"
#include "tests/unit/layout/collection/stored_rows.h"
#include "tests/unit/message_of.h"

namespace farvec::layout {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using tests::message_of;

constexpr ElementType kTypes[] = {ElementType::f32, ElementType::f16, ElementType::u8,
                                  ElementType::i8};

void append_little_endian(std::vector<std::byte>& bytes, std::uint64_t value, int width) {
  for (int i = 0; i < width; ++i) bytes.push_back(static_cast<std::byte>(value >> (8 * i)));
}

/// Byte by byte, as docs/format.md says.
std::vector<std::byte> expected_record(RowChangeKind kind, std::uint64_t version,
                                       const std::vector<std::uint64_t>& ids,
                                       const VectorView& rows) {
  std::vector<std::byte> bytes;
  append_little_endian(bytes, 1, 2);
  append_little_endian(bytes, static_cast<std::uint64_t>(kind), 1);
  append_little_endian(bytes, static_cast<std::uint64_t>(rows.type), 1);
  append_little_endian(bytes, rows.dimension, 4);
  append_little_endian(bytes, version, 8);
  append_little_endian(bytes, ids.size(), 4);
  append_little_endian(bytes, 0, 4);
  for (const std::uint64_t id : ids) append_little_endian(bytes, id, 8);
  for (std::size_t i = 0; i < rows.count; ++i) {
    bytes.insert(bytes.end(), rows.row(i), rows.row(i) + rows.row_bytes());
  }
  return bytes;
}

void expect_changes(const RowChanges& changes, std::uint64_t version,
                    const std::vector<std::uint64_t>& ids, const VectorView& rows) {
  EXPECT_EQ(changes.version, version);
  EXPECT_EQ(changes.last_version(), version + ids.size() - 1);
  EXPECT_EQ(changes.ids, ids);
  ASSERT_EQ(changes.rows.count, rows.count);
  EXPECT_EQ(changes.rows.dimension, rows.dimension);
  EXPECT_EQ(changes.rows.type, rows.type);
  for (std::size_t i = 0; i < rows.count; ++i) {
    EXPECT_EQ(std::memcmp(changes.rows.row(i), rows.row(i), rows.row_bytes()), 0) << i;
  }
}

std::vector<std::byte> insert_bytes(std::uint64_t version, std::size_t count,
                                    const StoredShape& shape, std::size_t gap = 0) {
  const StoredRows rows(count, shape.dimension, shape.type, gap);
  return joined(RowChangeRecord::insert(version, random_ids(count), rows.view()).parts());
}

Tuples some_tuples(const Schema& schema, std::size_t count) {
  Tuples tuples;
  for (std::size_t i = 0; i < count; ++i) {
    tuples.append(schema, std::vector<Value>{std::int64_t(i), std::string(i * 3, 'x')});
  }
  return tuples;
}

TEST(RowChangeRecord, BringsAttributes) {
  const Schema schema = parse_schema("a: i64, s: string");
  const StoredRows rows(5, 3, ElementType::u8, 0);
  const Tuples tuples = some_tuples(schema, 7);
  const auto ids = random_ids(5);
  const auto bytes =
      joined(RowChangeRecord::insert(9, ids, rows.view(), tuples.view().part(2, 5)).parts());
  const RowChanges changes = decode_row_changes(bytes, {ElementType::u8, 3, schema}, "log");
  EXPECT_EQ(changes.kind, RowChangeKind::attributed_insert);
  expect_changes(changes, 9, ids, rows.view());
  ASSERT_EQ(changes.attributes().count(), 5u);
  for (std::size_t i = 0; i < 5; ++i) {
    EXPECT_EQ(Tuple(changes.attributes().row(i)).text(1), std::string((i + 2) * 3, 'x'));
  }
}

TEST(RowChangeRecord, UpdatesAttributesAlone) {
  const Schema schema = parse_schema("a: i64, s: string");
  const Tuples tuples = some_tuples(schema, 7);
  const auto ids = random_ids(5);
  const auto bytes = joined(RowChangeRecord::update(9, ids, tuples.view().part(2, 5)).parts());
  EXPECT_EQ(bytes.size(), sizeof(RowChangeHeader) + 5 * (8 + 4) + tuples.ends[6] - tuples.ends[1]);
  const RowChanges changes = decode_row_changes(bytes, {ElementType::u8, 3, schema}, "log");
  EXPECT_EQ(changes.kind, RowChangeKind::update);
  EXPECT_EQ(changes.ids, ids);
  EXPECT_EQ(changes.last_version(), 13u);
  EXPECT_EQ(changes.rows.count, 0u);
  ASSERT_EQ(changes.attributes().count(), 5u);
  for (std::size_t i = 0; i < 5; ++i) {
    EXPECT_EQ(Tuple(changes.attributes().row(i)).text(1), std::string((i + 2) * 3, 'x'));
  }
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    const std::vector<std::byte> part(bytes.begin(),
                                      bytes.begin() + static_cast<std::ptrdiff_t>(length));
    EXPECT_THROW((void)decode_row_changes(part, {ElementType::u8, 3, schema}, "log"), Error);
  }
  EXPECT_THROW((void)decode_row_changes(bytes, {ElementType::u8, 3, parse_schema("a: i64")}, "log"),
               Error);
}

TEST(RowChangeRecord, FitsAttributesThatAreLong) {
  const Schema schema = parse_schema("a: i64, s: string");
  Tuples tuples;
  for (int i = 0; i < 40; ++i) {
    tuples.append(schema, std::vector<Value>{std::int64_t{1}, std::string(60'000, 'x')});
  }
  const std::uint32_t fit = changes_per_record(1000, tuples.view());
  EXPECT_EQ(fit, (kMostChangeBytes - sizeof(RowChangeHeader)) /
                     (sizeof(std::uint64_t) + 1000 + sizeof(std::uint32_t) + tuples.ends[0]));
  EXPECT_EQ(changes_per_record(1000, tuples.view().part(3, 2)), 2u);
  EXPECT_EQ(changes_per_record(1000, {}), changes_per_record(1000));
}

TEST(RowChangeRecord, WithDamagedAttributesIsRefused) {
  const Schema schema = parse_schema("a: i64, s: string");
  const StoredShape shape{ElementType::u8, 3, schema};
  const StoredRows rows(4, 3, ElementType::u8, 0);
  const auto ids = random_ids(4);
  const Tuples tuples = some_tuples(schema, 4);
  const auto sound = joined(RowChangeRecord::insert(9, ids, rows.view(), tuples.view()).parts());
  const std::size_t begin = sizeof(RowChangeHeader) + 4 * 8 + 4 * 3;
  const auto refuses = [&](const std::vector<std::byte>& bytes, std::string_view what) {
    try {
      (void)decode_row_changes(bytes, shape, "log");
      ADD_FAILURE() << what;
    } catch (const Error& error) {
      EXPECT_NE(std::string_view(error.what()).find("restore the log"), std::string_view::npos);
    }
  };
  for (std::size_t end = begin; end < sound.size(); ++end) {
    refuses({sound.begin(), sound.begin() + static_cast<std::ptrdiff_t>(end)}, "truncated");
  }
  for (std::size_t at = begin; at < begin + 16; ++at) {
    auto bytes = sound;
    bytes[at] ^= std::byte{0x40};
    refuses(bytes, "an end");
  }
  auto longer = sound;
  longer.push_back({});
  refuses(longer, "a byte too many");
  EXPECT_THROW((void)decode_row_changes(sound, {ElementType::u8, 3}, "log"), Error);
}

TEST(RowChangeRecord, HasTheBytesOfTheFormatAndComesBack) {
  for (const ElementType type : kTypes) {
    for (const std::uint32_t dimension : {1u, 3u, 17u, 96u}) {
      for (const std::size_t count : {1u, 2u, 37u}) {
        for (const std::size_t gap : {0u, 5u}) {
          const StoredRows rows(count, dimension, type, gap);
          const auto ids = random_ids(count);
          const auto record = RowChangeRecord::insert(9, ids, rows.view());
          const auto bytes = joined(record.parts());
          ASSERT_EQ(bytes, expected_record(RowChangeKind::insert, 9, ids, rows.view()));
          const RowChanges changes = decode_row_changes(bytes, {type, dimension}, "log");
          EXPECT_EQ(changes.kind, RowChangeKind::insert);
          expect_changes(changes, 9, ids, rows.view());
        }
      }
    }
  }
}

TEST(RowChangeRecord, OfErasesHasNoRows) {
  for (const std::size_t count : {1u, 2u, 1000u}) {
    const auto ids = random_ids(count);
    const auto bytes = joined(RowChangeRecord::erase(70, ids).parts());
    ASSERT_EQ(bytes, expected_record(RowChangeKind::erase, 70, ids, {}));
    const RowChanges changes = decode_row_changes(bytes, {ElementType::f16, 12}, "log");
    EXPECT_EQ(changes.kind, RowChangeKind::erase);
    expect_changes(changes, 70, ids, {});
  }
}

TEST(RowChangeRecord, BorrowsRows) {
  const StoredRows rows(20, 8, ElementType::f32);
  const auto ids = random_ids(20);
  const auto record = RowChangeRecord::insert(1, ids, rows.view());
  ASSERT_EQ(record.parts().size(), 3u);
  EXPECT_EQ(static_cast<const void*>(record.parts()[1].data()), ids.data());
  EXPECT_EQ(record.parts()[2].data(), rows.view().data);
}

TEST(RowChangeRecord, IsReadAtAnyAddress) {
  const StoredShape shape{ElementType::f32, 3};
  const auto bytes = insert_bytes(4, 5, shape);
  const StoredRows rows(5, 3, ElementType::f32);
  for (std::size_t shift = 0; shift < 8; ++shift) {
    std::vector<std::byte> memory(shift + bytes.size());
    std::copy(bytes.begin(), bytes.end(), memory.begin() + static_cast<std::ptrdiff_t>(shift));
    const auto record = std::span<const std::byte>(memory).subspan(shift);
    expect_changes(decode_row_changes(record, shape, "log"), 4, random_ids(5), rows.view());
  }
}

TEST(RowChangeRecord, HoldsAsManyChangesAsFit) {
  for (const std::size_t row_bytes : {0u, 1u, 512u, 16384u}) {
    const std::uint64_t count = changes_per_record(row_bytes);
    EXPECT_LE(sizeof(RowChangeHeader) + count * (8 + row_bytes), kMostChangeBytes);
    EXPECT_GT(sizeof(RowChangeHeader) + (count + 1) * (8 + row_bytes), kMostChangeBytes);
  }
  const std::size_t more = changes_per_record(0) + 1;
  const auto record = expected_record(RowChangeKind::erase, 1, random_ids(more), {});
  EXPECT_THAT(message_of([&] {
                (void)decode_row_changes(record, {ElementType::u8, 1}, "log");
              }),
              HasSubstr("more than 1048576"));
  const std::size_t most = changes_per_record(128);
  EXPECT_NO_THROW((void)decode_row_changes(insert_bytes(1, most, {ElementType::u8, 128}),
                                           {ElementType::u8, 128}, "log"));
}

/// Who is told that a record is whole gets exactly what the bytes say.
void expect_refused_or_said(const std::vector<std::byte>& bytes, const StoredShape& shape) {
  RowChanges changes;
  try {
    changes = decode_row_changes(bytes, shape, "log");
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), testing::StartsWith("log"));
    return;
  }
  EXPECT_EQ(expected_record(changes.kind, changes.version, changes.ids, changes.rows), bytes);
}

TEST(RowChangeRecord, EveryFlippedBitIsRefusedOrSaid) {
  for (const ElementType type : kTypes) {
    const StoredShape shape{type, 3};
    const StoredRows rows(3, 3, type);
    for (auto bytes : {insert_bytes(258, 3, shape),
                       joined(RowChangeRecord::erase(258, random_ids(3)).parts())}) {
      for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
        bytes[bit / 8] ^= std::byte{1} << (bit % 8);
        expect_refused_or_said(bytes, shape);
        bytes[bit / 8] ^= std::byte{1} << (bit % 8);
      }
    }
  }
}

TEST(RowChangeRecord, EveryOtherLengthIsRefused) {
  const StoredShape shape{ElementType::f16, 5};
  const auto whole = insert_bytes(1, 4, shape);
  for (std::size_t length = 0; length < whole.size() + 20; ++length) {
    if (length == whole.size()) continue;
    auto bytes = whole;
    bytes.resize(length);
    EXPECT_THROW((void)decode_row_changes(bytes, shape, "log"), Error) << length;
  }
}

std::string error_of_header(const std::function<void(RowChangeHeader&)>& change) {
  auto bytes = insert_bytes(7, 4, {ElementType::u8, 6});
  auto header = load_unaligned<RowChangeHeader>(bytes.data());
  change(header);
  store_unaligned(bytes.data(), header);
  return message_of([&] {
    (void)decode_row_changes(bytes, {ElementType::u8, 6}, "'l/0.log' at 96");
  });
}

TEST(RowChangeRecord, SaysWhereAndWhatIsWrong) {
  EXPECT_EQ(error_of_header([](RowChangeHeader&) {}), "");
  const auto expect = [](const char* what, const std::function<void(RowChangeHeader&)>& change) {
    EXPECT_THAT(error_of_header(change), AllOf(HasSubstr("'l/0.log' at 96"), HasSubstr(what)));
  };
  constexpr auto kLast = std::numeric_limits<std::uint64_t>::max();
  expect("newer", [](RowChangeHeader& h) { h.format_version = 2; });
  expect("version 0", [](RowChangeHeader& h) { h.format_version = 0; });
  expect("kind 0", [](RowChangeHeader& h) { h.kind = RowChangeKind{0}; });
  expect("kind 5", [](RowChangeHeader& h) { h.kind = RowChangeKind{5}; });
  expect("another collection's", [](RowChangeHeader& h) { h.kind = RowChangeKind::update; });
  expect("another collection's", [](RowChangeHeader& h) { h.kind = RowChangeKind::erase; });
  expect("another collection's", [](RowChangeHeader& h) { h.type = ElementType::i8; });
  expect("another collection's", [](RowChangeHeader& h) { h.type = ElementType{77}; });
  expect("another collection's", [](RowChangeHeader& h) { h.dimension = 7; });
  expect("5 changes", [](RowChangeHeader& h) { h.count = 5; });
  expect("0 changes", [](RowChangeHeader& h) { h.count = 0; });
  expect("4294967295 changes", [](RowChangeHeader& h) { h.count = 0xffffffff; });
  expect("begin with version 0", [](RowChangeHeader& h) { h.version = 0; });
  expect("begin with version", [](RowChangeHeader& h) { h.version = kLast - 3; });
  expect("reserved", [](RowChangeHeader& h) { h.reserved = 1; });
  EXPECT_EQ(error_of_header([](RowChangeHeader& h) { h.version = kLast - 4; }), "");
}

TEST(RowChangeRecord, AnIdTwiceIsRefused) {
  const StoredRows rows(4, 2, ElementType::u8);
  const std::vector<std::vector<std::uint64_t>> cases{
      {1, 2, 3, 3}, {3, 1, 2, 3}, {3, 3, 1, 2}, {1, 2, 3, 1}};
  for (const auto& ids : cases) {
    for (const bool insert : {true, false}) {
      const auto bytes = insert ? joined(RowChangeRecord::insert(1, ids, rows.view()).parts())
                                : joined(RowChangeRecord::erase(1, ids).parts());
      EXPECT_THAT(message_of([&] {
                    (void)decode_row_changes(bytes, {ElementType::u8, 2}, "log");
                  }),
                  HasSubstr(ids[0] == 1 && ids[3] == 1 ? "id 1 twice" : "id 3 twice"));
    }
  }
}

/// Who reads it knows the metric, by which other rows have no distances either.
TEST(RowChangeRecord, ValuesAreTakenAsTheyAre) {
  const std::vector<std::uint64_t> ids{8, 5, 6};
  std::vector<float> rows(9, std::numeric_limits<float>::quiet_NaN());
  rows[4] = std::numeric_limits<float>::max();
  const VectorView view = packed_view(rows.data(), 3, 3, ElementType::f32);
  const auto bytes = joined(RowChangeRecord::insert(1, ids, view).parts());
  const RowChanges changes = decode_row_changes(bytes, {ElementType::f32, 3}, "log");
  EXPECT_EQ(std::memcmp(changes.rows.row(0), rows.data(), sizeof(float) * rows.size()), 0);
}

}  // namespace
}  // namespace farvec::layout
