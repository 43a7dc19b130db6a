// Memory nodes on threads of the test's own process, which serve an index folder together.
#pragma once

#include <array>
#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>

#include "layout/index/file_placement.h"
#include "layout/index/index_writer.h"
#include "search/kinds/index_loader.h"
#include "tests/unit/memory_node/node_thread.h"
#include "tests/unit/temporary_folder.h"
#include "tiers/attach/index_attributes.h"
#include "tiers/attach/placed_nodes.h"
#include "tiers/tier.h"

namespace farvec::tiers {

inline constexpr std::size_t kNodes = 6;  // two more than hold files

/// What a process that does not see the folder has of the index.
struct Reader {
  std::shared_ptr<PlacedNodes> nodes;
  std::unique_ptr<search::SearchIndex> index;
  std::unique_ptr<Tier> tier;
};

class NodesOfIndex {
 protected:
  virtual ~NodesOfIndex() = default;
  virtual std::filesystem::path served() const = 0;

  std::string address(std::size_t node) const {
    return "unix:" + sockets_.file("node" + std::to_string(node));
  }
  memory_node::DaemonOptions options_of(std::size_t node) const {
    memory_node::DaemonOptions options = tests::node_options(address(node), node_tier_);
    options.index = served().string();
    options.node = static_cast<std::uint32_t>(node);
    return options;
  }
  void start(std::size_t count = 1) {
    for (std::size_t node = 0; node < count; ++node) {
      nodes_[node] = std::make_unique<tests::NodeThread>(options_of(node));
    }
  }
  void place(std::uint32_t nodes, std::uint32_t replicas) const {
    layout::write_placement(served(), [&](const layout::IndexDirectory& index) {
      const layout::PlacementOptions options{
          .nodes = nodes, .replicas = replicas, .extent_bytes = 4096};
      return layout::place_index(index.manifest(), index.load_locator({}), options);
    });
  }

  PlacedNodesOptions set_options(std::size_t count) const {
    PlacedNodesOptions options;
    for (std::size_t node = 0; node < count; ++node) {
      options.addresses.push_back(rpc::parse_address(address(node)));
    }
    options.attach.reads = parse_node_tier(node_tier_)->read_path();
    options.attach.call_timeout = std::chrono::seconds(60);
    options.attach.connect_timeout = std::chrono::seconds(1);
    return options;
  }

  Reader read(PlacedNodesOptions options) const {
    Reader reader;
    reader.nodes = std::make_shared<PlacedNodes>(std::move(options));
    reader.nodes->wait_ready(std::chrono::seconds(60));
    reader.index = std::make_unique<search::SearchIndex>(
        search::fetch_search_index(reader.nodes->manifest(), *reader.nodes->make_endpoint()));
    fetch_attributes(reader.nodes, {}, *reader.index);
    reader.tier =
        Tier::open(*parse_tier(node_tier_), {.index = reader.index.get(), .nodes = reader.nodes});
    return reader;
  }
  Reader read(std::size_t count = 1) const { return read(set_options(count)); }

  const tests::TemporaryFolder sockets_;
  std::string node_tier_ = "shm";
  std::array<std::unique_ptr<tests::NodeThread>, kNodes> nodes_;
};

}  // namespace farvec::tiers
