// Requests of rows that are asked of the server's engine.
#include <postgres.h>

#include "postgres/index/engine_store.h"
#include "postgres/index/index.h"

static char* put(char* to, const void* from, Size bytes) {
  memcpy(to, from, bytes);
  return to + bytes;
}

static char* put_tuples(char* to, const RowsToAsk* rows) {
  const uint32 begin = tuple_begin(rows->tuples, rows->first);
  for (size_t i = 0; i < rows->count; i++) {
    const uint32 end = rows->tuples->ends[rows->first + i] - begin;
    to = put(to, &end, sizeof end);
  }
  return put(to, rows->tuples->bytes + begin,
             tuple_begin(rows->tuples, rows->first + rows->count) - begin);
}

uint32 write_rows(EngineLink* link, Store* store, const RowsToAsk* rows, Patience* patience,
                  farvec_error* error) {
  const Size row_bytes = rows->vectors == NULL ? 0 : vector_size(&store->shape);
  // Who waits for a slot has none: others that tell rows may wait too.
  if (!engine_has_slot(link) && !end_telling_engine(store, patience, error)) return 0;
  char* const request = engine_request(link, patience, error);
  if (request == NULL) return 0;
  AskRows asked = {.index = store->index,
                   .count = (uint32)rows->count,
                   .row_bytes = (uint32)row_bytes,
                   .deadline_ms = wait_of(patience).deadline_ms};
  if (rows->tuples != NULL) {
    asked.tuple_bytes = tuple_begin(rows->tuples, rows->first + rows->count) -
                        tuple_begin(rows->tuples, rows->first);
  }
  char* to = put(request, &asked, sizeof asked);
  to = put(to, rows->vids + rows->first, rows->count * sizeof *rows->vids);
  if (rows->vectors != NULL) {
    to = put(to, rows->vectors + rows->first * row_bytes, rows->count * row_bytes);
  }
  if (rows->tuples != NULL) to = put_tuples(to, rows);
  return (uint32)(to - request);
}

bool ask_rows(EngineLink* link, Store* store, uint32 operation, const RowsToAsk* rows,
              Patience* patience, uint32* bytes, farvec_error* error) {
  const uint32 asked = write_rows(link, store, rows, patience, error);
  return asked != 0 && engine_ask(link, operation, asked, patience, bytes, error);
}

size_t rows_that_fit(const RowsToAsk* rows, size_t left, Size row_bytes) {
  Size room = CHANNEL_REQUEST_BYTES - sizeof(AskRows);
  size_t fit = 0;
  while (fit < left) {
    const size_t row = rows->first + fit;
    const Size tuple = rows->tuples == NULL ? 0
                                            : sizeof(uint32) + tuple_begin(rows->tuples, row + 1) -
                                                  tuple_begin(rows->tuples, row);
    const Size bytes = sizeof(uint64) + row_bytes + tuple;
    if (bytes > room) break;
    room -= bytes;
    fit++;
  }
  return Max(fit, 1);
}
