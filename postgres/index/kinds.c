// Which store an index has, and opening the two.
#include <postgres.h>

#include <access/xlog.h>
#include <utils/rel.h>

#include "postgres/index/index.h"
#include "postgres/shared.h"
#include "postgres/worker/link.h"

const StoreKind* store_kind(const char* node) {
  return node != NULL ? &kNodeStore : &kEngineStore;
}

void raise_store_error(const farvec_error* error, const char* node, const Patience* patience) {
  if (node == NULL) raise_engine_error(error, patience);
  raise_library_error(error, node, patience);
}

StoreIdentity identity_of(Relation index, const StatusMeta* meta) {
#if PG_VERSION_NUM >= 160000
  return (StoreIdentity){.number = meta->number,
                         .tablespace = index->rd_locator.spcOid,
                         .database = index->rd_locator.dbOid,
                         .file = index->rd_locator.relNumber,
                         .index = RelationGetRelid(index)};
#else
  return (StoreIdentity){.number = meta->number,
                         .tablespace = index->rd_node.spcNode,
                         .database = index->rd_node.dbNode,
                         .file = index->rd_node.relNode,
                         .index = RelationGetRelid(index)};
#endif
}

void open_index(OpenIndex* index, Relation relation, uint32 deadline_ms) {
  shared_state();  // the server has preloaded the extension
  index->relation = relation;
  index->meta = status_meta(relation);
  if (index->meta.number == 0) {
    status_number(relation);
    index->meta = status_meta(relation);
  }
  // Rows that came while the store was elsewhere are not in this one.
  if (index->meta.place != place_of(relation) && !RecoveryInProgress()) {
    status_moved(relation);
    index->meta = status_meta(relation);
  }
  read_columns(relation, &index->columns);
  const char* node = node_of(relation);
  const StoreIdentity identity = identity_of(relation, &index->meta);
  index->kind = store_kind(node);
  index->patience = patience_for(deadline_ms);
  index->store = index->kind->open(&identity, &index->meta.shape, &index->columns, node,
                                   relation->rd_rel->relowner, &index->patience);
  if (index->kind->lie != NULL) {
    const StorePlacing placing = placing_of(relation);
    index->kind->lie(index->store, &placing);
  }
}
