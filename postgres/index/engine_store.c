// The store of an index in the server's engine.
#include <postgres.h>

#include "postgres/index/engine_store.h"

#include <utils/hsearch.h>
#include <utils/memutils.h>

#include "postgres/index/deadlines.h"
#include "postgres/index/index.h"

#define DROP_DEADLINE_MS 1000
#define BUILD_STEP_MS 200  // between two looks at how far a build is

// Nothing is asked yet: inserts succeed while the engine is away.
static Store* open_in_engine(const StoreIdentity* identity, const StoreShape* shape,
                             const StoreColumns* columns, const char* place, Oid owner,
                             Patience* patience) {
  static HTAB* stores = NULL;
  (void)place;
  (void)owner;
  (void)patience;
  if (stores == NULL) {
    HASHCTL control = {
        .keysize = sizeof(AskedIndex), .entrysize = sizeof(Store), .hcxt = TopMemoryContext};
    stores =
        hash_create("farvec engine stores", 16, &control, HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
  }
  const AskedIndex key = {.number = identity->number,
                          .tablespace = identity->tablespace,
                          .database = identity->database,
                          .file = identity->file};
  bool found;
  Store* store = hash_search(stores, &key, HASH_ENTER, &found);
  if (!found) memset((char*)store + sizeof key, 0, sizeof *store - sizeof key);
  store->shape = *shape;
  store->columns = *columns;
  return store;
}

// The engine is told when this backend opens the index the next time.
static void lie_in_engine(Store* store, const StorePlacing* placing) {
  if (memcmp(&store->placing, placing, sizeof *placing) == 0) return;
  store->placing = *placing;
  store->opened_in = 0;
  store->looked_in = 0;
  store->ready_in = 0;
}

bool ask_engine(EngineLink* link, uint32 operation, const void* request, Size bytes,
                Patience* patience, uint32* answered, farvec_error* error) {
  void* to = engine_request(link, patience, error);
  if (to == NULL) return false;
  memcpy(to, request, bytes);
  return engine_ask(link, operation, (uint32)bytes, patience, answered, error);
}

static bool is_state(const EngineLink* link, uint32 bytes, ToldState* state, farvec_error* error) {
  if (bytes == sizeof *state) {
    memcpy(state, link->answer, sizeof *state);
    return true;
  }
  error->status = FARVEC_INTERNAL;
  snprintf(error->message, sizeof error->message, "it answers with a state of %u bytes", bytes);
  return false;
}

// Opens the index in this engine, which makes it where it has none.
static bool open_now(Store* store, EngineLink* link, AskBegins begins, Patience* patience,
                     ToldState* state, farvec_error* error) {
  AskOpen asked = {.index = store->index,
                   .type = store->shape.type,
                   .metric = store->shape.metric,
                   .dimension = store->shape.dimension,
                   .degree = store->shape.degree,
                   .build_list = store->shape.build_list,
                   .begins = begins,
                   .pool_bytes = store->placing.pool_bytes,
                   .layout = store->placing.layout,
                   .code_bits = store->placing.code_bits};
  uint32 bytes;
  memcpy(asked.tier, store->placing.tier, sizeof asked.tier);
  for (uint32 i = 0; i < store->columns.count; i++) {
    asked.columns[i] = (uint8)store->columns.columns[i].type;
  }
  if (!ask_engine(link, kAskOpen, &asked, sizeof asked, patience, &bytes, error) ||
      !is_state(link, bytes, state, error)) {
    return false;
  }
  store->opened_in = link->incarnation;
  return true;
}

EngineLink* reach_engine(Store* store, Patience* patience, farvec_error* error) {
  ToldState state;
  EngineLink* link = engine_link(error);
  if (link == NULL || store->opened_in == link->incarnation) return link;
  return open_now(store, link, kAskKeeps, patience, &state, error) ? link : NULL;
}

static void begin_in_engine(Store* store, bool is_build, Patience* patience) {
  farvec_error error = {0};
  ToldState state;
  const AskBegins begins = is_build ? kAskBuilds : kAskBegins;
  EngineLink* link = engine_link_soon(&error);
  if (link == NULL || !open_now(store, link, begins, patience, &state, &error)) {
    raise_engine_error(&error, patience);
  }
  store->looked_in = link->incarnation;
}

// An index that this backend has opened in this engine may have been dropped by another one since,
// and has to be opened again.
static bool look_now(Store* store, EngineLink* link, Patience* patience, ToldState* state,
                     farvec_error* error) {
  uint32 bytes;
  if (store->opened_in == link->incarnation) {
    if (ask_engine(link, kAskState, &store->index, sizeof store->index, patience, &bytes, error)) {
      return is_state(link, bytes, state, error);
    }
    if (error->status != FARVEC_NOT_FOUND) return false;
  }
  return open_now(store, link, kAskKeeps, patience, state, error);
}

static StoreState state_in_engine(Store* store, Patience* patience) {
  farvec_error error = {0};
  ToldState state;
  EngineLink* link = engine_link(&error);
  if (link == NULL || !look_now(store, link, patience, &state, &error)) {
    raise_engine_error(&error, patience);
  }
  store->looked_in = link->incarnation;
  store->ready_in = state.ready == 1 ? link->incarnation : 0;
  store->opening = state.opening;
  return (StoreState){.covered = state.covered,
                      .ready = state.ready == 1,
                      .rows = state.rows,
                      .bytes = state.bytes};
}

static bool place_in_engine(Store* store, StorePlace* place, Patience* patience,
                            farvec_error* error) {
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

static bool was_ready_in_engine(const Store* store) {
  farvec_error error = {0};
  const EngineLink* link = engine_link(&error);
  return link != NULL && store->ready_in == link->incarnation;
}

static bool is_engine_there(const StoreIdentity* identity, const char* place) {
  (void)identity;
  (void)place;
  return engine_is_there();
}

static AskRows rows_of(const Store* store, size_t count, Size row_bytes, Patience* patience) {
  return (AskRows){.index = store->index,
                   .count = (uint32)count,
                   .row_bytes = (uint32)row_bytes,
                   .deadline_ms = wait_of(patience).deadline_ms};
}

// Rows of one request.
typedef struct RowsToAsk {
  const uint64* vids;
  const char* vectors;        // NULL: none come
  const StoreTuples* tuples;  // NULL: none come
  size_t first;
  size_t count;
} RowsToAsk;

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

// Asks with rows that fit a request.
static bool ask_rows(EngineLink* link, const Store* store, uint32 operation, const RowsToAsk* rows,
                     Patience* patience, uint32* bytes, farvec_error* error) {
  const Size row_bytes = rows->vectors == NULL ? 0 : vector_size(&store->shape);
  char* const request = engine_request(link, patience, error);
  if (request == NULL) return false;
  AskRows asked = rows_of(store, rows->count, row_bytes, patience);
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
  return engine_ask(link, operation, (uint32)(to - request), patience, bytes, error);
}

// The first of several rows that one request holds. At least one fits, since vectors and tuples
// have limits.
static size_t rows_that_fit(const RowsToAsk* rows, size_t left, Size row_bytes) {
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

static bool ask_build(const Store* store, EngineLink* link, uint32 operation, Patience* patience,
                      ToldBuild* told, farvec_error* error) {
  uint32 bytes;
  const AskRows asked = {.index = store->index, .deadline_ms = BUILD_STEP_MS};
  if (!ask_engine(link, operation, &asked, sizeof asked, patience, &bytes, error)) return false;
  if (bytes != sizeof *told) elog(ERROR, "the engine of farvec tells a build in %u bytes", bytes);
  memcpy(told, link->answer, sizeof *told);
  return true;
}

// Waits until the rows before these are linked, however long that takes.
static bool wait_for_room(const Store* store, EngineLink* link, Patience* patience,
                          farvec_error* error) {
  ToldBuild told = {.finished = 0};
  while (told.finished == 0) {
    Patience step = patience_for(FARVEC_BATCH_DEADLINE_MS);
    if (!ask_build(store, link, kAskRoom, &step, &told, error)) return false;
  }
  *patience = patience_for(patience->deadline_ms);
  return true;
}

static bool change(Store* store, uint32 operation, RowsToAsk rows, size_t count, Patience* patience,
                   farvec_error* error) {
  EngineLink* link = reach_engine(store, patience, error);
  if (link == NULL) return false;
  const Size row_bytes = rows.vectors == NULL ? 0 : vector_size(&store->shape);
  for (rows.first = 0; rows.first < count; rows.first += rows.count) {
    uint32 bytes;
    rows.count = rows_that_fit(&rows, count - rows.first, row_bytes);
    if (!ask_rows(link, store, operation, &rows, patience, &bytes, error)) return false;
    if (bytes == 0) continue;
    if (!wait_for_room(store, link, patience, error)) return false;
    rows.count = 0;  // they come again
  }
  return true;
}

static bool insert_into_engine(Store* store, const uint64* vids, const void* vectors,
                               StoreTuples tuples, size_t count, Patience* patience,
                               farvec_error* error) {
  const RowsToAsk rows = {
      .vids = vids, .vectors = vectors, .tuples = store->columns.count > 0 ? &tuples : NULL};
  return change(store, kAskInsert, rows, count, patience, error);
}

static bool tell_engine(Store* store, const uint64* vids, const void* vectors, StoreTuples tuples,
                        size_t count, Patience* patience, farvec_error* error) {
  const RowsToAsk rows = {
      .vids = vids, .vectors = vectors, .tuples = store->columns.count > 0 ? &tuples : NULL};
  return change(store, kAskTell, rows, count, patience, error);
}

static bool insert_into_engine_again(Store* store, const uint64* vids, const void* vectors,
                                     StoreTuples tuples, size_t count, Patience* patience,
                                     farvec_error* error) {
  const RowsToAsk rows = {
      .vids = vids, .vectors = vectors, .tuples = store->columns.count > 0 ? &tuples : NULL};
  return change(store, kAskInsertAgain, rows, count, patience, error);
}

static bool erase_from_engine(Store* store, const uint64* vids, size_t count, Patience* patience,
                              farvec_error* error) {
  return change(store, kAskErase, (RowsToAsk){.vids = vids}, count, patience, error);
}

// What is said of an engine is said to that one alone: another one may have lost what this backend
// has told before.
static EngineLink* link_as_before(const Store* store, farvec_error* error) {
  EngineLink* link = engine_link(error);
  if (link == NULL || link->incarnation == store->looked_in) return link;
  error->status = FARVEC_FAILED_PRECONDITION;
  strlcpy(error->message, "it was started again meanwhile", sizeof error->message);
  return NULL;
}

// An engine that has closed the index since, and opened it again, is not ready afterwards.
static void covers_in_engine(Store* store, uint64 vid, bool ready, Patience* patience) {
  farvec_error error = {0};
  uint32 bytes;
  const AskVid asked = {
      .index = store->index, .vid = vid, .ready = ready, .opening = store->opening};
  EngineLink* link = link_as_before(store, &error);
  if (link == NULL ||
      !ask_engine(link, kAskCovers, &asked, sizeof asked, patience, &bytes, &error)) {
    raise_engine_error(&error, patience);
  }
}

// A build whose engine was started again ends with an error.
static bool build_in_engine(Store* store, uint64* done, Patience* patience) {
  farvec_error error = {0};
  ToldBuild told;
  EngineLink* link = link_as_before(store, &error);
  if (link == NULL || !ask_build(store, link, kAskBuild, patience, &told, &error)) {
    raise_engine_error(&error, patience);
  }
  *done = told.linked;
  return told.finished == 1;
}

// Takes the vectors of one answer. Those that are not there have none in it.
static bool take_vectors(const EngineLink* link, uint32 bytes, size_t count, Size row_bytes,
                         bool* found, char* vectors) {
  Size at = count;
  if (bytes < count) return false;
  for (size_t i = 0; i < count; i++) {
    found[i] = link->answer[i] == 1;
    if (!found[i]) continue;
    if (at + row_bytes > bytes) return false;
    memcpy(vectors + i * row_bytes, link->answer + at, row_bytes);
    at += row_bytes;
  }
  return at == bytes;
}

static void get_from_engine(Store* store, const uint64* vids, size_t count, bool* found,
                            void* vectors, Patience* patience) {
  farvec_error error = {0};
  const Size row_bytes = vector_size(&store->shape);
  const size_t most = Max(CHANNEL_ANSWER_BYTES / (row_bytes + 1), 1);
  EngineLink* link = reach_engine(store, patience, &error);
  if (link == NULL) raise_engine_error(&error, patience);
  for (size_t i = 0; i < count; i += most) {
    const size_t part = Min(most, count - i);
    const RowsToAsk rows = {.vids = vids, .first = i, .count = part};
    uint32 bytes;
    if (!ask_rows(link, store, kAskGet, &rows, patience, &bytes, &error)) {
      raise_engine_error(&error, patience);
    }
    if (!take_vectors(link, bytes, part, row_bytes, found + i, (char*)vectors + i * row_bytes)) {
      elog(ERROR, "the engine of farvec answers with other vectors");
    }
  }
}

static void compare_in_engine(Store* store, const uint64* vids, StoreTuples tuples, size_t count,
                              bool* same, Patience* patience) {
  farvec_error error = {0};
  RowsToAsk rows = {.vids = vids, .tuples = &tuples};
  EngineLink* link = reach_engine(store, patience, &error);
  if (link == NULL) raise_engine_error(&error, patience);
  for (; rows.first < count; rows.first += rows.count) {
    uint32 bytes;
    rows.count = rows_that_fit(&rows, count - rows.first, 0);
    if (!ask_rows(link, store, kAskSame, &rows, patience, &bytes, &error)) {
      raise_engine_error(&error, patience);
    }
    if (bytes != rows.count) elog(ERROR, "the engine of farvec answers for other rows");
    for (size_t i = 0; i < rows.count; i++) same[rows.first + i] = link->answer[i] == 1;
  }
}

// The worker finds later what this cannot drop.
static void drop_from_engine(const StoreIdentity* identity, const char* place) {
  farvec_error error;
  uint32 bytes;
  Patience patience = patience_for(DROP_DEADLINE_MS);
  (void)place;
  const AskedIndex asked = {.number = identity->number,
                            .tablespace = identity->tablespace,
                            .database = identity->database,
                            .file = identity->file};
  EngineLink* link = engine_link(&error);
  if (link != NULL) {
    ask_engine(link, kAskDrop, &asked, sizeof asked, &patience, &bytes, &error);
  }
}

const StoreKind kEngineStore = {.name = "engine",
                                .is_shared = false,
                                .has_true_distances = true,
                                .open = open_in_engine,
                                .lie = lie_in_engine,
                                .place = place_in_engine,
                                .begin = begin_in_engine,
                                .build = build_in_engine,
                                .state = state_in_engine,
                                .was_ready = was_ready_in_engine,
                                .is_there = is_engine_there,
                                .insert = insert_into_engine,
                                .insert_again = insert_into_engine_again,
                                .erase = erase_from_engine,
                                .compare = compare_in_engine,
                                .covers = covers_in_engine,
                                .lacks = lacks_in_engine,
                                .tell = tell_engine,
                                .get = get_from_engine,
                                .search = search_engine,
                                .next = next_of_engine,
                                .counts = counts_of_engine,
                                .drop = drop_from_engine};
