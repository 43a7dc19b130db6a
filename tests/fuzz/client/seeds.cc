// Writes a sound answer of every kind.
#include <filesystem>
#include <span>
#include <string>

#include "rpc/collection.pb.h"
#include "rpc/compute_node.pb.h"
#include "tests/fuzz/client/kinds.h"
#include "tests/fuzz/seed_files.h"
#include "tests/unit/client/sound_answers.h"

namespace {

using namespace farvec;
namespace v1 = compute_node::v1;
namespace wire = collection::v1;

void write(const std::filesystem::path& folder, const char* name, fuzz::AnswerKind kind,
           const google::protobuf::MessageLite& message) {
  const std::string bytes = std::string(1, static_cast<char>(kind)) + message.SerializeAsString();
  fuzz::write_seed(fuzz::seed_path(folder, "client_answers_fuzz", name),
                   std::as_bytes(std::span(bytes)));
}

/// It describes an index of clusters, and every field is set.
v1::DescribeResponse describe() {
  v1::DescribeResponse node = client::sound_description();
  node.set_stored_type(v1::ELEMENT_TYPE_F16);
  node.set_metric(v1::METRIC_COSINE);
  node.set_layout("grouped-inline");
  node.set_clusters(9);
  node.set_max_probe(4096);
  return node;
}

/// The target asks for four neighbours of three queries.
v1::SearchResponse search(bool wide) {
  v1::SearchResponse response;
  for (int query = 0; query < 3; ++query) {
    client::add_result(response, {.ids = wide ? 0u : 4u, .user_ids = 4, .distances = 4},
                       std::uint64_t{wide} << 40);
  }
  return response;
}

wire::StatsResponse stats() {
  wire::StatsResponse state = client::sound_state(5);
  state.set_stored_type(wire::ELEMENT_TYPE_F16);
  return state;
}

wire::DeleteResponse receipt() {
  wire::DeleteResponse answer;
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
    write(folder, "rows", AnswerKind::rows, client::sound_rows(5, {true, false, true}));
    write(folder, "receipt", AnswerKind::receipt, receipt());
  });
}
