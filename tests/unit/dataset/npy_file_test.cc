#include "dataset/npy_file.h"

#include <gmock/gmock.h>

#include "dataset/npy_header.h"
#include "tests/unit/dataset/test_files.h"

namespace farvec::dataset {
namespace {

using ::testing::HasSubstr;

NpyShape parse(const std::string& text) {
  return parse_npy_dictionary(text, "a.npy");
}

TEST(NpyDictionary, ReadsWhatNumpyWrites) {
  const auto shape = parse("{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }   \n");
  EXPECT_EQ(shape.rows, 3u);
  EXPECT_EQ(shape.columns, 4u);
  EXPECT_EQ(shape.type, ElementType::f32);
  EXPECT_EQ(parse("{'shape':(1,2,),'descr':\"|u1\",'fortran_order':False}").type, ElementType::u8);
  EXPECT_EQ(parse("{'descr': '<f2', 'fortran_order': False, 'shape': (3, 4)}").type,
            ElementType::f16);
}

TEST(NpyDictionary, RefusesOthers) {
  const auto parse_error = [](const std::string& text) { return message_of([&] { parse(text); }); };
  EXPECT_THAT(parse_error("{'descr': '<f8', 'fortran_order': False, 'shape': (3, 4)}"),
              HasSubstr("'<f8'"));
  EXPECT_THAT(parse_error("{'descr': '>f4', 'fortran_order': False, 'shape': (3, 4)}"),
              HasSubstr("little-endian"));
  EXPECT_THAT(parse_error("{'descr': [('x', '<f4')], 'fortran_order': False, 'shape': (3, 4)}"),
              HasSubstr("numpy type"));
  EXPECT_THAT(parse_error("{'descr': '<f4', 'fortran_order': True, 'shape': (3, 4)}"),
              HasSubstr("Fortran"));
  for (const char* shape : {"(3,)", "()", "(3, 4, 5)", "(3, 4", "3, 4", "(-3, 4)", "(a, 4)",
                            "(99999999999999999999999, 4)"}) {
    EXPECT_THAT(
        parse_error(std::string("{'descr': '<f4', 'fortran_order': False, 'shape': ") + shape),
        HasSubstr("two-dimensional"))
        << shape;
  }
  for (const char* text : {"", "{", "{'descr'", "{'descr':", "{'descr': ", "{'descr': '"}) {
    EXPECT_NE(parse_error(text), "") << text;
  }
}

class NpyFile : public ::testing::Test {
 protected:
  static Bytes with_header(char version, const std::string& shape) {
    const std::string text = "{'descr': '|u1', 'fortran_order': False, 'shape': " + shape + "}\n";
    Bytes bytes;
    bytes.add_text("\x93NUMPY").add(version).add('\0');
    if (version == 1) {
      bytes.add(static_cast<std::uint16_t>(text.size()));
    } else {
      bytes.add(static_cast<std::uint32_t>(text.size()));
    }
    return bytes.add_text(text);
  }
  std::string open_error(const Bytes& bytes) {
    const auto path = bytes.write(folder_.file("a.npy"));
    return message_of([&] { open_vectors(path); });
  }

  TemporaryFolder folder_;
};

TEST_F(NpyFile, ReadsVersionsOneToThree) {
  for (const char version : {1, 2, 3}) {
    const auto path = with_header(version, "(2, 3)")
                          .add_all<std::uint8_t>({1, 2, 3, 4, 5, 6})
                          .write(folder_.file("a.npy"));
    std::byte row[3];
    open_vectors(path)->read_rows(1, 1, row);
    EXPECT_EQ(static_cast<int>(row[0]), 4);
  }
}

TEST_F(NpyFile, RefusesLyingHeaders) {
  EXPECT_THAT(open_error(with_header(1, "(2, 3)").add('\1')), HasSubstr("truncated"));
  EXPECT_THAT(open_error(with_header(1, "(1, 1)").add('\1').add('\1')), HasSubstr("wrong"));
  EXPECT_THAT(open_error(with_header(1, "(0, 3)")), HasSubstr("no rows"));
  EXPECT_THAT(open_error(with_header(1, "(1, 0)")), HasSubstr("dimension 0"));
  EXPECT_THAT(open_error(with_header(1, "(1, 20000)")), HasSubstr("dimension 20000"));
  EXPECT_THAT(open_error(with_header(1, "(1, 4294967297)")), HasSubstr("dimension"));
  EXPECT_THAT(open_error(with_header(1, "(18446744073709551615, 4096)")), HasSubstr("split"));
}

TEST_F(NpyFile, RefusesWhatIsNotNpy) {
  EXPECT_THAT(open_error(Bytes().add_text("\x93NUMPX0000000000")), HasSubstr("does not begin"));
  EXPECT_THAT(open_error(with_header(4, "(1, 1)").add('\1')), HasSubstr("does not begin"));
  EXPECT_THAT(open_error(Bytes().add_text("\x93NUM")), HasSubstr("truncated"));
  EXPECT_THAT(open_error(Bytes().add_text("\x93NUMPY\2").add('\0').add(~std::uint32_t{0})),
              HasSubstr("damaged"));
}

TEST(NpyHeader, HasOneLengthAndParsesBack) {
  for (const auto type : {ElementType::f32, ElementType::f16, ElementType::u8, ElementType::i8}) {
    for (const std::uint64_t rows : {1ull, 4'294'967'294ull}) {
      const std::string header = make_npy_header({rows, 4096, type});
      EXPECT_EQ(header.size(), kNpyHeaderBytes);
      const auto shape = parse(header.substr(10));
      EXPECT_EQ(shape.rows, rows);
      EXPECT_EQ(shape.columns, 4096u);
      EXPECT_EQ(shape.type, type);
    }
  }
}

}  // namespace
}  // namespace farvec::dataset
