#include "dataset/packed_bits.h"

#include <gmock/gmock.h>

#include "dataset/copy.h"
#include "dataset/mapped_vectors.h"
#include "dataset/vector_set.h"
#include "dataset/view_reader.h"
#include "tests/unit/dataset/test_files.h"

namespace farvec::dataset {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using U8 = std::uint8_t;
using U32 = std::uint32_t;

std::unique_ptr<VectorReader> bytes_of(const std::vector<U8>& bytes, std::size_t rows,
                                       ElementType type = ElementType::u8) {
  const auto dimension = static_cast<U32>(bytes.size() / rows);
  return std::make_unique<ViewReader>(packed_view(bytes.data(), rows, dimension, type), "bytes");
}

std::vector<U8> rows_of(VectorReader& reader) {
  std::vector<U8> rows(reader.info().count * reader.info().row_bytes());
  reader.read_rows(0, reader.info().count, reinterpret_cast<std::byte*>(rows.data()));
  return rows;
}

TEST(PackedBits, OrdersHaveTheirNames) {
  EXPECT_EQ(parse_bit_order("big"), BitOrder::big);
  EXPECT_EQ(parse_bit_order("little"), BitOrder::little);
  EXPECT_THAT(message_of([] { parse_bit_order("middle"); }), HasSubstr("use big or little"));
}

TEST(PackedBits, EveryByteIsReversed) {
  for (unsigned value = 0; value < 256; ++value) {
    std::byte byte = static_cast<std::byte>(value);
    reverse_bits({&byte, 1});
    for (unsigned bit = 0; bit < 8; ++bit) {
      EXPECT_EQ(std::to_integer<unsigned>(byte) >> (7 - bit) & 1, value >> bit & 1) << value;
    }
  }
}

TEST(PackedBits, LittleBytesStayAsTheyAre) {
  const std::vector<U8> bytes{1, 2, 255, 3, 0, 128};
  const auto bits = read_packed_bits(bytes_of(bytes, 2), BitOrder::little, {});
  EXPECT_EQ(bits->info().type, ElementType::b1);
  EXPECT_EQ(bits->info().dimension, 24u);
  EXPECT_EQ(rows_of(*bits), bytes);
}

TEST(PackedBits, BigBytesAreReversedAndBack) {
  const std::vector<U8> bytes{1, 2, 0b10110000, 3, 0, 128};
  auto bits = read_packed_bits(bytes_of(bytes, 2), BitOrder::big, 20);
  EXPECT_EQ(bits->info().dimension, 20u);
  EXPECT_EQ(rows_of(*bits), (std::vector<U8>{128, 64, 0b00001101, 192, 0, 1}));
  const auto back = read_bits_as_bytes(std::move(bits), BitOrder::big);
  EXPECT_EQ(back->info().type, ElementType::u8);
  EXPECT_EQ(back->info().dimension, 3u);
  EXPECT_EQ(rows_of(*back), bytes);
}

TEST(PackedBits, RefusesADimensionThatTheBytesDoNotHold) {
  const std::vector<U8> bytes(6);
  for (const U32 dimension : {16u, 25u, 0u}) {
    EXPECT_THAT(message_of([&] { read_packed_bits(bytes_of(bytes, 2), BitOrder::big, dimension); }),
                HasSubstr("hold 17 to 24 bits"));
  }
  for (const U32 dimension : {17u, 24u}) {
    EXPECT_EQ(read_packed_bits(bytes_of(bytes, 2), BitOrder::big, dimension)->info().dimension,
              dimension);
  }
}

TEST(PackedBits, RefusesOtherElements) {
  const std::vector<U8> bytes(6);
  EXPECT_THAT(
      message_of([&] { read_packed_bits(bytes_of(bytes, 2, ElementType::i8), BitOrder::big, {}); }),
      HasSubstr("holds i8, and packed bits are u8"));
  EXPECT_THAT(message_of([&] { read_bits_as_bytes(bytes_of(bytes, 2), BitOrder::big); }),
              HasSubstr("holds u8, and vectors of bits are b1"));
}

TEST(PackedBits, BoolsBecomeBits) {
  for (const U32 dimension : {1u, 7u, 8u, 9u, 65u}) {
    std::vector<std::byte> bools(dimension);
    for (U32 i = 0; i < dimension; ++i) bools[i] = static_cast<std::byte>(i % 3 == 0 ? 1 : 0);
    std::vector<std::byte> bits(packed_bytes(ElementType::b1, dimension), std::byte{0xff});
    pack_bools(bools.data(), dimension, bits.data());
    for (U32 i = 0; i < 8 * bits.size(); ++i) {
      const bool set = (std::to_integer<unsigned>(bits[i / 8]) >> (i % 8) & 1) != 0;
      EXPECT_EQ(set, i < dimension && i % 3 == 0) << dimension << " " << i;
    }
  }
}

class BitFile : public ::testing::Test {
 protected:
  /// Two rows of nine bits.
  std::string write(U8 last) {
    return Bytes()
        .add(U32{2})
        .add(U32{9})
        .add_all<U8>({7, 1, 9, last})
        .write(folder_.file("a.b1bin"));
  }

  TemporaryFolder folder_;
};

TEST_F(BitFile, HasRowsOfWholeBytes) {
  const VectorSet set = load(write(1));
  EXPECT_EQ(set.type(), ElementType::b1);
  EXPECT_EQ(set.dimension(), 9u);
  EXPECT_EQ(std::to_integer<unsigned>(set.view().row(1)[0]), 9u);
  EXPECT_EQ(std::to_integer<unsigned>(set.view().row(1)[1]), 1u);
}

TEST_F(BitFile, RefusesAWrongSizeAndTooManyBits) {
  const auto name = folder_.file("b.b1bin");
  const auto truncated = Bytes().add(U32{2}).add(U32{9}).add_all<U8>({7, 1, 9}).write(name);
  EXPECT_THAT(message_of([&] { open_vectors(truncated); }),
              AllOf(HasSubstr("needs 12"), HasSubstr("truncated")));
  const auto wide = Bytes().add(U32{1}).add(U32{65537}).write(name);
  EXPECT_THAT(message_of([&] { open_vectors(wide); }), HasSubstr("1 to 65536"));
}

TEST_F(BitFile, RefusesBitsAfterTheLastElementWhereverTheyAreRead) {
  const std::string path = write(2);
  const std::string why = "row 1 has bits set after its last element";
  EXPECT_THAT(message_of([&] { load(path); }), HasSubstr(why));
  // Such a file was misread as a whole: no row of it is left out.
  EXPECT_THAT(message_of([&] { load(path, {.allow_nonfinite = true}); }), HasSubstr(why));
  EXPECT_THAT(message_of([&] { MappedVectors mapped(path); }), HasSubstr(why));
  const auto reader = open_vectors(path);
  EXPECT_THAT(message_of([&] {
                copy_rows(*reader, folder_.file("c.b1bin"), {{}, ElementType::b1, {}, true, true});
              }),
              HasSubstr(why));
}

TEST_F(BitFile, IsMappedAndWritten) {
  const std::string path = write(1);
  const MappedVectors mapped(path);
  EXPECT_EQ(mapped.view().row_bytes(), 2u);
  const std::string copy = folder_.file("copy.b1bin");
  const auto reader = open_vectors(path);
  EXPECT_EQ(copy_rows(*reader, copy, {{}, ElementType::b1, {}, false, true}).rows, 2u);
  EXPECT_EQ(rows_of(*open_vectors(copy)), rows_of(*reader));
}

TEST_F(BitFile, OtherFormatsHoldNoBits) {
  for (const char* name : {"a.npy", "a.hdf5"}) {
    EXPECT_THAT(message_of([&] {
                  create_vectors(folder_.file(name), {1, 8, ElementType::b1});
                }),
                HasSubstr("cannot hold bits (b1): choose .b1bin"));
  }
  for (const char* name : {"a.fvecs", "a.u8bin"}) {
    EXPECT_THAT(message_of([&] {
                  create_vectors(folder_.file(name), {1, 8, ElementType::b1});
                }),
                HasSubstr("cannot hold b1"));
  }
}

TEST_F(BitFile, RefusesAMetricOfNumbers) {
  EXPECT_THAT(message_of([&] { load(write(1), {.metric = Metric::l2}); }),
              HasSubstr("use hamming or jaccard"));
}

}  // namespace
}  // namespace farvec::dataset
