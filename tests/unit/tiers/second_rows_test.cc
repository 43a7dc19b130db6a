// Searches of indexes with fewer bits than their data, which rank candidates by a second copy.
#include "tiers/second_rows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/status_error.h"
#include "tests/unit/message_of.h"
#include "tests/unit/tiers/reduced_rows.h"

namespace farvec::tiers {
namespace {

struct Case {
  const char* layout;
  const char* tier;
  ElementType store = ElementType::b1;
  Metric metric = Metric::cosine;
  const char* second_tier = "";
};

std::string name_of(const testing::TestParamInfo<Case>& info) {
  std::string name = std::string(info.param.layout) + "_" + info.param.tier + "_" +
                     std::string(to_string(info.param.store)) + "_" +
                     std::string(to_string(info.param.metric)) + info.param.second_tier;
  std::erase_if(name, [](char c) { return std::isalnum(c) == 0 && c != '_'; });
  return name;
}

class SecondRowsOnTier : public ReducedRows, public testing::TestWithParam<Case> {};

TEST_P(SecondRowsOnTier, FindWhatTheOracleFindsWithOneMoreRoundOfReads) {
  const Case& asked = GetParam();
  build(asked.layout, {.type = asked.store}, asked.metric);
  open(asked.tier, asked.second_tier);
  const Found found = search(kCount);
  expect_nearest(found);
  EXPECT_EQ(found.counts.rerank_reads, std::uint64_t{kAsked} * kCount);
  const std::uint32_t row_bytes = index_->second()->geometry().row_bytes();
  EXPECT_EQ(row_bytes, kLength * 4 + 4);
  EXPECT_GE(found.counts.bytes, found.counts.rerank_reads * row_bytes);
}

TEST_P(SecondRowsOnTier, ReadAsManyRowsAsAreAskedFor) {
  const Case& asked = GetParam();
  build(asked.layout, {.type = asked.store}, asked.metric);
  open(asked.tier, asked.second_tier);
  search::BatchParameters batch;
  batch.refine = 3;
  EXPECT_EQ(search(100, batch).counts.rerank_reads, kAsked * 3 * kNearest);
  batch.refine = 0;
  EXPECT_EQ(search(100, batch).counts.rerank_reads, kAsked * 100u);
}

TEST_P(SecondRowsOnTier, AnExactSearchDoesNotAskTheIndex) {
  const Case& asked = GetParam();
  build(asked.layout, {.type = asked.store}, asked.metric);
  open(asked.tier, asked.second_tier);
  search::BatchParameters batch;
  batch.exact = true;
  const Found found = search(kNearest, batch);
  expect_nearest(found);
  EXPECT_EQ(found.counts.reads, std::uint64_t{kAsked} * kCount);
  EXPECT_EQ(found.counts.hops + found.counts.clusters, 0u);
}

INSTANTIATE_TEST_SUITE_P(
    Layouts, SecondRowsOnTier,
    testing::Values(Case{"csr", "dram"}, Case{"packed", "dram"}, Case{"padded", "dram"},
                    Case{"csr", "shm"}, Case{"csr", "emulated:rdma"}, Case{"csr", "emulated:cxl"},
                    Case{"csr", "ssd"}, Case{"packed", "ssd"}, Case{"slotted", "ssd"},
                    Case{"coupled", "dram"}, Case{"grouped", "emulated:rdma"},
                    Case{"grouped", "ssd"}, Case{"csr", "dram", ElementType::f16},
                    Case{"csr", "ssd", ElementType::i8},
                    Case{"csr", "dram", ElementType::b1, Metric::l2},
                    Case{"csr", "dram", ElementType::i8, Metric::inner_product},
                    Case{"csr", "dram", ElementType::b1, Metric::cosine, "ssd"},
                    Case{"csr", "ssd", ElementType::b1, Metric::cosine, "dram"},
                    Case{"inline", "dram", ElementType::f16},
                    Case{"slotted", "ssd", ElementType::f16}),
    name_of);

class SecondRowsBudget : public SecondRowsOnTier {
 protected:
  /// Returns what the shape's searches may keep, as the refusal of a budget of one byte says it.
  std::size_t least_budget(search::SearchShape shape) const {
    shape.disk.memory_budget = 1;
    const std::string said = tests::message_of([&] { (void)tier_->make_cores(shape); });
    const std::string before = "use --memory-budget ";
    const std::size_t at = said.find(before);
    if (at == std::string::npos) throw Error("nothing was refused: '{}'", said);
    return std::stoul(said.substr(at + before.size()));
  }

  search::SearchShape shape_of(std::uint32_t list) const {
    search::SearchShape shape{.slots = 2, .k = kNearest};
    search::set_largest(shape, choice(list));
    if (directory_->manifest().is_cluster()) shape.list = list;
    return shape;
  }
};

TEST_P(SecondRowsBudget, CountsWhatRankingAgainTakes) {
  const Case& asked = GetParam();
  build(asked.layout, {.type = asked.store}, asked.metric);
  open(asked.tier, asked.second_tier);
  search::SearchShape shape = shape_of(kCount);
  shape.disk.memory_budget = least_budget(shape);
  EXPECT_NO_THROW((void)tier_->make_cores(shape));
  EXPECT_LE(*tier_->memory_bytes(shape), *shape.disk.memory_budget);
  const Cores cores = tier_->make_cores(shape);
  dataset::GroundTruth found;
  search::BatchParameters batch;
  batch.search = search::searchable(search::SearchParameters::make(kNearest, choice(kCount)));
  (void)search::run_batch(cores, queries_->view(), batch, found);
  std::size_t kept = index_->dram_bytes();
  for (const auto& core : cores) kept += core->statistics().dram_bytes;
  const std::uint64_t rows = index_->second()->geometry().file_bytes();
  if (std::string(asked.second_tier) == "dram") kept += rows;
  EXPECT_LE(kept, *shape.disk.memory_budget);
  --*shape.disk.memory_budget;
  EXPECT_THAT(tests::message_of([&] { (void)tier_->make_cores(shape); }),
              testing::HasSubstr("for the second copy"));
}

INSTANTIATE_TEST_SUITE_P(
    Layouts, SecondRowsBudget,
    testing::Values(Case{"csr", "ssd"}, Case{"grouped", "ssd"}, Case{"slotted", "ssd"},
                    Case{"csr", "ssd", ElementType::b1, Metric::cosine, "dram"},
                    Case{"slotted", "ssd", ElementType::b1, Metric::cosine, "dram"},
                    Case{"slotted", "ssd", ElementType::f16, Metric::cosine, "emulated:rdma"}),
    name_of);

class SecondRowsTest : public ReducedRows, public testing::Test {
 protected:
  /// Changes bytes of the file of the second copy.
  void overwrite(std::uint64_t at, const std::string& bytes) const {
    std::fstream file(path() / layout::kSecondCopyFile,
                      std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(at));
    file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  }
  template <typename Body>
  static void expect_error(const Body& body, const std::string& words) {
    try {
      body();
      ADD_FAILURE() << "nothing was thrown, and not: " << words;
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find(words), std::string::npos) << error.what();
    }
  }
};

TEST_F(SecondRowsTest, InDramAllRowsCountInABudget) {
  build("csr", {.type = ElementType::b1}, Metric::cosine);
  const search::SearchShape shape{.slots = 2, .k = kNearest, .list = 50};
  open("ssd", "emulated:rdma");
  const std::size_t elsewhere = *tier_->memory_bytes(shape);
  open("ssd", "dram");
  EXPECT_EQ(*tier_->memory_bytes(shape), elsewhere + index_->second()->geometry().file_bytes());
}

TEST_F(SecondRowsTest, CandidatesComeWithTheDistancesOfTheIndex) {
  build("csr", {.type = ElementType::b1}, Metric::cosine);
  open("dram");
  search::BatchParameters batch;
  batch.candidates = true;
  const Found found = search(kCount, batch);
  EXPECT_EQ(found.counts.rerank_reads, 0u);
  const VectorView rows = stored_->view();
  for (std::size_t q = 0; q < kAsked; ++q) {
    const auto* const query = reinterpret_cast<const float*>(queries_->view().row(q));
    for (std::size_t i = 0; i < kNearest; ++i) {
      const NodeId id = found.neighbours.ids[q * kNearest + i];
      const auto* const row = reinterpret_cast<const float*>(rows.row(id));
      int differ = 0;
      for (std::uint32_t d = 0; d < kLength; ++d) differ += (query[d] > 0) != (row[d] > 0) ? 1 : 0;
      EXPECT_EQ(found.neighbours.distances[q * kNearest + i], static_cast<float>(differ));
    }
  }
}

TEST_F(SecondRowsTest, JaccardAndThresholdsOfTheDataFindTheSame) {
  for (const auto rule : {BitRule::mean, BitRule::median}) {
    for (const Metric bits : {Metric::hamming, Metric::jaccard}) {
      std::filesystem::remove_all(path());
      build("csr", {.type = ElementType::b1, .bits_metric = bits, .rule = rule}, Metric::l2);
      open("dram");
      expect_nearest(search(kCount));
    }
  }
}

TEST_F(SecondRowsTest, ASecondCopyInHalvesHasHalfOfTheBytes) {
  build("csr", {.type = ElementType::b1, .second = ElementType::f16}, Metric::cosine);
  open("dram");
  EXPECT_EQ(form().source_type, ElementType::f32);
  EXPECT_EQ(form().stored_type, ElementType::f16);
  EXPECT_FALSE(search::has_exact_distances(directory_->manifest(), *index_, 0));
  EXPECT_EQ(index_->second()->geometry().row_bytes(), 48u);  // 19 halves, a checksum, padding
  const Found found = search(kCount);
  for (std::size_t q = 0; q < kAsked; ++q) {
    const std::vector<NodeId> ids = nearest_of_halves(q);
    EXPECT_TRUE(
        std::equal(ids.begin(), ids.end(),
                   found.neighbours.ids.begin() + static_cast<std::ptrdiff_t>(q * kNearest)));
  }
}

TEST_F(SecondRowsTest, IsRefusedWhereItIsMissing) {
  build("csr", {.type = ElementType::b1}, Metric::cosine);
  std::filesystem::remove(path() / layout::kSecondCopyFile);
  expect_error([&] { open("dram"); }, "is missing");
}

TEST_F(SecondRowsTest, IsRefusedWhereItIsCutShort) {
  build("csr", {.type = ElementType::b1}, Metric::cosine);
  const auto file = path() / layout::kSecondCopyFile;
  std::filesystem::resize_file(file, std::filesystem::file_size(file) - 1);
  expect_error([&] { open("dram"); }, "cut short");
  std::filesystem::resize_file(file, 100);
  expect_error([&] { open("dram"); }, "before its rows");
}

TEST_F(SecondRowsTest, IsRefusedWhereItIsOfOtherRows) {
  build("csr", {.type = ElementType::b1}, Metric::cosine);
  const auto other = folder_.path() / "other.bin";
  std::filesystem::copy_file(path() / layout::kSecondCopyFile, other);
  std::filesystem::remove_all(path());
  build("csr", {.type = ElementType::b1}, Metric::l2);  // rows of another length and checksum
  const auto first = layout::fingerprint(rows_.view());
  EXPECT_EQ(layout::IndexDirectory::open(path()).manifest().dataset.xxh3, first);
  layout::Manifest wrong = layout::IndexDirectory::open(path()).manifest();
  wrong.dataset.xxh3 ^= 1;
  expect_error([&] { layout::SecondCopyFile(path(), wrong); }, "of another index");
  wrong.dataset.xxh3 ^= 1;
  wrong.second_copy->header_checksum ^= 1;  // that of another reduction
  expect_error([&] { layout::SecondCopyFile(path(), wrong); }, "of another index");
  wrong.second_copy->header_checksum ^= 1;
  wrong.count -= 1;
  expect_error([&] { layout::SecondCopyFile(path(), wrong); }, "of another index");
}

TEST_F(SecondRowsTest, IsRefusedWhereAnyByteOfItsBeginningIsDamaged) {
  build("csr", {.type = ElementType::b1}, Metric::cosine);
  const layout::Manifest manifest = layout::IndexDirectory::open(path()).manifest();
  std::string bytes(layout::kSecondCopyBlock + kLength * sizeof(float), '\0');
  std::ifstream(path() / layout::kSecondCopyFile, std::ios::binary)
      .read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < sizeof(layout::SecondCopyHeader); ++i) places.push_back(i);
  for (std::size_t i = layout::kSecondCopyBlock; i < bytes.size(); ++i) places.push_back(i);
  for (const std::size_t place : places) {
    overwrite(place, std::string(1, static_cast<char>(bytes[place] ^ 0x41)));
    EXPECT_THROW(layout::SecondCopyFile(path(), manifest), Error) << "byte " << place;
    overwrite(place, std::string(1, bytes[place]));
  }
  EXPECT_NO_THROW(layout::SecondCopyFile(path(), manifest));
}

TEST_F(SecondRowsTest, ADamagedRowIsNoticedBeforeItIsCompared) {
  build("csr", {.type = ElementType::b1}, Metric::cosine);
  const std::uint64_t place =
      layout::SecondCopyFile(path(), layout::IndexDirectory::open(path()).manifest())
          .geometry()
          .offset_of(7);
  overwrite(place + 3, "x");
  open("ssd");
  expect_error([&] { search(kCount); }, "checksum does not match");
  expect_error(
      [&] {
        open("dram");
        search(kCount);
      },
      "row 7 is damaged");
  EXPECT_THROW(index_->second()->file().verify(), Error);
}

TEST_F(SecondRowsTest, NumbersThatMeanNothingAreRefusedByName) {
  build("csr", {.type = ElementType::b1}, Metric::cosine);
  open("dram");
  const search::SearchBounds limits = search::limits_of(directory_->manifest());
  EXPECT_TRUE(limits.refines);
  EXPECT_NO_THROW(search::check_limits({.k = 10, .list = 64, .refine = 6}, limits));
  expect_error([&] { search::check_limits({.k = 10, .list = 64, .refine = 7}, limits); },
               "--refine: 7 times 10 results");
  expect_error(
      [&] { search::check_limits({.k = 10, .list = 64, .refine = 2, .candidates = true}, limits); },
      "leave one of both out");
  expect_error([&] { search::check_limits({.refine = 1}, {}); }, "has no second copy");
  expect_error([&] { search::check_limits({.candidates = true}, {}); }, "has no second copy");
}

TEST_F(SecondRowsTest, ReductionsThatSaveNothingAreRefused) {
  const auto refused = [](const indexing::ReductionWish& wish, Metric metric, ElementType source) {
    EXPECT_THROW(indexing::check_reduction(wish, metric, source), StatusError);
  };
  refused({.type = ElementType::f16}, Metric::l2, ElementType::f16);
  refused({.type = ElementType::u8}, Metric::l2, ElementType::i8);
  refused({.type = ElementType::f16}, Metric::cosine, ElementType::u8);
  refused({.type = ElementType::b1}, Metric::hamming, ElementType::b1);
  refused({.type = ElementType::b1, .bits_metric = Metric::l2}, Metric::l2, ElementType::f32);
  refused({.type = ElementType::b1, .second = ElementType::u8}, Metric::l2, ElementType::f32);
  refused({.type = ElementType::f16, .second = ElementType::f16}, Metric::l2, ElementType::f32);
  EXPECT_NO_THROW(
      indexing::check_reduction({.type = ElementType::b1}, Metric::l2, ElementType::u8));
  EXPECT_THROW(build("csr", {.type = ElementType::u8}, Metric::l2), Error);  // there are negatives
}

}  // namespace
}  // namespace farvec::tiers
