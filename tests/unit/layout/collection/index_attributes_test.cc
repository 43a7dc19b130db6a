#include "layout/collection/index_attributes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>
#include <vector>

#include "base/input_file.h"
#include "layout/collection/segment_attributes.h"
#include "tests/unit/message_of.h"
#include "tests/unit/temporary_folder.h"

namespace farvec::layout {
namespace {

using ::testing::HasSubstr;

class IndexAttributes : public ::testing::Test {
 protected:
  IndexAttributes() {
    manifest_.count = 5;
    manifest_.dataset.xxh3 = 77;
  }
  static Tuples tuples(std::int64_t first, std::size_t rows) {
    Tuples made;
    for (std::size_t row = 0; row < rows; ++row) {
      made.append(kSchema(), std::vector<Value>{first + std::int64_t(row), {}});
    }
    return made;
  }
  static Schema kSchema() { return parse_schema("price: i64, note: string"); }
  void write(std::int64_t first) {
    write_index_attributes(folder_.path(), manifest_, kSchema(), tuples(first, 5).view());
  }
  std::string refusal() {
    return tests::message_of([&] { (void)read_index_schema(folder_.path(), manifest_); });
  }

  tests::TemporaryFolder folder_;
  Manifest manifest_;
};

TEST_F(IndexAttributes, AreThereWhenTheSchemaIs) {
  EXPECT_EQ(read_index_schema(folder_.path(), manifest_), std::nullopt);
  write(10);
  EXPECT_EQ(read_index_schema(folder_.path(), manifest_), kSchema());
  write(20);
  const SegmentAttributesFile file(folder_.path() / kSegmentAttributesFile,
                                   attributes_entry(manifest_));
  EXPECT_EQ(Tuple(file.read(kSchema()).view().row(3)).value(kSchema(), 0), Value(std::int64_t{23}));
}

TEST_F(IndexAttributes, AreOfEachRow) {
  EXPECT_THAT(tests::message_of([&] {
                write_index_attributes(folder_.path(), manifest_, kSchema(), tuples(0, 4).view());
              }),
              HasSubstr("4 rows came"));
  EXPECT_EQ(folder_.entries(), 0u);
}

TEST_F(IndexAttributes, AreCopied) {
  const tests::TemporaryFolder other;
  copy_index_attributes(folder_.path(), manifest_, other.path());
  EXPECT_EQ(other.entries(), 0u);
  write(10);
  copy_index_attributes(folder_.path(), manifest_, other.path());
  EXPECT_EQ(read_index_schema(other.path(), manifest_), kSchema());
}

TEST_F(IndexAttributes, OfOtherVectorsAreRefused) {
  write(10);
  manifest_.dataset.xxh3 = 78;
  EXPECT_THAT(refusal(), HasSubstr("of other vectors"));
  manifest_.dataset.xxh3 = 77;
  manifest_.count = 6;
  EXPECT_THAT(refusal(), HasSubstr("of other vectors"));
}

/// A kill between the two files leaves the new attributes beside the old schema.
TEST_F(IndexAttributes, OfAnotherWritingAreRefused) {
  write(10);
  write_segment_attributes(folder_.path() / kSegmentAttributesFile, attributes_entry(manifest_),
                           tuples(20, 5).view());
  EXPECT_THAT(refusal(), HasSubstr("write both anew"));
  std::filesystem::remove(folder_.path() / kSegmentAttributesFile);
  EXPECT_THAT(refusal(), HasSubstr("attributes.bin"));
}

TEST_F(IndexAttributes, AreFoundDamaged) {
  write(10);
  const std::filesystem::path path = folder_.path() / kIndexSchemaFile;
  const auto size = std::filesystem::file_size(path);
  for (std::uintmax_t at = 0; at < size; ++at) {
    std::fstream bytes(path, std::ios::in | std::ios::out | std::ios::binary);
    bytes.seekg(static_cast<std::streamoff>(at));
    const char was = static_cast<char>(bytes.get());
    bytes.seekp(static_cast<std::streamoff>(at));
    bytes.put(static_cast<char>(was ^ 4)).flush();
    EXPECT_THAT(refusal(), HasSubstr("schema.bin")) << at;
    bytes.seekp(static_cast<std::streamoff>(at));
    bytes.put(was);
  }
  for (const std::uintmax_t length : {std::uintmax_t{0}, std::uintmax_t{63}, size - 1}) {
    std::filesystem::resize_file(path, length);
    EXPECT_THAT(refusal(), HasSubstr("schema.bin")) << length;
  }
}

/// What a memory node holds of both files.
class HeldIndexAttributes : public IndexAttributes {
 protected:
  HeldIndexAttributes() {
    write(10);
    schema_ = bytes_of(kIndexSchemaFile);
    attributes_ = bytes_of(kSegmentAttributesFile);
  }
  std::vector<std::byte> bytes_of(const char* name) const {
    const std::string text = read_text((folder_.path() / name).string(), 1 << 20, "a file");
    const auto bytes = std::as_bytes(std::span(text));
    return {bytes.begin(), bytes.end()};
  }
  IndexAttributesBytes held() const { return {schema_, attributes_}; }
  /// Both ways of reading refuse what is wrong.
  std::string decoding() const {
    const std::string decoded = tests::message_of([&] {
      const Schema schema = decode_index_schema(held(), manifest_, "the index at X");
      (void)decode_index_tuples(held(), manifest_, schema, "the index at X");
    });
    const std::string checked =
        tests::message_of([&] { require_index_attributes(held(), manifest_, "the index at X"); });
    EXPECT_EQ(decoded.empty(), checked.empty()) << decoded << checked;
    return decoded;
  }

  std::vector<std::byte> schema_, attributes_;
};

TEST_F(HeldIndexAttributes, AreThoseOfTheFolder) {
  EXPECT_EQ(decoding(), "");
  EXPECT_EQ(decode_index_schema(held(), manifest_, "X"), kSchema());
  EXPECT_EQ(decode_index_tuples(held(), manifest_, kSchema(), "X").bytes, tuples(10, 5).bytes);
  const std::vector<std::uint64_t> lengths{schema_.size(), attributes_.size()};
  EXPECT_NO_THROW(require_index_files(lengths, manifest_, "X"));
}

TEST_F(HeldIndexAttributes, AreFoundDamagedInEachByte) {
  for (std::vector<std::byte>* file : {&schema_, &attributes_}) {
    for (std::byte& byte : *file) {
      byte ^= std::byte{4};
      EXPECT_THAT(decoding(), HasSubstr("of the index at X")) << (&byte - file->data());
      byte ^= std::byte{4};
    }
    for (const std::size_t length : {std::size_t{0}, std::size_t{63}, file->size() - 1}) {
      const std::vector<std::byte> whole = *file;
      file->resize(length);
      EXPECT_THAT(decoding(), HasSubstr("of the index at X")) << length;
      *file = whole;
    }
  }
}

TEST_F(HeldIndexAttributes, OfAnotherIndexOrAnotherWritingAreRefused) {
  manifest_.dataset.xxh3 = 78;
  EXPECT_THAT(decoding(), HasSubstr("of other vectors"));
  manifest_.dataset.xxh3 = 77;
  write(20);
  attributes_ = bytes_of(kSegmentAttributesFile);
  EXPECT_THAT(decoding(), HasSubstr("write both anew"));
}

TEST_F(HeldIndexAttributes, HaveLengthsThatCanBe) {
  const auto refused = [&](std::vector<std::uint64_t> lengths) {
    return !tests::message_of([&] { require_index_files(lengths, manifest_, "X"); }).empty();
  };
  const std::uint64_t schema = schema_.size();
  const std::uint64_t least = segment_tuples_begin(manifest_.count);
  EXPECT_FALSE(refused({schema, least}));
  EXPECT_TRUE(refused({schema, least - 1}));
  EXPECT_TRUE(refused({schema, least + manifest_.count * kMostTupleBytes + 1}));
  EXPECT_TRUE(refused({sizeof(IndexSchemaHeader) + kMostSchemaBytes + 1, least}));
  EXPECT_TRUE(refused({}));
  EXPECT_TRUE(refused({schema}));
  EXPECT_TRUE(refused({schema, least, 64}));
}

TEST_F(IndexAttributes, HaveRoomForTheLongestSchema) {
  std::vector<Column> columns;
  for (std::size_t i = 0; i < Schema::kMostColumns; ++i) {
    std::string name(Schema::kMostNameBytes, 'x');
    name.replace(0, 4, fmt::format("x{:03}", i));
    columns.push_back({name, ColumnType::timestamp, false, false});
  }
  EXPECT_LT(to_string(Schema(columns)).size(), kMostSchemaBytes);
}

}  // namespace
}  // namespace farvec::layout
