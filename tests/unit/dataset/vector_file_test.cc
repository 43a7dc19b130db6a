// Every format that is both written and read gives back what it got.
#include "dataset/vector_file.h"

#include <gmock/gmock.h>

#include <cstring>
#include <numeric>

#include "tests/unit/dataset/test_files.h"
#include "tests/unit/file_size_limit.h"

namespace farvec::dataset {
namespace {

using ::testing::HasSubstr;

struct Format {
  const char* name;
  ElementType type;
};

void PrintTo(const Format& format, std::ostream* out) {
  *out << format.name;
}

/// Bytes that are finite in every type: no exponent of f32 or f16 is all ones.
std::vector<std::byte> some_rows(const VectorShape& shape) {
  std::vector<std::byte> rows(shape.count * shape.row_bytes());
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = static_cast<std::byte>(i * 7 % 60);
  return rows;
}

class RoundTrip : public ::testing::TestWithParam<Format> {
 protected:
  std::string path() const { return folder_.file(GetParam().name); }

  TemporaryFolder folder_;
};

TEST_P(RoundTrip, GivesBackTheRows) {
  for (const std::uint32_t dimension : {1u, 3u, 100u, 4096u}) {
    const VectorShape shape{17, dimension, GetParam().type};
    const auto rows = some_rows(shape);
    const std::string file = folder_.file(std::to_string(dimension) + GetParam().name);
    const auto writer = create_vectors(file, shape);
    writer->append(rows.data(), 5);
    writer->append(rows.data() + 5 * shape.row_bytes(), 12);
    EXPECT_EQ(writer->finish(), 17u);

    const auto reader = open_vectors(file);
    EXPECT_EQ(reader->info().count, 17u);
    EXPECT_EQ(reader->info().dimension, dimension);
    EXPECT_EQ(reader->info().type, shape.type);
    std::vector<std::byte> back(rows.size());
    reader->read_rows(10, 7, back.data() + 10 * shape.row_bytes());
    reader->read_rows(0, 10, back.data());
    EXPECT_EQ(back, rows);
  }
}

TEST_P(RoundTrip, MayEndWithFewerRowsThanAnnounced) {
  const VectorShape shape{9, 5, GetParam().type};
  const auto rows = some_rows(shape);
  const auto writer = create_vectors(path(), shape);
  writer->append(rows.data(), 4);
  writer->finish();
  const auto reader = open_vectors(path());
  EXPECT_EQ(reader->info().count, 4u);
  std::vector<std::byte> back(4 * shape.row_bytes());
  reader->read_rows(0, 4, back.data());
  EXPECT_EQ(std::memcmp(back.data(), rows.data(), back.size()), 0);
}

TEST_P(RoundTrip, LeavesNothingWhenNotFinished) {
  const VectorShape shape{2, 5, GetParam().type};
  create_vectors(path(), shape)->append(some_rows(shape).data(), 1);
  EXPECT_EQ(folder_.entries(), 0u);
  EXPECT_THAT(message_of([&] { create_vectors(path(), shape)->finish(); }), HasSubstr("no row"));
  EXPECT_EQ(folder_.entries(), 0u);
}

TEST_P(RoundTrip, RefusesBadShapes) {
  const ElementType type = GetParam().type;
  EXPECT_NE(message_of([&] { create_vectors(path(), {0, 5, type}); }), "");
  EXPECT_NE(message_of([&] { create_vectors(path(), {1, 0, type}); }), "");
  EXPECT_NE(message_of([&] { create_vectors(path(), {1, 70000, type}); }), "");
  EXPECT_EQ(folder_.entries(), 0u);
}

TEST_P(RoundTrip, RefusesEveryTruncation) {
  const VectorShape shape{3, 4, GetParam().type};
  const auto writer = create_vectors(path(), shape);
  writer->append(some_rows(shape).data(), 3);
  writer->finish();
  const std::string file = path().substr(0, path().find(':'));
  const auto whole = std::filesystem::file_size(file);
  const std::size_t stride = 4 + shape.row_bytes();
  for (std::uintmax_t size = 0; size < whole; size += 1 + whole / 500) {
    // A .fvecs or .bvecs file that ends between two rows is a whole file with fewer rows.
    if (path().ends_with("vecs") && size > 0 && size % stride == 0) continue;
    std::filesystem::resize_file(file, whole);
    std::filesystem::resize_file(file, size);
    EXPECT_NE(message_of([&] {
                std::vector<std::byte> out(3 * shape.row_bytes());
                open_vectors(path())->read_rows(0, 3, out.data());
              }),
              "")
        << "cut to " << size << " of " << whole;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Formats, RoundTrip,
    ::testing::Values(Format{"a.fbin", ElementType::f32}, Format{"a.f16bin", ElementType::f16},
                      Format{"a.u8bin", ElementType::u8}, Format{"a.i8bin", ElementType::i8},
                      Format{"a.fvecs", ElementType::f32}, Format{"a.bvecs", ElementType::u8},
                      Format{"f4.npy", ElementType::f32}, Format{"f2.npy", ElementType::f16},
                      Format{"u1.npy", ElementType::u8}, Format{"i1.npy", ElementType::i8},
                      Format{"f4.hdf5", ElementType::f32}, Format{"u1.h5", ElementType::u8},
                      Format{"i1.hdf5:test", ElementType::i8}),
    [](const auto& instance) {
      std::string name = instance.param.name;
      for (char& c : name) c = std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
      return name;
    });

TEST(CreateVectors, RefusesTypesThatTheFormatCannotHold) {
  const TemporaryFolder folder;
  const auto create_error = [&](const char* name, ElementType type) {
    return message_of([&] { create_vectors(folder.file(name), {1, 2, type}); });
  };
  EXPECT_THAT(create_error("a.fbin", ElementType::u8), HasSubstr("cannot hold u8"));
  EXPECT_THAT(create_error("a.bvecs", ElementType::f32), HasSubstr("cannot hold f32"));
  EXPECT_THAT(create_error("a.hdf5", ElementType::f16), HasSubstr("cannot hold f16"));
  EXPECT_THAT(create_error("a.gz", ElementType::u8), HasSubstr("unknown suffix"));
  EXPECT_THAT(create_error("none/a.fbin", ElementType::f32), HasSubstr("No such file"));
}

TEST(CreateVectors, FullDiskLeavesNothingAndSaysHowMuchWasNeeded) {
  for (const char* name : {"a.fbin", "a.fvecs", "a.npy"}) {
    const TemporaryFolder folder;
    const VectorShape shape{1000, 100, ElementType::f32};
    const auto rows = some_rows(shape);
    const tests::FileSizeLimit full(5000);
    const auto message = message_of([&] {
      const auto writer = create_vectors(folder.file(name), shape);
      writer->append(rows.data(), shape.count);
      writer->finish();
    });
    EXPECT_THAT(message, HasSubstr("the file needs 40")) << name;
    EXPECT_THAT(message, HasSubstr("File too large")) << name;
    EXPECT_EQ(folder.entries(), 0u) << name;
  }
}

TEST(CreateVectors, KeepsTheOldFileUntilTheNewOneIsComplete) {
  const TemporaryFolder folder;
  const VectorShape shape{1, 2, ElementType::u8};
  const auto rows = some_rows(shape);
  const std::string path = folder.file("a.u8bin");
  auto writer = create_vectors(path, shape);
  writer->append(rows.data(), 1);
  writer->finish();
  create_vectors(path, {5, 7, ElementType::u8});
  EXPECT_EQ(open_vectors(path)->info().dimension, 2u);
}

}  // namespace
}  // namespace farvec::dataset
