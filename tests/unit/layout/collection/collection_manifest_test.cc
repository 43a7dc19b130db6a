#include "layout/collection/collection_manifest.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>

#include "base/error.h"
#include "base/version.h"
#include "layout/log/log_segment.h"
#include "tests/unit/layout/collection/file_faults.h"
#include "tests/unit/message_of.h"
#include "tests/unit/temporary_folder.h"

namespace farvec::layout {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using tests::message_of;
using tests::TemporaryFolder;

constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();

CollectionManifest some_collection() {
  CollectionManifest m;
  m.metric = Metric::cosine;
  m.source_type = ElementType::u8;
  m.stored_type = ElementType::f16;
  m.dimension = 97;
  m.options = {.memtable_rows = 1000,
               .merge_fanout = 8,
               .layout = LayoutKind::packed,
               .degree = 33,
               .list = 77,
               .alpha = 1.1,
               .code_bits = 3};
  m.next_segment = 12;
  m.last_version = 5000;
  m.log_position = 123456;
  m.segments = {{0, 10, 0, 0}, {4, 1000, 4999, 7}, {11, kMostSegmentRows, 5000, kMostSegmentRows}};
  m.farvec_version = "0.1.0";
  m.farvec_commit = "abc";
  return m;
}

const json& good_json() {
  static const json good = json::parse(collection_to_json(some_collection()));
  return good;
}

std::string error_with(const char* pointer, const json& value) {
  json bad = good_json();
  bad.at(json::json_pointer(pointer)) = value;
  return message_of([&] { (void)collection_from_json(bad.dump(), "c.json"); });
}

TEST(CollectionManifest, ComesBack) {
  CollectionManifest empty;
  empty.dimension = 1;
  CollectionManifest large = some_collection();
  large.last_version = kMost;
  large.next_segment = kMost;
  large.log_position = kMaxLogPosition - 1;
  large.segments.back() = {kMost - 1, 1, kMost, 1};
  large.options.alpha = 1 + std::numeric_limits<double>::epsilon();
  large.farvec_commit = "Größe \"quoted\"\n";
  for (const auto& manifest : {empty, some_collection(), large}) {
    const std::string text = collection_to_json(manifest);
    EXPECT_EQ(collection_from_json(text, "c.json"), manifest);
    EXPECT_EQ(collection_to_json(collection_from_json(text, "c.json")), text);
  }
}

TEST(CollectionManifest, TellsWhatSegmentsHaveOfTheRows) {
  CollectionManifest bits = some_collection();
  bits.options.store = {
      .type = ElementType::b1, .bits_metric = Metric::jaccard, .rule = BitRule::median};
  bits.options.code_bits.reset();
  CollectionManifest bytes = some_collection();
  bytes.source_type = ElementType::f32;
  bytes.options.store = {.type = ElementType::i8, .second = ElementType::f16};
  for (const auto& manifest : {bits, bytes}) {
    const std::string text = collection_to_json(manifest);
    EXPECT_EQ(collection_from_json(text, "c.json"), manifest);
    EXPECT_EQ(json::parse(text)["format_version"], 2) << "an older farvec refuses it by this";
  }
  EXPECT_EQ(good_json()["format_version"], 1);
  EXPECT_EQ(bits.segment_type(), ElementType::b1);
  const auto expect = [](const CollectionManifest& good, const char* pointer, const json& value,
                         const char* what) {
    json bad = json::parse(collection_to_json(good));
    bad[json::json_pointer(pointer)] = value;
    EXPECT_THAT(message_of([&] { (void)collection_from_json(bad.dump(), "c.json"); }),
                AllOf(HasSubstr("c.json"), HasSubstr(what)));
  };
  expect(bits, "/options/store/type", "f64", "options.store.type");
  expect(bits, "/options/store/type", "f16", "no fewer bits");
  expect(bits, "/options/store/bits_metric", "l2", "hamming or jaccard");
  expect(bits, "/options/store/by", "mode", "options.store.by");
  expect(bits, "/options/store", 7, "options.store");
  expect(bits, "/format_version", 1, "format_version");
  expect(bytes, "/options/store/second", "u8", "u8");
  expect(bytes, "/stored_type", "f32", "stored_type");
  expect(bytes, "/options/store/second", "f32", "stored_type");
  expect(some_collection(), "/format_version", 2, "format_version");
}

TEST(CollectionManifest, TellsOfClusters) {
  CollectionManifest clusters = some_collection();
  clusters.options = {.memtable_rows = 1000, .merge_fanout = 8};
  clusters.options.kind = IndexKind::cluster;
  clusters.options.clusters = {.layout = ClusterLayoutKind::coupled,
                               .cluster_bytes = 12800,
                               .replicas = 3,
                               .closure_ratio = 1.08,
                               .balance = 1.5};
  const std::string text = collection_to_json(clusters);
  EXPECT_EQ(collection_from_json(text, "c.json"), clusters);
  EXPECT_FALSE(good_json().at("options").contains("kind")) << "of graphs as it always was";
  const auto expect = [&](const char* name, const json& value) {
    json bad = json::parse(text);
    bad["options"][name] = value;
    EXPECT_THAT(message_of([&] { (void)collection_from_json(bad.dump(), "c.json"); }),
                AllOf(HasSubstr("c.json"), HasSubstr(name)))
        << value;
    bad["options"].erase(name);
    EXPECT_NE(message_of([&] { (void)collection_from_json(bad.dump(), "c.json"); }), "") << name;
  };
  expect("kind", "tree");
  expect("layout", "csr");
  expect("cluster_bytes", 0);
  expect("cluster_bytes", ClusterSegmentOptions::kMostClusterBytes + 1);
  expect("replicas", 0);
  expect("replicas", kMaxReplicas + 1);
  expect("closure_ratio", 0.5);
  expect("closure_ratio", 101);
  expect("balance", 0.5);
}

TEST(CollectionManifest, TellsALogOnNodesAndIsAsBeforeWithoutOne) {
  CollectionManifest moved = some_collection();
  moved.log_on_nodes = 0xfedcba9876543210;
  EXPECT_EQ(collection_from_json(collection_to_json(moved), "c.json"), moved);
  EXPECT_FALSE(good_json().contains("log_on_nodes"));
  json lies = json::parse(collection_to_json(moved));
  lies["log_on_nodes"] = "fedcba9876543211";
  EXPECT_THAT(message_of([&] { (void)collection_from_json(lies.dump(), "c.json"); }),
              HasSubstr("checksum"));
}

TEST(CollectionManifest, TellsItsRevision) {
  CollectionManifest later = some_collection();
  later.revision = kMost;
  EXPECT_EQ(collection_from_json(collection_to_json(later), "c.json"), later);
  EXPECT_FALSE(good_json().contains("revision"));
}

TEST(CollectionManifest, TellsByWhatNumberMemoryNodesHaveItsSegments) {
  CollectionManifest numbered = some_collection();
  numbered.segments_on_nodes = 0xfedcba9876543210;
  EXPECT_EQ(collection_from_json(collection_to_json(numbered), "c.json"), numbered);
  numbered.log_on_nodes = 1;
  EXPECT_EQ(collection_from_json(collection_to_json(numbered), "c.json"), numbered);
  EXPECT_FALSE(good_json().contains("segments_on_nodes"));
}

TEST(CollectionManifest, StoresEveryMetricAndTypeAsDistancesDo) {
  for (const Metric metric : {Metric::l2, Metric::inner_product, Metric::cosine}) {
    for (const ElementType source :
         {ElementType::f32, ElementType::f16, ElementType::u8, ElementType::i8}) {
      CollectionManifest m = some_collection();
      m.metric = metric;
      m.source_type = source;
      int accepted = 0;
      for (const ElementType stored :
           {ElementType::f32, ElementType::f16, ElementType::u8, ElementType::i8}) {
        m.stored_type = stored;
        const std::string error =
            message_of([&] { (void)collection_from_json(collection_to_json(m), "c.json"); });
        const bool narrow = source == ElementType::u8 || source == ElementType::i8;
        const bool right =
            metric == Metric::cosine && narrow ? stored == ElementType::f16 : stored == source;
        EXPECT_EQ(error.empty(), right) << error;
        accepted += error.empty() ? 1 : 0;
      }
      EXPECT_EQ(accepted, 1);
    }
  }
}

TEST(CollectionManifest, MayLeaveTheBitsOfCodesToTheRows) {
  CollectionManifest m = some_collection();
  for (const std::optional<std::uint32_t> bits :
       {std::optional<std::uint32_t>(), std::optional<std::uint32_t>(0u),
        std::optional<std::uint32_t>(8u)}) {
    m.options.code_bits = bits;
    EXPECT_EQ(collection_from_json(collection_to_json(m), "c.json").options.code_bits, bits);
  }
}

TEST(CollectionManifest, RefusesEveryMissingField) {
  std::size_t tried = 0;
  const json flat = good_json().flatten();
  for (const auto& [name, value] : flat.items()) {
    if (name == "/options/code_bits") continue;  // then rows decide
    const json::json_pointer pointer(name);
    json bad = good_json();
    bad.at(pointer.parent_pointer()).erase(pointer.back());
    EXPECT_THAT(message_of([&] { (void)collection_from_json(bad.dump(), "c.json"); }),
                AllOf(HasSubstr("c.json"), HasSubstr("." + pointer.back() + " is missing")))
        << name;
    ++tried;
  }
  EXPECT_EQ(tried, 10u + 6u + 3 * 4u + 2u);
}

TEST(CollectionManifest, RefusesEveryFieldOfAnotherType) {
  const json flat = good_json().flatten();
  for (const auto& [name, value] : flat.items()) {
    const bool is_alpha = json::json_pointer(name).back() == "alpha";
    for (const json& wrong : {json(nullptr), json("x"), json(-1), json(1.5), json(true),
                              json::array(), json::object(), json(1e300)}) {
      const std::string error = error_with(name.c_str(), wrong);
      const bool other_value =
          (is_alpha && wrong == json(1.5)) || (value.is_string() && wrong.is_string());
      EXPECT_THAT(error, AllOf(HasSubstr("c.json"),
                               HasSubstr(other_value ? "" : json::json_pointer(name).back())))
          << name << wrong;
    }
  }
  for (const char* name : {"/options", "/segments", "/segments/1", "/written_by"}) {
    EXPECT_THAT(error_with(name, 3), HasSubstr("c.json"));
  }
}

TEST(CollectionManifest, NamesFileAndFieldOfABadValue) {
  const auto expect = [](const char* pointer, const json& value, const char* what) {
    EXPECT_THAT(error_with(pointer, value), AllOf(HasSubstr("c.json"), HasSubstr(what))) << value;
  };
  expect("/format", "farvec-index", "farvec-collection");
  expect("/metric", "euclid", "metric");
  expect("/source_type", "f64", "source_type");
  expect("/source_type", "f32", "stored_type");
  expect("/stored_type", "u8", "stored_type");
  expect("/dimension", 0, "dimension");
  expect("/dimension", kMaxDimension + 1, "dimension");
  expect("/options/memtable_rows", 0, "memtable_rows");
  expect("/options/memtable_rows", (1u << 30) + 1, "memtable_rows");
  expect("/options/merge_fanout", 1, "merge_fanout");
  expect("/options/merge_fanout", 65, "merge_fanout");
  expect("/options/layout", "padded", "layout");
  expect("/options/layout", "round", "layout");
  expect("/options/degree", 0, "degree");
  expect("/options/degree", 1025, "degree");
  expect("/options/list", 0, "list");
  expect("/options/list", 10001, "list");
  expect("/options/alpha", 0.99, "alpha");
  expect("/options/alpha", 4.01, "alpha");
  expect("/options/code_bits", -1, "code_bits");
  expect("/options/code_bits", 9, "code_bits");
  expect("/next_segment", 11, "segments[2].number");
  expect("/last_version", 4999, "segments[2].out_version");
  expect("/log_position", kMaxLogPosition, "log_position");
  expect("/segments/1/number", 0, "segments[1].number does not ascend");
  expect("/segments/1/number", 11, "segments[2].number does not ascend");
  expect("/segments/2/number", 12, "segments[2].number");
  expect("/segments/0/rows", 0, "segments[0].rows");
  expect("/segments/0/rows", kMostSegmentRows + 1, "segments[0].rows");
  expect("/segments/1/rows", 6, "segments[1].out_count");
  expect("/segments/1/out_count", 1001, "segments[1].out_count");
  expect("/segments/1/out_count", 0, "segments[1].out_version");
  expect("/segments/1/out_version", 0, "segments[1].out_version");
  expect("/segments/0/out_version", 1, "segments[0].out_version");
  expect("/xxh3", "123", "xxh3");
  expect("/xxh3", "0000000000000000", "checksum");
}

TEST(CollectionManifest, NamesRowsThatWereUpdated) {
  CollectionManifest m = some_collection();
  m.schema = parse_schema("price: i64");
  m.segments[1].update_version = 4000;
  m.segments[1].update_count = 30;
  const std::string text = collection_to_json(m);
  EXPECT_EQ(collection_from_json(text, "c.json").segments[1], m.segments[1]);
  const auto error = [&](const char* name, std::uint64_t value) {
    json bad = json::parse(text);
    bad["segments"][1][name] = value;
    return message_of([&] { (void)collection_from_json(bad.dump(), "c.json"); });
  };
  EXPECT_THAT(error("update_version", 5001), HasSubstr("segments[1].update_version"));
  EXPECT_THAT(error("update_version", 0), HasSubstr("segments[1].update_version"));
  EXPECT_THAT(error("update_count", 0), HasSubstr("segments[1].update_count"));
  EXPECT_THAT(error("update_count", 1001), HasSubstr("segments[1].update_count"));
  EXPECT_THAT(error("update_count", 31), HasSubstr("checksum does not match"));
}

TEST(CollectionManifest, OtherValuesInTheirRangeFailTheChecksum) {
  for (const char* name : {"/options/memtable_rows", "/options/list", "/next_segment",
                           "/last_version", "/log_position", "/segments/0/rows"}) {
    const auto value = good_json().at(json::json_pointer(name)).get<std::uint64_t>();
    EXPECT_THAT(error_with(name, value + 1), HasSubstr("checksum does not match")) << name;
  }
  EXPECT_THAT(error_with("/metric", "l2"), HasSubstr("stored_type"));
  EXPECT_THAT(error_with("/options/layout", "csr"), HasSubstr("checksum does not match"));
}

TEST(CollectionManifest, OfAnotherVersionSaysWhatToDo) {
  EXPECT_THAT(error_with("/format_version", 3), AllOf(HasSubstr("c.json"), HasSubstr("newer")));
  EXPECT_THAT(error_with("/format_version", 0), HasSubstr("use the farvec that wrote it"));
}

TEST(CollectionManifest, IgnoresFieldsThatItDoesNotKnow) {
  json more = good_json();
  more["later"] = {1, 2};
  more["segments"][0]["later"] = "x";
  EXPECT_EQ(collection_from_json(more.dump(), "c.json"), some_collection());
}

/// Another text says the same, or nothing.
TEST(CollectionManifest, EveryFlippedBitIsRefusedOrSaysTheSame) {
  const std::string whole = collection_to_json(some_collection());
  std::size_t refused = 0;
  for (std::size_t bit = 0; bit < whole.size() * 8; ++bit) {
    std::string text = whole;
    text[bit / 8] = static_cast<char>(text[bit / 8] ^ (1 << (bit % 8)));
    try {
      EXPECT_EQ(collection_from_json(text, "c.json"), some_collection()) << bit;
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), HasSubstr("c.json"));
      ++refused;
    }
  }
  EXPECT_GT(refused, whole.size() * 6);  // the others are of white space and hexadecimal letters
}

TEST(CollectionManifest, EveryTruncationIsRefused) {
  const std::string text = collection_to_json(some_collection());
  for (std::size_t length = 0; length + 2 < text.size(); ++length) {
    EXPECT_THROW((void)collection_from_json(text.substr(0, length), "c.json"), Error) << length;
  }
}

TEST(CollectionManifest, WhatIsNoObjectIsRefused) {
  for (const std::string text :
       {"", "null", "[]", "3", "\"x\"", "{", "\xff\xfe", "{\"a\":1e999}"}) {
    EXPECT_THROW((void)collection_from_json(text, "c.json"), Error) << text;
  }
  EXPECT_THROW((void)collection_from_json(std::string(1'000'000, '['), "c.json"), Error);
}

TEST(CollectionFile, IsReplacedAndSaysWhoWroteIt) {
  const TemporaryFolder folder;
  EXPECT_THROW((void)read_collection(folder.path()), SystemError);
  CollectionManifest manifest = some_collection();
  write_collection(folder.path(), manifest);
  manifest.log_position += 10;
  write_collection(folder.path(), manifest);
  manifest.farvec_version = version();
  manifest.farvec_commit = commit();
  EXPECT_EQ(read_collection(folder.path()), manifest);
  EXPECT_EQ(folder.entries(), 1u);
}

TEST(CollectionFile, StaysWhenTheNewOneCouldNotBeRead) {
  const TemporaryFolder folder;
  const CollectionManifest manifest = some_collection();
  write_collection(folder.path(), manifest);
  const std::string before = file_bytes(folder.path() / kCollectionFile);
  CollectionManifest bad = manifest;
  bad.segments.back().number = bad.next_segment;
  EXPECT_THROW(write_collection(folder.path(), bad), Error);
  bad = manifest;
  bad.segments.resize(kMostSegments + 1, {1, 1, 0, 0});
  EXPECT_THAT(message_of([&] { write_collection(folder.path(), bad); }),
              HasSubstr(std::to_string(kMostSegments)));
  bad = manifest;
  bad.options.alpha = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW(write_collection(folder.path(), bad), Error);
  EXPECT_EQ(file_bytes(folder.path() / kCollectionFile), before);
  EXPECT_EQ(folder.entries(), 1u);
}

TEST(CollectionFile, OfTheMostSegmentsIsRead) {
  const TemporaryFolder folder;
  CollectionManifest manifest = some_collection();
  manifest.next_segment = kMost;
  manifest.last_version = kMost;
  manifest.segments.clear();
  for (std::size_t i = 0; i < kMostSegments; ++i) {
    manifest.segments.push_back(
        {kMost - kMostSegments + i, kMostSegmentRows, kMost, kMostSegmentRows});
  }
  write_collection(folder.path(), manifest);
  EXPECT_EQ(read_collection(folder.path()).segments, manifest.segments);
}

TEST(CollectionFile, ThatIsTooLargeIsRefused) {
  const TemporaryFolder folder;
  std::ofstream(folder.path() / kCollectionFile) << std::string(5u << 20, ' ');
  EXPECT_THAT(message_of([&] { (void)read_collection(folder.path()); }),
              HasSubstr("a collection's manifest has at most"));
}

}  // namespace
}  // namespace farvec::layout
