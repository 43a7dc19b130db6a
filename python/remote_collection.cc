#include "python/remote_collection.h"

#include "base/status_error.h"

namespace farvec::python {

RemoteCollection::RemoteCollection(const client::NodeAccess& node, std::uint32_t retries)
    : attempts_{.retries = retries},
      searches_(node, retries),
      changes_(node, attempts_, searches_.metric()) {}

Answer RemoteCollection::search(const VectorView& queries, const Call& call) {
  return searches_.search(queries, call);
}

changes::Receipt RemoteCollection::import(const changes::RowBatch&, const Interruption&) {
  refuse_import();
}

changes::Receipt RemoteCollection::import_index(const std::filesystem::path&, std::uint64_t,
                                                const Interruption&) {
  refuse_import();
}

void RemoteCollection::refuse_import() const {
  throw StatusError(StatusCode::failed_precondition,
                    "{} has the collection: an import is for a collection of this machine",
                    place());
}

nlohmann::ordered_json RemoteCollection::describe() const {
  nlohmann::ordered_json facts = searches_.describe();
  facts["collection"] = facts["index"];
  facts["node_version"] = facts["version"];
  facts.erase("index");
  facts.update(changes_.now());
  return facts;
}

}  // namespace farvec::python
