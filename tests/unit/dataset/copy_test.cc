#include "dataset/copy.h"

#include <gmock/gmock.h>

#include <cmath>

#include "dataset/vector_set.h"
#include "tests/unit/dataset/test_files.h"

namespace farvec::dataset {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using U32 = std::uint32_t;

std::string one_column(const TemporaryFolder& folder, const std::vector<float>& values) {
  return Bytes()
      .add(static_cast<U32>(values.size()))
      .add(U32{1})
      .add_all(values)
      .write(folder.file("in.fbin"));
}

std::vector<float> column(const std::string& path) {
  const auto set = load(path);
  std::vector<float> values;
  for (std::size_t i = 0; i < set.count(); ++i) {
    values.push_back(load_unaligned<float>(set.view().row(i)));
  }
  return values;
}

CopyOptions quiet_f32() {
  return {{}, ElementType::f32, nullptr, false, true};
}

TEST(CopyRows, CopiesAllOrRanges) {
  const TemporaryFolder folder;
  const auto reader = open_vectors(one_column(folder, {0, 1, 2, 3, 4}));
  const std::string out = folder.file("out.npy");
  EXPECT_EQ(copy_rows(*reader, out, quiet_f32()).rows, 5u);
  EXPECT_THAT(column(out), ElementsAre(0, 1, 2, 3, 4));
  CopyOptions options = quiet_f32();
  options.ranges = {{1, 3}, {4, 5}};
  EXPECT_EQ(copy_rows(*reader, out, options).rows, 3u);
  EXPECT_THAT(column(out), ElementsAre(1, 2, 4));
}

TEST(CopyRows, CopiesMoreThanOneBlock) {
  const TemporaryFolder folder;
  std::vector<float> values(5'000'000);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
  const auto reader = open_vectors(one_column(folder, values));
  copy_rows(*reader, folder.file("out.fvecs"), quiet_f32());
  EXPECT_EQ(column(folder.file("out.fvecs")), values);
}

TEST(CopyRows, RefusesOrDropsNonfiniteRows) {
  const TemporaryFolder folder;
  const auto reader = open_vectors(one_column(folder, {0, NAN, 2, INFINITY}));
  const std::string out = folder.file("out.fbin");
  EXPECT_THAT(message_of([&] { copy_rows(*reader, out, quiet_f32()); }), HasSubstr("row 1 holds"));
  EXPECT_EQ(folder.entries(), 1u);
  CopyOptions options = quiet_f32();
  options.allow_nonfinite = true;
  const auto result = copy_rows(*reader, out, options);
  EXPECT_EQ(result.rows, 2u);
  EXPECT_EQ(result.dropped, 2u);
  EXPECT_THAT(column(out), ElementsAre(0, 2));
}

TEST(CopyRows, ConvertsAndRefusesOverflow) {
  const TemporaryFolder folder;
  const auto reader = open_vectors(one_column(folder, {1, 2}));
  CopyOptions options = quiet_f32();
  options.convert = [](const std::byte* in, std::byte* out) {
    store_unaligned(out, load_unaligned<float>(in) * 2);
  };
  copy_rows(*reader, folder.file("out.fbin"), options);
  EXPECT_THAT(column(folder.file("out.fbin")), ElementsAre(2, 4));
  options.convert = [](const std::byte*, std::byte* out) { store_unaligned(out, INFINITY); };
  EXPECT_THAT(message_of([&] { copy_rows(*reader, folder.file("o.fbin"), options); }),
              HasSubstr("too large for f32"));
}

}  // namespace
}  // namespace farvec::dataset
