#include "client/c/answers.h"

#include <cmath>
#include <limits>
#include <utility>

#include "base/types.h"
#include "indexing/attributes/attributes_json.h"

namespace farvec::c {
namespace {

std::string shown_attributes(const layout::Schema& schema, const layout::TupleView& rows,
                             std::size_t row) {
  return indexing::attributes_json(schema, layout::Tuple(rows.row(row))).dump();
}

}  // namespace

Found found_in(client::RemoteResults results, const layout::Schema& select) {
  dataset::GroundTruth& all = results.neighbors;
  Found found{.k = all.k,
              .counts = {},
              .ids = std::move(results.user_ids),
              .distances = std::move(all.distances),
              .attributes = {},
              .totals = results.totals,
              .coverage = results.coverage};
  if (found.ids.empty()) found.ids.assign(all.ids.begin(), all.ids.end());
  for (std::size_t query = 0; query < all.queries; ++query) {
    std::size_t count = 0;
    for (std::size_t i = query * all.k; i < (query + 1) * all.k; ++i) {
      const bool there = std::isfinite(found.distances[i]);
      if (there) ++count;
      if (select.empty()) continue;
      if (!there) found.attributes.append_none();
      if (there) found.attributes.append(shown_attributes(select, results.attributes.view(), i));
    }
    found.counts.push_back(count);
  }
  return found;
}

ReadRows rows_in(std::vector<std::uint64_t> ids, changes::FoundRows found,
                 const layout::Schema& schema) {
  ReadRows rows{.ids = std::move(ids),
                .found = std::move(found.found),
                .row_bytes = 0,
                .places = {},
                .vectors = std::move(found.rows),
                .attributes = {},
                .matches = 0,
                .more = false};
  std::size_t there = 0;
  for (std::size_t row = 0; row < rows.ids.size(); ++row) {
    const bool has_attributes = rows.found[row] && found.attributes.count() > 0;
    if (has_attributes) {
      rows.attributes.append(shown_attributes(schema, found.attributes.view(), there));
    } else {
      rows.attributes.append_none();
    }
    rows.places.push_back(there);
    if (rows.found[row]) ++there;
  }
  rows.matches = there;
  rows.row_bytes = there == 0 ? 0 : rows.vectors.size() / there;
  return rows;
}

ReadRows rows_in(changes::ListedRows listed, const layout::Schema& schema) {
  ReadRows rows;
  rows.ids = std::move(listed.ids);
  rows.found.assign(rows.ids.size(), true);
  rows.matches = listed.matches;
  rows.more = listed.more;
  for (std::size_t row = 0; row < listed.attributes.count(); ++row) {
    rows.attributes.append(shown_attributes(schema, listed.attributes.view(), row));
  }
  return rows;
}

}  // namespace farvec::c
