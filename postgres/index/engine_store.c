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

static bool ask_build(const Store* store, EngineLink* link, uint32 operation, Patience* patience,
                      ToldBuild* told, farvec_error* error) {
  uint32 bytes;
  const AskRows asked = {.index = store->index, .deadline_ms = BUILD_STEP_MS};
  if (!ask_engine(link, operation, &asked, sizeof asked, patience, &bytes, error)) return false;
  if (bytes != sizeof *told) elog(ERROR, "the engine of farvec tells a build in %u bytes", bytes);
  memcpy(told, link->answer, sizeof *told);
  return true;
}

bool wait_for_room(const Store* store, EngineLink* link, Patience* patience, farvec_error* error) {
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
                                .told = end_telling_engine,
                                .forget_told = forget_told_engine,
                                .rows_at_once = rows_at_once_in_engine,
                                .get = get_from_engine,
                                .search = search_engine,
                                .next = next_of_engine,
                                .counts = counts_of_engine,
                                .drop = drop_from_engine};
