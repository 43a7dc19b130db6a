// Where an index lies in the server's engine: saying it, and asking.
#include <postgres.h>

#include "postgres/index/engine_store.h"

// The engine is told when this backend opens the index the next time.
void lie_in_engine(Store* store, const StorePlacing* placing) {
  if (memcmp(&store->placing, placing, sizeof *placing) == 0) return;
  store->placing = *placing;
  store->opened_in = 0;
  store->looked_in = 0;
  store->ready_in = 0;
}

bool place_in_engine(Store* store, StorePlace* place, Patience* patience, farvec_error* error) {
  ToldPlace told;
  uint32 bytes;
  EngineLink* link = reach_engine(store, patience, error);
  if (link == NULL ||
      !ask_engine(link, kAskPlace, &store->index, sizeof store->index, patience, &bytes, error)) {
    return false;
  }
  if (bytes != sizeof told) elog(ERROR, "the engine of farvec tells a place in %u bytes", bytes);
  memcpy(&told, link->answer, sizeof told);
  told.tier[sizeof told.tier - 1] = '\0';
  told.device[sizeof told.device - 1] = '\0';
  *place = (StorePlace){.pool = told.pool,
                        .pool_used = told.pool_used,
                        .loaded = told.loaded,
                        .layout = told.layout,
                        .code_bits = told.code_bits,
                        .segments = told.segments};
  strlcpy(place->tier, told.tier, sizeof place->tier);
  strlcpy(place->device, told.device, sizeof place->device);
  return true;
}
