#include "layout/index/manifest.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>

#include "base/error.h"
#include "tests/unit/layout/index/index_fixture.h"

namespace farvec::layout {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;

Manifest written_manifest(LayoutKind layout = LayoutKind::csr) {
  TemporaryFolder folder;
  return RandomIndex(100, layout).write(folder.path() / "index");
}

std::string error_after(const std::function<void(json&)>& change) {
  static const json good = json::parse(manifest_to_json(written_manifest()));
  json bad = good;
  change(bad);
  return error_of([&] { (void)manifest_from_json(bad.dump(), "m.json"); });
}

TEST(Manifest, RoundTrips) {
  for (const LayoutKind layout : kRecordLayouts) {
    Manifest manifest = written_manifest(layout);
    manifest.graph().build.seed = ~std::uint64_t{0};
    manifest.dataset.xxh3 = ~std::uint64_t{0};
    manifest.dataset.name = "Größe \"quoted\"\n";
    const std::string text = manifest_to_json(manifest);
    const Manifest read = manifest_from_json(text, "m.json");
    EXPECT_EQ(manifest_to_json(read), text);
    EXPECT_EQ(read.graph().build.seed, manifest.graph().build.seed);
    EXPECT_EQ(read.graph().build.alpha, manifest.graph().build.alpha);
    EXPECT_EQ(read.graph_geometry().kind, layout);
    EXPECT_EQ(read.graph().edges, manifest.graph().edges);
  }
}

TEST(Manifest, SaysWhichSecondCopyItsIndexHas) {
  Manifest manifest = written_manifest();
  manifest.second_copy = SecondCopyEntry{.type = ElementType::f16, .header_checksum = 0x123};
  const std::string text = manifest_to_json(manifest);
  const Manifest read = manifest_from_json(text, "m.json");
  EXPECT_EQ(manifest_to_json(read), text);
  EXPECT_EQ(read.second_copy->type, ElementType::f16);
  EXPECT_EQ(read.second_copy->header_checksum, 0x123u);
  EXPECT_EQ(read.held_regions(), kRegionCount + 1);
  EXPECT_EQ(read.held_bytes().size(), std::size_t{kRegionCount} + 1);
  const auto refused = [&](const json& second) {
    return error_after([&](json& bad) { bad["second_copy"] = second; });
  };
  EXPECT_THAT(refused(true), HasSubstr("second_copy"));
  EXPECT_THAT(refused({{"type", "b1"}, {"header_xxh3", "0000000000000123"}}),
              AllOf(HasSubstr("second_copy"), HasSubstr("type"), HasSubstr("b1")));
  EXPECT_THAT(refused({{"type", "f32"}, {"header_xxh3", "123"}}), HasSubstr("header_xxh3"));
  EXPECT_THAT(refused({{"type", "f32"}}), HasSubstr("header_xxh3"));
}

TEST(Manifest, WritesAFileNameThatIsNotUtf8) {
  Manifest manifest = written_manifest();
  manifest.dataset.file = "caf\xe9.fbin";
  EXPECT_NO_THROW(manifest_from_json(manifest_to_json(manifest), "m.json"));
}

TEST(Manifest, RefusesEveryMissingField) {
  const json good = json::parse(manifest_to_json(written_manifest()));
  std::size_t tried = 0;
  const json flat = good.flatten();
  for (const auto& [name, value] : flat.items()) {
    const json::json_pointer pointer(name);
    if (pointer.back() == "average_degree") continue;  // for readers; follows from the others
    json bad = good;
    json& parent = bad.at(pointer.parent_pointer());
    if (parent.is_array()) {
      parent.erase(std::stoul(pointer.back()));
    } else {
      parent.erase(pointer.back());
    }
    EXPECT_THROW((void)manifest_from_json(bad.dump(), "m.json"), Error) << name;
    ++tried;
  }
  EXPECT_GT(tried, 40u);
}

TEST(Manifest, RefusesEveryFieldOfAnotherType) {
  const json good = json::parse(manifest_to_json(written_manifest()));
  const json flat = good.flatten();
  for (const auto& [name, value] : flat.items()) {
    const json::json_pointer pointer(name);
    if (pointer.back() == "average_degree") continue;
    for (const json& wrong : {json(nullptr), json("x"), json(-1), json(1.5), json(true),
                              json::array(), json::object(), json(1e300)}) {
      if (wrong.type() == value.type() && value.is_string()) {
        if (pointer.back() == "name" || pointer.back() == "file" || pointer.back() == "version" ||
            pointer.back() == "commit") {
          continue;  // any text will do
        }
      }
      if (wrong.is_boolean() && value.is_boolean()) {
        if (pointer.back() == "record_checksum") continue;  // caught by the size of the records
      }
      if (pointer.back() == "alpha" && wrong == json(1.5)) continue;
      json bad = good;
      bad.at(pointer) = wrong;
      EXPECT_THROW((void)manifest_from_json(bad.dump(), "m.json"), Error) << name << wrong;
    }
  }
}

TEST(Manifest, NamesFileAndFieldOfABadValue) {
  const auto expect = [](const char* pointer, const json& value, const char* field) {
    const std::string error =
        error_after([&](json& m) { m.at(json::json_pointer(pointer)) = value; });
    EXPECT_THAT(error, AllOf(HasSubstr("m.json"), HasSubstr(field)));
  };
  expect("/dimension", 0, "dimension");
  expect("/dimension", kMaxDimension + 1, "dimension");
  expect("/count", 0, "count");
  expect("/count", std::uint64_t{1} << 40, "count");
  expect("/count", 101, "records.csr");  // the regions contradict it
  expect("/metric", "euclid", "metric");
  expect("/normalised", true, "normalised");
  expect("/index", "tree", "index");
  expect("/format", "other", "format");
  expect("/graph/entry", 100, "entry");
  expect("/graph/max_degree", 2341, "max_degree");
  expect("/graph/edges", ~std::uint64_t{0}, "edges");
  expect("/graph/block_bytes", 4097, "block_bytes");
  expect("/graph/layout", "padded", "kind");
  expect("/graph/record_checksum", true, "records.csr");
  expect("/build/code_bits", 9, "code_bits");
  expect("/build/alpha", -1.0, "alpha");
  expect("/dataset/xxh3", "123", "xxh3");
  expect("/regions/0/payload_bytes", ~std::uint64_t{0}, "payload_bytes");
  expect("/regions/0/payload_bytes", 1, "records.csr");
  expect("/regions/0/chunk_bytes", 1, "chunk_bytes");
  expect("/regions/0/file", "../records.csr", "file");
  expect("/regions/0/file", "", "file");
  expect("/regions/0/file", std::string("a\0b", 3), "file");
  expect("/regions/1/xxh3", json::array(), "xxh3");
  expect("/regions/1/xxh3/0", "zzzzzzzzzzzzzzzz", "xxh3");
  expect("/regions/2/payload_bytes", 64, "offsets.bin");
}

TEST(Manifest, RefusesAnotherFormatVersionWithAdvice) {
  EXPECT_THAT(error_after([](json& m) { m["format_version"] = 2; }),
              AllOf(HasSubstr("m.json"), HasSubstr("format version 2"), HasSubstr("newer")));
  EXPECT_THAT(error_after([](json& m) { m["format_version"] = 0; }),
              AllOf(HasSubstr("format version 0"), HasSubstr("rebuild")));
}

TEST(Manifest, RefusesEveryTruncation) {
  const std::string text = manifest_to_json(written_manifest());
  for (std::size_t length = 0; length + 2 < text.size(); length += 7) {
    EXPECT_THROW((void)manifest_from_json(text.substr(0, length), "m.json"), Error) << length;
  }
}

TEST(Manifest, RefusesWhatIsNotAnObject) {
  for (const std::string text :
       {"", "null", "[]", "3", "\"x\"", "{", "\xff\xfe", "{\"a\":1e999}"}) {
    EXPECT_THROW((void)manifest_from_json(text, "m.json"), Error) << text;
  }
  EXPECT_THROW((void)manifest_from_json(std::string(1'000'000, '['), "m.json"), Error);
}

TEST(Fingerprint, DependsOnShapeTypeAndEveryRow) {
  const RandomGraph graph(10, 3, 8, ElementType::u8);
  const VectorView rows = graph.vectors();
  const std::uint64_t all = fingerprint(rows);
  VectorView fewer = rows;
  fewer.count = 9;
  EXPECT_NE(fingerprint(fewer), all);
  VectorView signed_rows = rows;
  signed_rows.type = ElementType::i8;
  EXPECT_NE(fingerprint(signed_rows), all);
  EXPECT_NE(fingerprint(RandomGraph(10, 3, 8, ElementType::u8, 2).vectors()), all);
  EXPECT_EQ(fingerprint(RandomGraph(10, 3, 8, ElementType::u8).vectors()), all);
}

TEST(Fingerprint, DoesNotDependOnTheStride) {
  const RandomGraph graph(10, 3, 8, ElementType::u8);
  std::vector<std::byte> wide(10 * 20);
  for (std::size_t i = 0; i < 10; ++i) {
    std::memcpy(wide.data() + i * 20, graph.vectors().row(i), 8);
  }
  EXPECT_EQ(fingerprint({wide.data(), 10, 8, ElementType::u8, 20}), fingerprint(graph.vectors()));
}

}  // namespace
}  // namespace farvec::layout
