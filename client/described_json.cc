#include "client/described_json.h"

#include "client/node_answers.h"
#include "client/remote_node.h"

namespace farvec::client {

nlohmann::ordered_json described_json(const compute_node::v1::DescribeResponse& node,
                                      const std::string& address) {
  return {{"index", "grpc://" + address},
          {"kind", serves_collection(node) ? "collection" : to_string(limits_of(node).kind)},
          {"layout", node.layout()},
          {"metric", to_string(metric(node.metric()))},
          {"type", to_string(element_type(node.type()))},
          {"stored_type", to_string(element_type(node.stored_type()))},
          {"dimension", node.dimension()},
          {"count", node.count()},
          {"degree", node.degree()},
          {"clusters", node.clusters()},
          {"code_bits", node.code_bits()},
          {"tier", node.tier()},
          {"slots", node.slots_per_core()},
          {"threads", node.cores()},
          {"index_bytes", node.index_bytes()},
          {"dram_bytes", node.compute_dram_bytes()},
          {"memory_node", node.memory_node()},
          {"generation", node.generation()},
          {"max_k", node.max_k()},
          {"max_list", node.max_list()},
          {"version", node.version()}};
}

}  // namespace farvec::client
