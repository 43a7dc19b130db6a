// This header says how long the access method waits for a store.
#ifndef FARVEC_POSTGRES_INDEX_DEADLINES_H
#define FARVEC_POSTGRES_INDEX_DEADLINES_H

#include <postgres.h>

#define FARVEC_INSERT_DEADLINE_MS \
  10000                                // a row of an INSERT, which then succeeds without the store
#define FARVEC_SCAN_DEADLINE_MS 30000  // one batch of a search
#define FARVEC_BATCH_DEADLINE_MS 600000  // one batch of a build or of catching up
#define FARVEC_ERASE_DEADLINE_MS 10000

#endif
