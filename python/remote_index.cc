#include "python/remote_index.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/status_error.h"
#include "client/described_json.h"
#include "client/node_answers.h"
#include "client/remote_search.h"
#include "dataset/view_reader.h"
#include "python/attributes.h"

namespace farvec::python {
namespace {

namespace v1 = compute_node::v1;

v1::DescribeResponse served_by(v1::ComputeNode::Stub& stub, const client::NodeAccess& node) {
  v1::DescribeResponse served = client::describe_node(stub, node);
  if (!served.attached()) {
    throw StatusError(StatusCode::unavailable, "compute node {} serves no index at the moment",
                      node.address);
  }
  return served;
}

}  // namespace

RemoteIndex::RemoteIndex(client::NodeAccess node, std::uint32_t retries)
    : node_(std::move(node)),
      retries_(retries),
      stub_(client::connect_to_node(node_)),
      served_(served_by(*stub_, node_)),
      schema_(std::make_shared<const layout::Schema>(layout::parse_schema(served_.schema()))) {}

/// Asks the node for its columns again where one of these is not known: someone may have added it.
std::shared_ptr<const layout::Schema> RemoteIndex::schema_with(
    const std::vector<std::string>& names) {
  const std::lock_guard lock(mutex_);
  const auto known = [&](const std::string& name) { return schema_->find(name).has_value(); };
  if (!std::ranges::all_of(names, known)) {
    schema_ = std::make_shared<const layout::Schema>(
        layout::parse_schema(served_by(*stub_, node_).schema()));
  }
  return schema_;
}

ElementType RemoteIndex::type() const {
  return client::element_type(served_.type());
}

Metric RemoteIndex::metric() const {
  return client::metric(served_.metric());
}

Answer RemoteIndex::search(const VectorView& queries, const Call& call) {
  search::SearchNames names = kArgumentNames;
  names.bound = search::kOptionNames.bound;
  (void)search::check_limits(call.asked, client::limits_of(served_), names);
  client::RemoteSearchOptions options;
  options.node = node_;
  options.parameters = call.asked;
  options.deadline =
      std::chrono::milliseconds(static_cast<std::int64_t>(call.deadline_seconds * 1e3) + 1);
  options.retries = retries_;
  options.interrupted = call.interrupted;
  options.wide_ids = client::serves_collection(served_);
  const std::shared_ptr<const layout::Schema> schema = schema_with(call.asked.select);
  options.select = select_columns(*schema, selected_columns(*schema, call.asked.select));
  dataset::ViewReader rows(queries, "queries");
  client::RemoteResults found = client::search_node(*stub_, options, rows);
  return {.neighbors = std::move(found.neighbors),
          .has_user_ids = options.wide_ids,
          .user_ids = std::move(found.user_ids),
          .attributes = std::move(found.attributes),
          .schema = std::move(options.select),
          .totals = found.totals,
          .coverage = found.coverage};
}

nlohmann::ordered_json RemoteIndex::describe() const {
  return client::described_json(served_by(*stub_, node_), node_.address);
}

}  // namespace farvec::python
