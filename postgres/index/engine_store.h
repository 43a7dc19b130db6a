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
} Store;

// The link, with the index open in its engine. NULL, with the reason in `error`, where that cannot
// be.
EngineLink* reach_engine(Store* store, Patience* patience, farvec_error* error);

// Asks with a request of one part.
bool ask_engine(EngineLink* link, uint32 operation, const void* request, Size bytes,
                Patience* patience, uint32* answered, farvec_error* error);

StoreSearch* search_engine(Store* store, const void* query, const StoreSearchOptions* options);
size_t next_of_engine(StoreSearch* search, StoreFound* found, size_t most, Patience* patience);
void counts_of_engine(const StoreSearch* search, farvec_counts* counts);

void lacks_in_engine(Store* store, const StorePage* pages, size_t count, const StorePass* pass,
                     StoreBits* lacks, Patience* patience);

#endif
