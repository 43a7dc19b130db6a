#include "layout/collection/alias_file.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstring>
#include <fstream>
#include <iterator>
#include <span>
#include <vector>

#include "base/error.h"
#include "layout/collection/coverage_mark.h"
#include "layout/crc32c.h"
#include "tests/unit/temporary_folder.h"

namespace farvec::layout {
namespace {

const std::string kIndex = "1663-5-16384-1234567890abcdef";

AliasList with_own(AliasList list, std::vector<std::uint64_t> ids) {
  list.own.ids = std::move(ids);
  for (const std::uint64_t id : list.own.ids) {
    list.own.tuples.append(std::vector<std::byte>(id, std::byte{3}));
  }
  return list;
}

class AliasFile : public testing::Test {
 protected:
  std::filesystem::path path() const { return folder_.path() / kAliasFile; }
  std::vector<char> bytes() const {
    std::ifstream file(path(), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  }
  void write(const std::vector<char>& bytes) const {
    std::ofstream(path(), std::ios::binary)
        .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  }
  /// With a checksum that is right.
  void write_checked(std::vector<char> bytes) const {
    const std::uint32_t sum =
        crc32c(std::as_bytes(std::span(bytes)).first(bytes.size() - 2 * sizeof(std::uint32_t)));
    std::memcpy(bytes.data() + bytes.size() - sizeof(sum), &sum, sizeof(sum));
    write(bytes);
  }
  AliasList read() const { return read_aliases(folder_.path(), kIndex); }

  tests::TemporaryFolder folder_;
};

TEST_F(AliasFile, IsReadAsItWasWritten) {
  for (const AliasList& list : {AliasList{}, AliasList{{{7, 5}}, {}}, AliasList{{}, {3}},
                                AliasList{{{9, 5}, {7, 5}, {12, 11}}, {5, 100}},
                                with_own({{{9, 5}, {7, 5}, {12, 11}}, {5}}, {12, 7})}) {
    write_aliases(folder_.path(), kIndex, list);
    EXPECT_EQ(read(), list);
    EXPECT_EQ(bytes().size(), 128 + 16 * list.aliases.size() + 8 * list.gone.size() +
                                  16 * list.own.ids.size() + list.own.tuples.bytes.size());
  }
}

TEST_F(AliasFile, EveryByteAndEachCutIsNoticed) {
  write_aliases(folder_.path(), kIndex, with_own({{{9, 5}, {7, 5}}, {5}}, {7}));
  const std::vector<char> whole = bytes();
  for (std::size_t i = 0; i < whole.size(); ++i) {
    std::vector<char> damaged = whole;
    damaged[i] = static_cast<char>(damaged[i] ^ 1);
    write(damaged);
    EXPECT_THROW(read(), Error) << i;
    write({whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(i)});
    EXPECT_THROW(read(), Error) << i;
  }
  std::vector<char> longer = whole;
  longer.push_back(0);
  write(longer);
  EXPECT_THROW(read(), Error);
  write(whole);
  EXPECT_EQ(read().aliases.size(), 2u);
}

TEST_F(AliasFile, ThatOfAnotherIndexOrNoneIsRefused) {
  EXPECT_THROW(read(), Error);
  write_aliases(folder_.path(), kIndex + "0", {});
  EXPECT_THROW(read(), Error);
}

TEST_F(AliasFile, WhatCannotBeIsRefused) {
  for (const AliasList& list :
       {AliasList{{{5, 5}}, {}}, AliasList{{{5, 7}}, {}}, AliasList{{{7, 5}, {7, 6}}, {}},
        AliasList{{{7, 5}, {9, 7}}, {}}, AliasList{{{7, 5}}, {7}}, AliasList{{}, {7, 7}},
        with_own({{{7, 5}}, {}}, {5}), with_own({{{7, 5}}, {}}, {7, 7}),
        with_own({{{7, 5}}, {}}, {8})}) {
    write_aliases(folder_.path(), kIndex, list);
    EXPECT_THROW(read(), Error);
  }
}

TEST_F(AliasFile, TuplesThatEndElsewhereAreRefused) {
  write_aliases(folder_.path(), kIndex, with_own({{{9, 5}, {7, 5}}, {}}, {7, 9}));
  const std::vector<char> whole = bytes();
  const std::size_t ends = 120 + 2 * 16 + 2 * 8;
  for (const std::size_t place : {ends, ends + 8}) {
    for (const std::uint64_t end : {std::uint64_t{17}, ~std::uint64_t{0}}) {
      std::vector<char> other = whole;
      std::memcpy(other.data() + place, &end, sizeof(end));
      write_checked(other);
      EXPECT_THROW(read(), Error) << place << " " << end;
    }
  }
}

TEST_F(AliasFile, ThatOfAnOlderFarvecIsNamed) {
  write_aliases(folder_.path(), kIndex, {});
  std::vector<char> older = bytes();
  older[6] = '1';
  write_checked(older);
  try {
    read();
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("is an older farvec's"), std::string::npos);
  }
}

TEST_F(AliasFile, CountsThatAreTooLargeAreRefused) {
  write_aliases(folder_.path(), kIndex, {{{9, 5}, {7, 5}}, {5, 6}});
  const std::vector<char> whole = bytes();
  for (const std::uint64_t count :
       {std::uint64_t{1}, std::uint64_t{3}, std::uint64_t{1} << 60, ~std::uint64_t{0}}) {
    for (const std::size_t place : {8, 16, 24, 32}) {
      std::vector<char> other = whole;
      std::memcpy(other.data() + place, &count, sizeof(count));
      write_checked(other);
      EXPECT_THROW(read(), Error) << count;
    }
  }
}

}  // namespace
}  // namespace farvec::layout
