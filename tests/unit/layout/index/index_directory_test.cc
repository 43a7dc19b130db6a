#include "layout/index/index_directory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <stdexcept>

#include "base/error.h"
#include "layout/graph/record_reader.h"
#include "tests/unit/fifo.h"
#include "tests/unit/layout/index/index_fixture.h"

namespace farvec::layout {
namespace {

using testing::AllOf;
using testing::HasSubstr;

const LoadOptions kQuiet{.threads = 2, .quiet = true, .on_chunk = {}};

class IndexDirectoryTest : public testing::Test {
 protected:
  std::filesystem::path write(RandomIndex& index) {
    index.write(directory_, true);
    return directory_;
  }
  IndexDirectory reopen() const { return IndexDirectory::open(directory_); }
  std::filesystem::path file(std::uint32_t region) const { return reopen().region_path(region); }

  static void flip(const std::filesystem::path& path, std::uint64_t at) {
    std::fstream stream(path, std::ios::in | std::ios::out | std::ios::binary);
    stream.seekg(static_cast<std::streamoff>(at));
    const char byte = static_cast<char>(stream.get() ^ 0x10);
    stream.seekp(static_cast<std::streamoff>(at));
    stream.put(byte);
  }

  TemporaryFolder folder_;
  std::filesystem::path directory_ = folder_.path() / "index";
};

void expect_same_graph(const IndexDirectory& directory, const RandomGraph& graph) {
  const GraphLocator locator = directory.load_locator(kQuiet);
  const HugeBuffer region = directory.load_region(kRecordsRegion, kQuiet);
  RecordReader records(locator, region.span());
  for (NodeId id = 0; id < graph.view().count; ++id) {
    const NodeRecord record = records.read(id);
    ASSERT_EQ(record.degree, graph.view().degrees[id]);
    ASSERT_EQ(std::memcmp(record.vector, graph.vectors().row(id), 37), 0);
    ASSERT_EQ(std::memcmp(record.neighbors, graph.view().row(id), record.degree * sizeof(NodeId)),
              0);
  }
}

TEST_F(IndexDirectoryTest, RoundTripsEveryLayout) {
  for (const LayoutKind layout : kRecordLayouts) {
    for (const std::size_t count : {1, 29, 500}) {
      for (const bool checksum : {false, true}) {
        RandomIndex index(count, layout);
        index.manifest().graph().record_checksum = checksum;
        write(index);
        const IndexDirectory directory = reopen();
        directory.verify(kQuiet);
        expect_same_graph(directory, index.graph());
        const Codes codes = directory.load_codes(kQuiet);
        EXPECT_EQ(codes.centroid, index.centroid());
        EXPECT_EQ(codes.header.seed, 99u);
        EXPECT_EQ(codes.header.error_max, 3.5f);
        EXPECT_EQ(std::memcmp(codes.records(), index.records().data(), index.records().size()), 0);
        const std::size_t bytes = codes.header.record_bytes;
        EXPECT_NO_THROW(codes.require_records(count, bytes));
        EXPECT_THROW(codes.require_records(count + 1, bytes), Error);
        EXPECT_THROW(codes.require_records(count, bytes + 1), Error);
        const GraphDescription& description = directory.manifest().graph();
        EXPECT_EQ(description.edges, index.graph().edges());
        EXPECT_EQ(directory.load_offset_table(kQuiet).total(), description.table_total());
      }
    }
  }
}

TEST_F(IndexDirectoryTest, SpansSeveralChunksAndBatches) {
  RandomIndex index(200'000, LayoutKind::csr);
  write(index);
  const IndexDirectory directory = reopen();
  EXPECT_GT(directory.manifest().region(kRecordsRegion).checksums.size(), 2u);
  directory.verify(kQuiet);
  expect_same_graph(directory, index.graph());
  const auto& entry = directory.manifest().region(kRecordsRegion);
  flip(directory.region_path(kRecordsRegion), kRegionHeaderBytes + entry.chunk_bytes + 17);
  EXPECT_THAT(error_of([&] { directory.verify(kQuiet); }),
              AllOf(HasSubstr("records.csr"), HasSubstr("chunk 1 "),
                    HasSubstr(std::to_string(kRegionHeaderBytes + entry.chunk_bytes))));
}

TEST_F(IndexDirectoryTest, WritesTheSameBytesForTheSameInput) {
  RandomIndex index;
  const Manifest first = index.write(folder_.path() / "a");
  const Manifest second = index.write(folder_.path() / "b");
  EXPECT_EQ(manifest_to_json(first), manifest_to_json(second));
}

TEST_F(IndexDirectoryTest, FindsADamagedByteOfAnyRegion) {
  for (std::uint32_t region = 0; region < kRegionCount; ++region) {
    RandomIndex index;
    write(index);
    const IndexDirectory directory = reopen();
    const auto size = directory.manifest().region(region).file_bytes();
    for (const std::uint64_t at : {kRegionHeaderBytes, (kRegionHeaderBytes + size) / 2, size - 1}) {
      flip(directory.region_path(region), at);
      const std::string name = directory.manifest().region(region).file;
      EXPECT_THAT(error_of([&] { directory.verify(kQuiet); }),
                  AllOf(HasSubstr(name), HasSubstr("chunk 0 "), HasSubstr("4096")));
      EXPECT_THAT(error_of([&] { (void)directory.load_region(region, kQuiet); }), HasSubstr(name));
      flip(directory.region_path(region), at);
    }
    directory.verify(kQuiet);
  }
}

TEST_F(IndexDirectoryTest, FindsADamagedByteOfAnyHeader) {
  RandomIndex index;
  write(index);
  const auto path = file(kCodesRegion);
  for (std::uint64_t at = 0; at < kRegionHeaderBytes; at += at < 64 ? 1 : 371) {
    flip(path, at);
    EXPECT_THROW(reopen(), Error) << at;
    flip(path, at);
  }
  EXPECT_NO_THROW(reopen());
}

TEST_F(IndexDirectoryTest, RefusesARegionWhoseHeaderWasNotWritten) {
  RandomIndex index;
  write(index);
  std::fstream stream(file(kRecordsRegion), std::ios::in | std::ios::out | std::ios::binary);
  const std::string zeros(kRegionHeaderBytes, '\0');
  stream.write(zeros.data(), static_cast<std::streamsize>(zeros.size()));
  stream.close();
  EXPECT_THAT(error_of([&] { reopen(); }), HasSubstr("never published"));
}

TEST_F(IndexDirectoryTest, RefusesTruncatedAndGrownFiles) {
  for (std::uint32_t region = 0; region < kRegionCount; ++region) {
    RandomIndex index;
    write(index);
    const auto path = file(region);
    const auto size = std::filesystem::file_size(path);
    for (const std::uint64_t length : {std::uint64_t{0}, std::uint64_t{100}, size - 1, size + 1}) {
      std::filesystem::resize_file(path, length);
      EXPECT_THAT(error_of([&] { reopen(); }), HasSubstr("bytes, the manifest says"));
    }
  }
}

TEST_F(IndexDirectoryTest, RefusesAHeaderThatLies) {
  RandomIndex index;
  write(index);
  const auto path = file(kRecordsRegion);
  const RegionHeader honest = reopen().manifest().region(kRecordsRegion).header();
  const auto expect_refused = [&](auto change) {
    RegionHeader header = honest;
    change(header);
    const RegionHeaderBlock block = encode_region_header(header);  // its own checksum is right
    std::fstream stream(path, std::ios::in | std::ios::out | std::ios::binary);
    stream.write(reinterpret_cast<const char*>(block.data()), kRegionHeaderBytes);
    stream.close();
    EXPECT_THAT(error_of([&] { reopen(); }), HasSubstr("records.csr"));
  };
  expect_refused([](auto& h) { h.payload_bytes *= 2; });
  expect_refused([](auto& h) { h.kind = RegionKind::codes; });
  expect_refused([](auto& h) { h.region = 7; });
  expect_refused([](auto& h) { h.chunk_bytes = 0; });
  expect_refused([](auto& h) { h.payload_checksum ^= 1; });  // of another index of the same shape
  expect_refused([](auto& h) { h.format_version = 9; });
  expect_refused([](auto& h) { h.magic = 42; });
}

TEST_F(IndexDirectoryTest, RefusesAnotherFormatVersionWithAdvice) {
  RegionHeader header;
  header.format_version = kFormatVersion + 1;
  EXPECT_THAT(
      error_of([&] { decode_region_header(encode_region_header(header), "x"); }),
      AllOf(HasSubstr("format version 2"), HasSubstr("reads version 1"), HasSubstr("newer one")));
}

TEST_F(IndexDirectoryTest, DoesNotWaitForTheWriterOfAFifo) {
  RandomIndex index;
  write(index);
  for (const char* name : {"codes.bin", "manifest.json"}) {
    const std::string path = directory_ / name;
    std::filesystem::remove(path);
    EXPECT_THAT(tests::error_with_fifo(path, [&] { reopen(); }),
                AllOf(HasSubstr(path), HasSubstr("not a regular file")));
  }
}

TEST_F(IndexDirectoryTest, RefusesWhatIsNoIndex) {
  EXPECT_THAT(error_of([&] { IndexDirectory::open(folder_.path() / "nowhere"); }),
              HasSubstr("no such directory"));
  EXPECT_THAT(error_of([&] { IndexDirectory::open(folder_.path()); }), HasSubstr("manifest.json"));
  RandomIndex index;
  write(index);
  std::filesystem::remove(directory_ / "codes.bin");
  EXPECT_THROW(reopen(), Error);
}

TEST_F(IndexDirectoryTest, SaysWhichIndexesAreInAFolderOfThem) {
  const RandomIndex index(20);
  for (const char* name : {"b", "a"}) index.write(folder_.path() / name);
  std::filesystem::create_directory(folder_.path() / "nothing");
  const auto message = [&]() -> std::string {
    try {
      IndexDirectory::open(folder_.path());
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_THAT(message(), AllOf(HasSubstr("not an index, but a folder that holds a, b: name one"),
                               HasSubstr((folder_.path() / "a").string())));
  for (int i = 0; i < 8; ++i) index.write(folder_.path() / fmt::format("c{}", i));
  EXPECT_THAT(message(), AllOf(HasSubstr("a, b, c0"), HasSubstr("c5 and 2 more")));
}

TEST_F(IndexDirectoryTest, LoadsOnlyWhileItsCallerWantsItTo) {
  RandomIndex index;
  write(index);
  const IndexDirectory directory = reopen();
  LoadOptions options = kQuiet;
  options.on_chunk = [](std::uint64_t) { throw std::runtime_error("stop"); };
  HugeBuffer buffer(directory.manifest().region(kRecordsRegion).file_bytes());
  EXPECT_EQ(error_of([&] { directory.load_region(kRecordsRegion, buffer.span(), options); }),
            "stop");
  EXPECT_EQ(load_unaligned<std::uint64_t>(buffer.data()), 0u);  // not published
  directory.load_region(kRecordsRegion, buffer.span(), kQuiet);
  EXPECT_EQ(load_unaligned<std::uint64_t>(buffer.data()), RegionHeader::kMagic);
  EXPECT_NO_THROW(decode_region_header(buffer.span(), "buffer"));
}

}  // namespace
}  // namespace farvec::layout
