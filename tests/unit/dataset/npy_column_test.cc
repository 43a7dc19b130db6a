#include "dataset/npy_column.h"

#include <gmock/gmock.h>

#include <cstring>

#include "tests/unit/dataset/test_files.h"

namespace farvec::dataset {
namespace {

using ::testing::HasSubstr;

class NpyColumnFile : public ::testing::Test {
 protected:
  static Bytes with_header(const std::string& descr, const std::string& shape,
                           const std::string& order = "False") {
    const std::string text =
        "{'descr': " + descr + ", 'fortran_order': " + order + ", 'shape': " + shape + ", }\n";
    return Bytes()
        .add_text("\x93NUMPY")
        .add('\1')
        .add('\0')
        .add(static_cast<std::uint16_t>(text.size()))
        .add_text(text);
  }
  std::string open_error(const Bytes& bytes) {
    const std::string path = bytes.write(folder_.file("a.npy"));
    return message_of([&] { NpyColumn column(path); });
  }
  NpyElement element(const std::string& type, std::size_t bytes) {
    Bytes file = with_header("'" + type + "'", "(1,)");
    for (std::size_t i = 0; i < bytes; ++i) file.add('\0');
    return NpyColumn(file.write(folder_.file("a.npy"))).element();
  }

  TemporaryFolder folder_;
};

TEST_F(NpyColumnFile, ReadsRowsFromAnyOn) {
  const auto path =
      with_header("'<i4'", "(4,)").add_all<std::int32_t>({7, -8, 9, 10}).write(folder_.file("a"));
  const NpyColumn column(path);
  EXPECT_EQ(column.rows(), 4u);
  std::int32_t rows[2];
  column.read(1, 2, reinterpret_cast<std::byte*>(rows));
  EXPECT_EQ(rows[0], -8);
  EXPECT_EQ(rows[1], 9);
  EXPECT_EQ(NpyColumn(with_header("'<i4'", "(0,)").write(folder_.file("b"))).rows(), 0u);
}

TEST_F(NpyColumnFile, TakesBoolsIntegersFloatsAndTimes) {
  for (const std::size_t bytes : {1, 2, 4, 8}) {
    for (const auto& [letter, kind] : {std::pair("u", NpyKind::unsigned_integer),
                                       {"i", NpyKind::signed_integer},
                                       {"f", NpyKind::floating}}) {
      if (bytes == 1 && kind == NpyKind::floating) continue;
      const std::string type = (bytes == 1 ? "|" : "<") + std::string(letter);
      const NpyElement element = this->element(type + std::to_string(bytes), bytes);
      EXPECT_EQ(element.kind, kind);
      EXPECT_EQ(element.bytes, bytes);
    }
  }
  EXPECT_EQ(element("|b1", 1).kind, NpyKind::boolean);
  for (const char* const unit : {"D", "h", "m", "s", "ms", "us", "ns"}) {
    const NpyElement element = this->element("<M8[" + std::string(unit) + "]", 8);
    EXPECT_EQ(element.kind, NpyKind::time);
    EXPECT_EQ(element.unit, unit);
  }
}

TEST_F(NpyColumnFile, RefusesOtherElements) {
  for (const char* const type :
       {"'|O'", "'<U5'", "'|S3'", "'>i8'", "'<i3'", "'<f1'", "'<f16'", "'<c8'", "'<m8[s]'", "'<M8'",
        "'<M8[]'", "'<M8[25s]'", "'<M8[Y]'", "'>M8[s]'", "'|i8'", "'<b1'", "''", "'<i'"}) {
    EXPECT_THAT(open_error(with_header(type, "(1,)").add(std::uint64_t{0})),
                HasSubstr(std::string("numpy type ") + type))
        << type;
  }
  EXPECT_THAT(
      open_error(with_header("[('x', '<f4'), ('y', '<i8')]", "(1,)").add_text("123456789012")),
      HasSubstr("numpy type '[('x''"));
}

TEST_F(NpyColumnFile, RefusesOtherShapes) {
  for (const char* const shape :
       {"()", "(3, 4)", "(3", "3", "(-3,)", "(a,)", "(,)", "(99999999999999999999999,)"}) {
    EXPECT_THAT(open_error(with_header("'<i8'", shape)), HasSubstr("one-dimensional")) << shape;
  }
  EXPECT_THAT(open_error(with_header("'<i8'", "(1,)", "True").add(std::uint64_t{0})),
              HasSubstr("Fortran"));
}

TEST_F(NpyColumnFile, RefusesLyingHeaders) {
  const auto rows = [](const char* shape) { return with_header("'<i8'", shape); };
  EXPECT_THAT(open_error(rows("(2,)").add(std::uint64_t{0})), HasSubstr("8 bytes"));
  EXPECT_THAT(open_error(rows("(1,)").add(std::uint64_t{0}).add('\0')), HasSubstr("9 bytes"));
  EXPECT_THAT(open_error(rows("(2305843009213693953,)").add(std::uint64_t{0})),
              HasSubstr("2305843009213693953 rows of 8"))
      << "whose bytes are 8 where they overflow";
  EXPECT_THAT(open_error(Bytes().add_text("\x93NUM")), HasSubstr("truncated"));
  EXPECT_THAT(open_error(Bytes().add_text("{'descr': '<i8'}")), HasSubstr("does not begin"));
  EXPECT_THAT(message_of([&] { NpyColumn column(folder_.file("no.npy")); }), HasSubstr("no.npy"));
}

}  // namespace
}  // namespace farvec::dataset
