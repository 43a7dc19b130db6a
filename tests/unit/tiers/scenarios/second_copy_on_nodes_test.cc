// Searches of indexes whose second copy of the vectors is on memory nodes: over mapped memory and
// through a device, from one node and from a placement over several.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <fstream>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "base/unreachable_error.h"
#include "device/pmem_memory.h"
#include "device/stored_index.h"
#include "layout/attributes/schema.h"
#include "layout/collection/index_attributes.h"
#include "search/filter/asked_condition.h"
#include "tests/unit/message_of.h"
#include "tests/unit/tiers/nodes_of_index.h"
#include "tests/unit/tiers/reduced_rows.h"

namespace farvec::tiers {
namespace {

using collection::comes;
using ::testing::AllOf;
using ::testing::HasSubstr;
using tests::message_of;

class SecondOnNodes : public ReducedRows, public NodesOfIndex, public testing::Test {
 protected:
  std::filesystem::path served() const override { return path(); }

  Found search(const Reader& reader, std::uint32_t list, search::BatchParameters batch = {}) {
    const layout::Manifest& manifest = reader.nodes->manifest();
    const auto chosen = [&](std::uint32_t length) -> search::SearchChoice {
      if (manifest.is_cluster()) return search::ProbeChoice{.clusters = 20, .list = length};
      return search::GraphChoice{.list = length};
    };
    queries_.emplace(search::fit_queries(normal_rows(2, kAsked), "queries",
                                         search::form_of(manifest, *reader.index)));
    search::SearchShape shape{.slots = 2, .k = kNearest};
    search::set_largest(shape, chosen(kCount));
    if (manifest.is_cluster()) shape.list = kCount;
    Cores cores;
    cores.push_back(reader.tier->prepare(*reader.index, shape)->make_core());
    Found found;
    batch.search = search::searchable(search::SearchParameters::make(kNearest, chosen(list)));
    found.counts = search::run_batch(cores, queries_->view(), batch, found.neighbours).totals;
    return found;
  }

  /// Changes a byte of a row in the folder's file.
  void damage(NodeId row) const {
    const auto manifest = layout::IndexDirectory::open(path()).manifest();
    std::fstream file(path() / layout::kSecondCopyFile,
                      std::ios::in | std::ios::out | std::ios::binary);
    const auto at =
        static_cast<std::streamoff>(layout::second_copy_geometry(manifest).offset_of(row) + 3);
    file.seekg(at);
    const int byte = file.get();
    file.seekp(at);
    file.put(static_cast<char>(byte ^ 1));
  }
};

struct FewBitsCase {
  const char* layout;
  const char* tier;
  ElementType store = ElementType::b1;
};

class SecondOnNode : public SecondOnNodes, public testing::WithParamInterface<FewBitsCase> {
 protected:
  SecondOnNode() { node_tier_ = GetParam().tier; }
};

TEST_P(SecondOnNode, FindsWhatTheFolderFindsWithTheSameReads) {
  build(GetParam().layout, {.type = GetParam().store}, Metric::cosine);
  start();
  const Reader reader = read();
  const Found all = search(reader, kCount);
  expect_nearest(all);
  EXPECT_EQ(all.counts.rerank_reads, std::uint64_t{kAsked} * kCount);
  search::BatchParameters batch;
  batch.refine = 3;
  const Found some = search(reader, 100, batch);
  EXPECT_EQ(some.counts.rerank_reads, kAsked * 3 * kNearest);
  batch.exact = true;
  const Found exact = search(reader, 100, batch);
  expect_nearest(exact);
  EXPECT_EQ(exact.counts.reads, std::uint64_t{kAsked} * kCount);
  // The folder, whose records are read by requests too, reads the same rows.
  open("emulated:rdma");
  batch.exact = false;
  const Found here = ReducedRows::search(100, batch);
  EXPECT_EQ(some.neighbours.ids, here.neighbours.ids);
  EXPECT_EQ(some.neighbours.distances, here.neighbours.distances);
  EXPECT_EQ(some.counts.rerank_reads, here.counts.rerank_reads);
  EXPECT_EQ(some.counts.hops, here.counts.hops);
}

INSTANTIATE_TEST_SUITE_P(Layouts, SecondOnNode,
                         testing::Values(FewBitsCase{"csr", "shm"},
                                         FewBitsCase{"csr", "fabric:tcp"},
                                         FewBitsCase{"packed", "fabric:tcp"},
                                         FewBitsCase{"grouped", "shm"},
                                         FewBitsCase{"grouped", "fabric:tcp"},
                                         FewBitsCase{"csr", "fabric:tcp", ElementType::f16}),
                         [](const auto& of) {
                           return std::string(of.param.layout) + "_" +
                                  std::string(to_string(of.param.store)) +
                                  (std::string(of.param.tier) == "shm" ? "_shm" : "_fabric");
                         });

class SecondPlacedOnNodes : public SecondOnNodes, public testing::WithParamInterface<const char*> {
 protected:
  SecondPlacedOnNodes() { node_tier_ = GetParam(); }
};

TEST_P(SecondPlacedOnNodes, IsReadFromOtherCopiesWhenANodeDies) {
  build("csr", {.type = ElementType::b1}, Metric::cosine);
  place(3, 2);
  start(3);
  const Reader reader = read(3);
  expect_nearest(search(reader, kCount));
  nodes_[0].reset();
  EXPECT_TRUE(comes([&] { return message_of([&] { (void)search(reader, kCount); }).empty(); }));
  expect_nearest(search(reader, kCount));
  const Reader later = read([&] {
    PlacedNodesOptions options = set_options(3);
    options.await_absent = false;
    return options;
  }());
  expect_nearest(search(later, kCount));
}

INSTANTIATE_TEST_SUITE_P(Tiers, SecondPlacedOnNodes, testing::Values("shm", "fabric:tcp"),
                         [](const auto& tier) {
                           return std::string(tier.param) == "shm" ? "shm" : "fabric";
                         });

TEST_F(SecondOnNodes, AndAttributesAreRegionsAfterEachOther) {
  const layout::Manifest manifest = build("padded", {.type = ElementType::b1}, Metric::cosine);
  const layout::Schema schema = layout::parse_schema("price: i64");
  layout::Tuples tuples;
  for (NodeId row = 0; row < kCount; ++row) {
    tuples.append(schema, std::vector<layout::Value>{std::int64_t{row % 10}});
  }
  layout::write_index_attributes(path(), manifest, schema, tuples.view());
  constexpr std::uint32_t kFive = 5;  // the last holds no files
  place(kFive, 1);
  start(kFive);
  EXPECT_EQ(nodes_[0]->stats().regions(), layout::kRegionCount + 3);
  EXPECT_EQ(nodes_[4]->stats().regions(), layout::kRegionCount + 1);
  const Reader reader = read(kFive);
  expect_nearest(search(reader, kCount));
  const auto condition = search::asked_condition(*reader.index, "price = 3", "filter");
  search::BatchParameters batch;
  batch.condition = condition.get();
  const Found found = search(reader, kCount, batch);
  for (std::size_t q = 0; q < kAsked; ++q) {
    std::vector<NodeId> expected;
    for (const NodeId row : all_by_distance(q)) {
      if (row % 10 == 3 && expected.size() < kNearest) expected.push_back(row);
    }
    const NodeId* const ids = found.neighbours.ids.data() + q * kNearest;
    EXPECT_EQ(std::vector<NodeId>(ids, ids + kNearest), expected) << "query " << q;
  }
}

TEST_F(SecondOnNodes, EachNodeHasItsShareOfTheRows) {
  build("csr", {.type = ElementType::b1}, Metric::cosine);
  place(3, 1);
  start(3);
  const layout::Manifest manifest = layout::IndexDirectory::open(path()).manifest();
  std::uint64_t sum = 0;
  for (std::uint32_t node = 0; node < 3; ++node) {
    EXPECT_EQ(nodes_[node]->stats().region_bytes(), manifest.node_bytes(node));
    sum += manifest.node_bytes(node, layout::kSecondCopyRegion);
  }
  const std::uint64_t whole = layout::second_copy_geometry(manifest).file_bytes();
  EXPECT_EQ(sum, whole + 2 * layout::kRegionHeaderBytes);
}

/// A search that may do without lost records does without rows of the second copy as well.
TEST_F(SecondOnNodes, APartialSearchRanksTheRowsThatItGot) {
  build("csr", {.type = ElementType::b1}, Metric::cosine);
  place(3, 1);
  start(3);
  PlacedNodesOptions options = set_options(3);
  options.partial = true;
  const Reader reader = read(std::move(options));
  nodes_[2].reset();
  search::BatchParameters batch;
  batch.partial = true;
  EXPECT_TRUE(comes([&] { return search(reader, kCount, batch).counts.lost > 0; }));
  const Found found = search(reader, kCount, batch);
  for (std::size_t q = 0; q < kAsked; ++q) {
    const std::vector<NodeId> all = all_by_distance(q);
    const NodeId* const ids = found.neighbours.ids.data() + q * kNearest;
    // What was found is in the order of the oracle.
    std::size_t at = 0;
    for (std::size_t i = 0; i < kNearest && ids[i] != kInvalidNode; ++i) {
      while (at < all.size() && all[at] != ids[i]) ++at;
      EXPECT_LT(at, all.size()) << "query " << q << ", result " << i;
    }
  }
  EXPECT_THAT(message_of([&] { (void)search(reader, kCount); }), HasSubstr("memory node"));
}

TEST_F(SecondOnNodes, ADamagedRowIsNotServed) {
  build("csr", {.type = ElementType::b1}, Metric::cosine);
  damage(7);
  std::atomic<bool> stop{false};
  EXPECT_THAT(message_of([&] { memory_node::run_daemon(options_of(0), stop); }),
              AllOf(HasSubstr("second.bin"), HasSubstr("row 7 is damaged")));
  std::filesystem::remove(path() / layout::kSecondCopyFile);
  EXPECT_THAT(message_of([&] { memory_node::run_daemon(options_of(0), stop); }),
              AllOf(HasSubstr("second.bin"), HasSubstr("is missing")));
}

TEST_F(SecondOnNodes, AMemoryDeviceHasNoPlaceForIt) {
  build("csr", {.type = ElementType::b1}, Metric::cosine);
  const std::string device = folder_.file("device");
  device::create_pmem_file(device, 16 * layout::kDeviceUnitBytes);
  device::DeviceStore::format(
      device::open_pmem(device, {.access = device::MemoryAccess::read_write}), false);
  memory_node::DaemonOptions options = options_of(0);
  options.backing = {memory_node::BackingKind::pmem, device};
  std::atomic<bool> stop{false};
  const auto serve = [&] { memory_node::run_daemon(options, stop); };
  EXPECT_THAT(message_of(serve), HasSubstr("has a second copy of its vectors"));
  // The records alone can be stored there, for searches that read the second copy elsewhere.
  (void)device::store_index(
      device::open_store(device, {.access = device::MemoryAccess::read_write}),
      layout::IndexDirectory::open(path()), 0, "few", {.threads = 1, .quiet = true});
  open("pmem:" + device, "ssd");
  expect_nearest(ReducedRows::search(kCount));
  options.index.clear();
  EXPECT_THAT(message_of(serve), HasSubstr("'few' has a second copy of its vectors"));
}

TEST_F(SecondOnNodes, ServesRecordsAndSecondCopyOfAFolderThatIsHereToo) {
  node_tier_ = "fabric:tcp";
  build("csr", {.type = ElementType::b1}, Metric::cosine);
  start();
  const std::string over = "fabric:tcp:" + address(0);
  open(over);
  const Found found = ReducedRows::search(kCount);
  expect_nearest(found);
  EXPECT_EQ(nodes_[0]->leases(), 1u) << "both are read with one lease";
  open("dram", over);  // the records here, and the second copy there
  expect_nearest(ReducedRows::search(kCount));
  open(over, "ssd");
  expect_nearest(ReducedRows::search(kCount));
}

TEST_F(SecondOnNodes, TheSecondCopyOfAnotherIndexIsRefused) {
  node_tier_ = "fabric:tcp";
  build("csr", {.type = ElementType::b1}, Metric::cosine);
  start();
  const auto aside = folder_.path() / "aside";
  std::filesystem::rename(path(), aside);
  build("csr", {.type = ElementType::b1, .rule = BitRule::mean}, Metric::cosine);
  const std::string over = "fabric:tcp:" + address(0);
  EXPECT_THAT(message_of([&] { open("dram", over); }),
              AllOf(HasSubstr("does not have this second copy"), HasSubstr("it has another")));
  EXPECT_THAT(message_of([&] { open(over); }), HasSubstr("another"));
}

}  // namespace
}  // namespace farvec::tiers
