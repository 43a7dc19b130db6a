// A small index on disk, under a folder that goes away with the test.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "layout/index/index_directory.h"
#include "layout/index/index_writer.h"
#include "tests/unit/file_size_limit.h"
#include "tests/unit/layout/graph/random_graph.h"
#include "tests/unit/temporary_folder.h"

namespace farvec::layout {

using tests::FileSizeLimit;
using tests::TemporaryFolder;

/// The layouts of a graph that a RandomIndex may have.
inline constexpr LayoutKind kRecordLayouts[] = {LayoutKind::csr, LayoutKind::padded,
                                                LayoutKind::inlined, LayoutKind::packed};

/// A random graph with random codes, and the manifest a builder would hand over.
class RandomIndex {
 public:
  explicit RandomIndex(std::size_t count = 500, LayoutKind layout = LayoutKind::csr)
      : graph_(count, 12, 37, ElementType::u8) {
    manifest_.metric = Metric::l2;
    manifest_.source_type = ElementType::u8;
    manifest_.graph().layout = layout;
    manifest_.graph().neighbor_code_bytes = graph_.geometry(layout).code_bytes;
    manifest_.graph().max_degree = 12;
    manifest_.graph().build = {12, 40, 1.2, 2, 7, 4};
    manifest_.dataset = {"random", "random.u8bin", 37, count, fingerprint(graph_.vectors())};
    manifest_.farvec_version = "0.0.0";
    manifest_.farvec_commit = "unknown";
    header_.bits = 4;
    header_.dimension = 37;
    header_.record_bytes = 24;
    header_.type = ElementType::u8;
    header_.seed = 99;
    header_.count = count;
    header_.error_max = 3.5f;
    Random random(5);
    for (int i = 0; i < 37; ++i) centroid_.push_back(static_cast<float>(random.normal()));
    for (std::size_t i = 0; i < count * 24; ++i) {
      records_.push_back(static_cast<std::byte>(random.next()));
    }
  }

  Manifest& manifest() { return manifest_; }
  const RandomGraph& graph() const { return graph_; }
  const std::vector<float>& centroid() const { return centroid_; }
  const std::vector<std::byte>& records() const { return records_; }
  IndexContents contents() const {
    return {graph_.contents(manifest_.graph().layout), {header_, centroid_, records_}};
  }
  Manifest write(const std::filesystem::path& directory, bool overwrite = false) const {
    return write_index(directory, manifest_, contents(),
                       {.overwrite = overwrite, .threads = 2, .quiet = true});
  }

 private:
  RandomGraph graph_;
  Manifest manifest_;
  CodesHeader header_;
  std::vector<float> centroid_;
  std::vector<std::byte> records_;
};

/// Runs `action` and returns what its Error says; fails the test when it throws none.
template <typename Action>
std::string error_of(Action action) {
  try {
    action();
  } catch (const std::exception& error) {
    return error.what();
  }
  ADD_FAILURE() << "nothing was thrown";
  return "";
}

}  // namespace farvec::layout
