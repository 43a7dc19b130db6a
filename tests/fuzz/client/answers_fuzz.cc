// Any bytes are an answer of a compute node in which a fault is found, or one that can be used.
#include <google/protobuf/stubs/logging.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/check.h"
#include "base/error.h"
#include "client/node_answers.h"
#include "client/remote_results.h"
#include "tests/fuzz/client/kinds.h"
#include "tests/fuzz/fuzz_file.h"

namespace {

using namespace farvec;
namespace v1 = compute_node::v1;
namespace wire = collection::v1;

/// Most inputs are none, and Protobuf would say so of each.
[[maybe_unused]] const auto kSilenced = google::protobuf::SetLogHandler(nullptr);

constexpr std::size_t kQueries = 3;
constexpr std::uint32_t kK = 4;

void use(const v1::DescribeResponse& node) {
  (void)to_string(client::element_type(node.type()));
  (void)to_string(client::element_type(node.stored_type()));
  (void)to_string(client::metric(node.metric()));
  FARVEC_CHECK(1000 % node.dimension() <= 1000);
  FARVEC_CHECK(node.max_k() > 0 && node.max_list() > 0 && node.max_width() > 0);
}

void use(const v1::SearchResponse& response) {
  for (const bool wide_ids : {false, true}) {
    client::RemoteResults results = client::empty_results(2 * kQueries, kK, wide_ids);
    fuzz::expect_error_at_most([&] { client::add_results(response, kQueries, false, results); });
    FARVEC_CHECK(results.neighbors.ids.size() == 2 * kQueries * kK);
  }
}

/// Reads the rows, and their attributes.
void use(const wire::GetResponse& rows, const layout::StoredShape& shape,
         const layout::Schema& schema) {
  std::size_t at = 0;
  for (const bool found : rows.found()) {
    if (found) at += shape.dimension * element_bytes(shape.type);
  }
  FARVEC_CHECK(at == rows.rows().size());
  const layout::TupleView tuples = client::attributes_in(rows);
  for (std::size_t row = 0; row < tuples.count(); ++row) {
    for (std::size_t column = 0; column < schema.size(); ++column) {
      (void)layout::Tuple(tuples.row(row)).value(schema, column);
    }
  }
}

void use(const wire::StatsResponse& state) {
  (void)to_string(client::element_type(state.type()));
  FARVEC_CHECK(state.dimension() > 0 && state.max_rows() > 0 && state.max_ids() > 0);
}

/// Calls `check`, and then `use` where no fault was found.
template <typename Answer, typename Check, typename Use>
void look_at(const std::uint8_t* data, std::size_t size, const Check& check, const Use& use) {
  Answer answer;
  if (!answer.ParseFromArray(data, static_cast<int>(size))) return;
  // Statuses tell of queries that failed, which have no results.
  if (check(answer).empty()) fuzz::expect_error_at_most([&] { use(answer); });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const auto kind = static_cast<fuzz::AnswerKind>(data[0] % fuzz::kAnswerKinds);
  ++data;
  --size;
  const layout::StoredShape shape{ElementType::f16, 5};
  const layout::Schema schema = layout::parse_schema("n: i64, s: string, t: set not null");
  switch (kind) {
    case fuzz::AnswerKind::describe:
      look_at<v1::DescribeResponse>(
          data, size, [](const auto& answer) { return client::fault_of(answer); },
          [](const auto& answer) { use(answer); });
      break;
    case fuzz::AnswerKind::search:
      look_at<v1::SearchResponse>(
          data, size,
          [](const auto& answer) {
            return client::fault_of(answer, {kQueries, kK});
          },
          [](const auto& answer) { use(answer); });
      break;
    case fuzz::AnswerKind::stats:
      look_at<wire::StatsResponse>(
          data, size, [](const auto& answer) { return client::fault_of(answer); },
          [](const auto& answer) { use(answer); });
      break;
    case fuzz::AnswerKind::rows:
      look_at<wire::GetResponse>(
          data, size,
          [&](const auto& answer) {
            const client::AskedRows asked{
                shape, kQueries,
                client::attributes_in(answer).count() > 0 ? schema : layout::Schema()};
            try {
              const layout::Schema grown = client::grown_schema(answer.schema(), schema);
              FARVEC_CHECK(grown.begins_with(schema));
            } catch (const Error&) {
              // What it says is no schema, or another one.
            }
            return client::fault_of(answer, asked);
          },
          [&](const auto& answer) { use(answer, shape, schema); });
      break;
    case fuzz::AnswerKind::receipt:
      look_at<wire::DeleteResponse>(
          data, size, [](const auto& answer) { return client::fault_of(answer, kQueries); },
          [](const auto& answer) {
            FARVEC_CHECK(answer.done() + answer.missing() == kQueries && answer.done() <= kQueries);
          });
      break;
  }
  return 0;
}
