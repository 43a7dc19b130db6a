#include "client/state_json.h"

#include "layout/attributes/schema.h"

namespace farvec::client {

nlohmann::ordered_json state_json(const collection::v1::StatsResponse& state) {
  nlohmann::ordered_json json{{"version", state.version()},
                              {"vectors", state.rows()},
                              {"memtable_vectors", state.memtable_rows()},
                              {"segments", state.segments()},
                              {"out_rows", state.rows_out()},
                              {"updated_rows", state.rows_updated()},
                              {"segment_bytes", state.segment_bytes()},
                              {"log_bytes", state.log_bytes()},
                              {"written_bytes", state.written_bytes()},
                              {"log_nodes", state.log_nodes()},
                              {"log_copies", state.log_copies()},
                              {"segment_copies_missing", state.segment_copies_missing()},
                              {"segments_built", state.segments_built()},
                              {"segments_merged", state.segments_merged()}};
  if (state.has_pages()) {
    const collection::v1::PagesState& pages = state.pages();
    json["pages"] = {{"pages", pages.pages()},
                     {"page_bytes", pages.page_bytes()},
                     {"buffer_pages", pages.buffer_pages()},
                     {"read", pages.read()},
                     {"written", pages.written()},
                     {"vacuuming", pages.vacuuming()},
                     {"vacuumed", pages.vacuumed()}};
  }
  if (!state.schema().empty()) {
    json["schema"] = layout::schema_to_json(layout::parse_schema(state.schema()));
  }
  if (!state.failure().empty()) json["failure"] = state.failure();
  if (state.merge_segments() > 0) {
    json["merge"] = {{"phase", state.merge_phase()},
                     {"segments", state.merge_segments()},
                     {"rows", state.merge_rows()},
                     {"rows_linked", state.merge_rows_linked()}};
  }
  return json;
}

}  // namespace farvec::client
