#include "dataset/idx_file.h"

#include <gmock/gmock.h>
#include <zlib.h>

#include "dataset/vector_set.h"
#include "tests/unit/data_sets.h"
#include "tests/unit/dataset/test_files.h"
#include "tests/unit/fifo.h"

namespace farvec::dataset {
namespace {

using ::testing::HasSubstr;

constexpr const char* kFashion = "/usr/share/datasets/fashion-mnist/train-images-idx3-ubyte.gz";

/// 3 images of 2 x 2.
std::string idx_text(char type = 0x08, char rows = 3) {
  std::string text{'\0', '\0', type, '\3'};
  for (const char size : {rows, '\2', '\2'}) text += std::string(3, '\0') + size;
  for (char i = 0; i < 12; ++i) text += i;
  return text;
}

std::string gzip(const std::string& path, const std::string& text) {
  const gzFile file = gzopen(path.c_str(), "wb");
  gzwrite(file, text.data(), static_cast<unsigned>(text.size()));
  gzclose(file);
  return path;
}

std::string load_error(const std::string& path) {
  return message_of([&] { load(path); });
}

TEST(IdxFile, ReadsPlainAndCompressed) {
  const TemporaryFolder folder;
  for (const auto& path : {gzip(folder.file("a-ubyte.gz"), idx_text()),
                           Bytes().add_text(idx_text()).write(folder.file("a-idx3-ubyte"))}) {
    const auto reader = open_vectors(path);
    EXPECT_EQ(reader->info().count, 3u);
    EXPECT_EQ(reader->info().dimension, 4u);
    std::byte row[4];
    for (const std::size_t i : {2u, 0u, 1u}) {  // backwards too
      reader->read_rows(i, 1, row);
      EXPECT_EQ(static_cast<std::size_t>(row[1]), 4 * i + 1);
    }
  }
  EXPECT_EQ(load(gzip(folder.file("b.gz"), idx_text(0x09))).type(), ElementType::i8);
}

TEST(IdxFile, RefusesLyingHeaders) {
  const TemporaryFolder folder;
  EXPECT_THAT(load_error(gzip(folder.file("a.gz"), idx_text(0x08, 4))), HasSubstr("truncated"));
  EXPECT_THAT(load_error(gzip(folder.file("a.gz"), idx_text(0x08, 2))), HasSubstr("goes on after"));
  EXPECT_THAT(load_error(gzip(folder.file("a.gz"), idx_text(0x08, 0))), HasSubstr("no rows"));
  EXPECT_THAT(load_error(gzip(folder.file("a.gz"), idx_text(0x0d))), HasSubstr("not an IDX"));
  EXPECT_THAT(load_error(gzip(folder.file("a.gz"), "some text")), HasSubstr("not an IDX"));
  std::string huge = idx_text();
  huge[4] = '\x40';
  EXPECT_THAT(load_error(gzip(folder.file("a.gz"), huge)), HasSubstr("cannot hold"));
}

TEST(IdxFile, RefusesDamagedStream) {
  const TemporaryFolder folder;
  const auto path = gzip(folder.file("a.gz"), idx_text());
  std::filesystem::resize_file(path, std::filesystem::file_size(path) - 5);
  EXPECT_NE(load_error(path), "");
  std::filesystem::resize_file(path, 0);
  EXPECT_THAT(load_error(path), HasSubstr("truncated"));
}

TEST(IdxFile, ReadsFashionMnistOrSkips) {
  if (const auto why = tests::no_data(kFashion); !why.empty()) GTEST_SKIP() << why;
  const auto set = load(kFashion);
  EXPECT_EQ(set.count(), 60'000u);
  EXPECT_EQ(set.dimension(), 784u);
  EXPECT_EQ(set.type(), ElementType::u8);
}

TEST(IdxFile, DoesNotWaitForTheWriterOfAFifo) {
  const TemporaryFolder folder;
  const std::string path = folder.file("a-ubyte.gz");
  EXPECT_THAT(tests::error_with_fifo(path, [&] { open_vectors(path); }),
              HasSubstr("not a regular file"));
}

}  // namespace
}  // namespace farvec::dataset
