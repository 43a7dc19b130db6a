// Writes a sound answer of every kind.
#include <filesystem>
#include <span>
#include <string>

#include "rpc/collection.pb.h"
#include "rpc/compute_node.pb.h"
#include "tests/fuzz/client/kinds.h"
#include "tests/fuzz/seed_files.h"

namespace {

using namespace farvec;
namespace v1 = compute_node::v1;
namespace changes = collection::v1;

void write(const std::filesystem::path& folder, const char* name, fuzz::AnswerKind kind,
           const google::protobuf::MessageLite& message) {
  const std::string bytes = std::string(1, static_cast<char>(kind)) + message.SerializeAsString();
  fuzz::write_seed(fuzz::seed_path(folder, "client_answers_fuzz", name),
                   std::as_bytes(std::span(bytes)));
}

v1::DescribeResponse describe() {
  v1::DescribeResponse node;
  node.set_attached(true);
  node.set_type(v1::ELEMENT_TYPE_F32);
  node.set_stored_type(v1::ELEMENT_TYPE_F16);
  node.set_metric(v1::METRIC_COSINE);
  node.set_dimension(16);
  node.set_count(1000);
  node.set_layout("grouped-inline");
  node.set_clusters(9);
  node.set_max_k(1000);
  node.set_max_list(1024);
  node.set_max_width(64);
  node.set_max_probe(4096);
  node.set_max_queries_per_call(1024);
  return node;
}

/// As the target asks: three queries, four neighbours each.
v1::SearchResponse search(bool wide) {
  v1::SearchResponse response;
  for (int query = 0; query < 3; ++query) {
    v1::QueryResult& result = *response.add_results();
    for (std::uint32_t i = 0; i < 4; ++i) {
      if (!wide) result.add_ids(i);
      result.add_user_ids((std::uint64_t{wide} << 40) + i);
      result.add_distances(0.5F);
    }
    result.set_coverage(1);
  }
  return response;
}

changes::StatsResponse stats() {
  changes::StatsResponse state;
  state.set_type(changes::ELEMENT_TYPE_F32);
  state.set_stored_type(changes::ELEMENT_TYPE_F16);
  state.set_dimension(5);
  state.set_max_rows(500);
  state.set_max_ids(500);
  return state;
}

changes::GetResponse rows() {
  changes::GetResponse answer;
  answer.set_type(changes::ELEMENT_TYPE_F16);
  answer.set_dimension(5);
  for (const bool found : {true, false, true}) answer.add_found(found);
  answer.set_rows(std::string(2 * 5 * 2, 'r'));
  return answer;
}

changes::DeleteResponse receipt() {
  changes::DeleteResponse answer;
  answer.set_done(1);
  answer.set_missing(2);
  return answer;
}

}  // namespace

int main(int argc, char** argv) {
  using fuzz::AnswerKind;
  return fuzz::write_seeds(argc, argv, [](const std::filesystem::path& folder) {
    write(folder, "describe", AnswerKind::describe, describe());
    write(folder, "search", AnswerKind::search, search(false));
    write(folder, "search-wide", AnswerKind::search, search(true));
    write(folder, "stats", AnswerKind::stats, stats());
    write(folder, "rows", AnswerKind::rows, rows());
    write(folder, "receipt", AnswerKind::receipt, receipt());
  });
}
