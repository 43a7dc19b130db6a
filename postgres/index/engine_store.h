// This header is shared by the files of the store that the server's engine has.
#ifndef FARVEC_POSTGRES_INDEX_ENGINE_STORE_H
#define FARVEC_POSTGRES_INDEX_ENGINE_STORE_H

#include <postgres.h>

#include "postgres/channel/requests.h"
#include "postgres/index/store.h"
#include "postgres/worker/link.h"

// Its key is what it begins with.
typedef struct Store {
  AskedIndex index;
  StoreShape shape;
  StoreColumns columns;
  StorePlacing placing;
  uint64 opened_in;  // the incarnation in which this backend has opened it
  uint64 looked_in;  // that of the last state()
  uint64 ready_in;   // that in which it was ready then; 0: none
  uint32 opening;    // that of the last state(): what is told of it holds for no other one
  // Rows that are under way to it: those that were told last, and others after them.
  EngineAsked told;
  EngineAsked coming;
} Store;

// The link, with the index open in its engine. NULL, with the reason in `error`, where that cannot
// be.
EngineLink* reach_engine(Store* store, Patience* patience, farvec_error* error);

// Asks with a request of one part.
bool ask_engine(EngineLink* link, uint32 operation, const void* request, Size bytes,
                Patience* patience, uint32* answered, farvec_error* error);

// Rows of one request.
typedef struct RowsToAsk {
  const uint64* vids;
  const char* vectors;        // NULL: none come
  const StoreTuples* tuples;  // NULL: none come
  size_t first;
  size_t count;
} RowsToAsk;

// These are in engine_rows.c. How many of the next `left` rows one request holds: at least one,
// since vectors and tuples have limits.
size_t rows_that_fit(const RowsToAsk* rows, size_t left, Size row_bytes);
// Writes a request of rows. Answers its bytes; 0, with the reason in `error`, where no slot is
// free.
uint32 write_rows(EngineLink* link, Store* store, const RowsToAsk* rows, Patience* patience,
                  farvec_error* error);
// Asks with rows that fit a request, and waits.
bool ask_rows(EngineLink* link, Store* store, uint32 operation, const RowsToAsk* rows,
              Patience* patience, uint32* bytes, farvec_error* error);

// Waits until a build has room for further rows, however long that takes.
bool wait_for_room(const Store* store, EngineLink* link, Patience* patience, farvec_error* error);

// StoreKind.tell and those after it (engine_tell.c).
bool tell_engine(Store* store, const uint64* vids, const void* vectors, StoreTuples tuples,
                 size_t count, Patience* patience, farvec_error* error);
bool end_telling_engine(Store* store, Patience* patience, farvec_error* error);
void forget_told_engine(Store* store);
size_t rows_at_once_in_engine(const Store* store);

// StoreKind.lie and StoreKind.place (engine_place.c).
void lie_in_engine(Store* store, const StorePlacing* placing);
bool place_in_engine(Store* store, StorePlace* place, Patience* patience, farvec_error* error);

StoreSearch* search_engine(Store* store, const void* query, const StoreSearchOptions* options);
size_t next_of_engine(StoreSearch* search, StoreFound* found, size_t most, Patience* patience);
void counts_of_engine(const StoreSearch* search, farvec_counts* counts);

void lacks_in_engine(Store* store, const StorePage* pages, size_t count, const StorePass* pass,
                     StoreBits* lacks, Patience* patience);

#endif
