// Rows that lack are told to the server's engine in two slots in turn: it takes those of one while
// this backend reads those of the other from the table.
#include <postgres.h>

#include "postgres/index/engine_store.h"
#include "postgres/index/index.h"

size_t rows_at_once_in_engine(const Store* store) {
  const Size row_bytes = sizeof(uint64) + vector_size(&store->shape);
  return Max((CHANNEL_REQUEST_BYTES - sizeof(AskRows)) / row_bytes, 1);
}

void forget_told_engine(Store* store) {
  engine_let_go(&store->told);
  engine_let_go(&store->coming);
}

// An index that is being built may have no room for the rows now: they come again.
static bool wait_for_told(Store* store, EngineLink* link, Patience* patience, farvec_error* error) {
  uint32 bytes;
  while (engine_end(link, &store->told, patience, &bytes, error)) {
    if (bytes == 0) return true;
    if (!wait_for_room(store, link, patience, error)) return false;
    engine_begin_again(link, &store->told);
  }
  return false;
}

bool end_telling_engine(Store* store, Patience* patience, farvec_error* error) {
  if (store->told.incarnation == 0) return true;
  EngineLink* link = reach_engine(store, patience, error);
  const bool is_in = link != NULL && wait_for_told(store, link, patience, error);
  engine_let_go(&store->told);
  return is_in;
}

bool tell_engine(Store* store, const uint64* vids, const void* vectors, StoreTuples tuples,
                 size_t count, Patience* patience, farvec_error* error) {
  EngineLink* link = reach_engine(store, patience, error);
  if (link == NULL) return false;
  RowsToAsk rows = {
      .vids = vids, .vectors = vectors, .tuples = store->columns.count > 0 ? &tuples : NULL};
  for (rows.first = 0; rows.first < count; rows.first += rows.count) {
    rows.count = rows_that_fit(&rows, count - rows.first, vector_size(&store->shape));
    const uint32 bytes = write_rows(link, store, &rows, patience, error);
    if (bytes == 0) return false;
    store->coming = engine_begin(link, kAskTell, bytes);
    if (!end_telling_engine(store, patience, error)) return false;
    store->told = store->coming;
    store->coming.incarnation = 0;
  }
  return true;
}
