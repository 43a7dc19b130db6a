// Rows get their VIDs, and the store is told their vectors.
#include <postgres.h>

#include <access/xact.h>
#include <storage/lmgr.h>
#include <utils/memutils.h>
#include <utils/rel.h>
#include <utils/timestamp.h>

#include "postgres/index/deadlines.h"
#include "postgres/index/index.h"

#define FIRST_PAUSE_MS 500
#define LAST_PAUSE_MS 10000

#define DELIVERY_LOCK 1

void lock_delivery(Relation index, int mode) {
  ItemPointerData tag = lock_tag(DELIVERY_LOCK);
  LockTuple(index, &tag, mode);
}

void unlock_delivery(Relation index, int mode) {
  ItemPointerData tag = lock_tag(DELIVERY_LOCK);
  UnlockTuple(index, &tag, mode);
}

Delivery* make_delivery(Relation index, size_t room) {
  Delivery* delivery = palloc0(sizeof *delivery);
  delivery->relation = index;
  delivery->meta = status_meta(index);
  read_columns(index, &delivery->columns);
  make_tuples(&delivery->tuples, &delivery->columns, room);
  delivery->room = room;
  delivery->bytes = vector_size(&delivery->meta.shape);
  delivery->entries = palloc(room * sizeof(StatusEntry));
  delivery->vids = palloc(room * sizeof(uint64));
  delivery->origins = palloc(room * sizeof(SubTransactionId));
  delivery->vectors = palloc_extended(room * delivery->bytes, MCXT_ALLOC_HUGE);
  return delivery;
}

void grow(Delivery* delivery, size_t room) {
  delivery->entries = repalloc(delivery->entries, room * sizeof(StatusEntry));
  delivery->vids = repalloc(delivery->vids, room * sizeof(uint64));
  delivery->origins = repalloc(delivery->origins, room * sizeof(SubTransactionId));
  delivery->vectors = repalloc_huge(delivery->vectors, room * delivery->bytes);
  grow_tuples(&delivery->tuples, room);
  delivery->room = room;
}

void add_row(Delivery* delivery, const Datum* values, const bool* nulls, ItemPointer tid) {
  StatusEntry* entry = &delivery->entries[delivery->count];
  *entry = (StatusEntry){.block = ItemPointerGetBlockNumber(tid),
                         .offset = ItemPointerGetOffsetNumber(tid)};
  if (nulls[0]) {
    entry->flags = FARVEC_NULL;
  } else {
    char* place = delivery->vectors + delivery->count * delivery->bytes;
    const double length = write_vector(values[0], &delivery->meta.shape, place);
    entry->flags = (uint16)kind_of_vector(&delivery->meta.shape, length);
    if (delivery->meta.shape.metric == FARVEC_INNER_PRODUCT) {
      delivery->longest = Max(delivery->longest, length);
    }
  }
  add_tuple(&delivery->tuples, values + 1, nulls + 1);
  delivery->kinds |= entry->flags;
  delivery->origins[delivery->count++] = GetCurrentSubTransactionId();
}

// Moves what a store is told of a row to the place of an earlier one.
static void move_row(Delivery* delivery, size_t from, size_t to) {
  memmove(delivery->vectors + to * delivery->bytes, delivery->vectors + from * delivery->bytes,
          delivery->bytes);
  move_tuple(&delivery->tuples, from, to);
}

void forget_rows_of(Delivery* delivery, SubTransactionId first) {
  size_t kept = 0;
  for (size_t i = 0; i < delivery->count; i++) {
    if (delivery->origins[i] >= first) continue;
    delivery->entries[kept] = delivery->entries[i];
    delivery->origins[kept] = delivery->origins[i];
    move_row(delivery, i, kept++);
  }
  if (delivery->count > 0) cut_tuples(&delivery->tuples, kept);
  delivery->count = kept;
}

void forget_all_rows(Delivery* delivery) {
  forget_tuples(&delivery->tuples);
  delivery->count = 0;
  delivery->stored = 0;
  delivery->kinds = 0;
  delivery->longest = 0;
  delivery->is_writing = false;
  delivery->is_again = false;
}

// Gives the waiting rows their VIDs. Those that a store holds come first then, with their vectors,
// and wait to be told. An error in the middle leaves `is_writing`, since rows may have entries
// then.
static void write_entries(Delivery* delivery, bool durable) {
  delivery->is_writing = true;
  status_notes(delivery->relation, delivery->kinds, delivery->longest);
  status_add(delivery->relation, delivery->entries, delivery->vids, delivery->count, durable);
  size_t stored = 0;
  for (size_t i = 0; i < delivery->count; i++) {
    if (delivery->entries[i].flags != 0) continue;
    delivery->vids[stored] = delivery->vids[i];
    move_row(delivery, i, stored++);
  }
  cut_tuples(&delivery->tuples, stored);
  delivery->stored = stored;
  delivery->count = 0;
  delivery->kinds = 0;
  delivery->longest = 0;
  delivery->is_writing = false;
}

static bool tell(Delivery* delivery, OpenIndex* index, farvec_error* error) {
  if (delivery->stored == 0) return true;
  const StoreKind* kind = index->kind;
  const bool is_again = delivery->is_again && kind->insert_again != NULL;
  return (is_again ? kind->insert_again : kind->insert)(
      index->store, delivery->vids, delivery->vectors, tuples_of(&delivery->tuples),
      delivery->stored, &index->patience, error);
}

static void forget_stored(Delivery* delivery) {
  delivery->stored = 0;
  delivery->is_again = false;
  forget_tuples(&delivery->tuples);
}

void send_in_build(Delivery* delivery, OpenIndex* index) {
  farvec_error error = {0};
  write_entries(delivery, false);
  index->patience = patience_for(FARVEC_BATCH_DEADLINE_MS);
  if (!tell(delivery, index, &error)) {
    raise_store_error(&error, node_of(delivery->relation), &index->patience);
  }
  forget_stored(delivery);
}

// Rows of statements do not wait one after the other for a store that is away. What the backend
// knows of one index goes when it inserts into another one.
static struct {
  Oid index;
  TimestampTz until;
  int pause_ms;
} away;

static bool is_away(Relation index) {
  return away.index == RelationGetRelid(index) && GetCurrentTimestamp() < away.until;
}

static void note_away(Relation index) {
  if (away.index != RelationGetRelid(index)) away.pause_ms = 0;
  away.index = RelationGetRelid(index);
  away.pause_ms = Min(Max(2 * away.pause_ms, FIRST_PAUSE_MS), LAST_PAUSE_MS);
  away.until = TimestampTzPlusMilliseconds(GetCurrentTimestamp(), away.pause_ms);
}

static void note_told(Relation index) {
  if (away.index == RelationGetRelid(index)) away.index = InvalidOid;
}

// The entries are written. What goes wrong with the store is no failure of the statement.
static void tell_or_note(Delivery* delivery, OpenIndex* index) {
  farvec_error error = {0};
  if (delivery->stored == 0) return;
  if (!is_away(delivery->relation) && tell(delivery, index, &error)) {
    note_told(delivery->relation);
    return;
  }
  status_lacks(delivery->relation, delivery->vids[0]);
  if (error.status == FARVEC_OK) return;
  note_away(delivery->relation);
  ereport(DEBUG1, (errmsg("index \"%s\" catches up later: %s",
                          RelationGetRelationName(delivery->relation), error.message)));
}

// Rows whose entries were written before an error are told again when the transaction goes on after
// a savepoint. Where it is not known which entries were written, it cannot go on.
void send_in_insert(Delivery* delivery) {
  OpenIndex index;
  if (delivery->is_writing) {
    ereport(ERROR, (errcode(ERRCODE_IN_FAILED_SQL_TRANSACTION),
                    errmsg("index \"%s\" could not be written before",
                           RelationGetRelationName(delivery->relation)),
                    errhint("Roll the whole transaction back.")));
  }
  lock_delivery(delivery->relation, ShareLock);
  open_index(&index, delivery->relation, FARVEC_INSERT_DEADLINE_MS);
  if (delivery->stored == 0) write_entries(delivery, true);
  tell_or_note(delivery, &index);
  forget_stored(delivery);
  unlock_delivery(delivery->relation, ShareLock);
}
