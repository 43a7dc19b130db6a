#include <postgres.h>

#include "postgres/index/pending.h"

#include <access/relation.h>
#include <access/xact.h>
#include <miscadmin.h>
#include <utils/memutils.h>
#include <utils/rel.h>

// Rows of one index with the pages that it has now. TRUNCATE and REINDEX give it others, which are
// built with the rows of this transaction; a rollback to a savepoint may bring back the first.
typedef struct Pending {
  Oid index;
  Oid file;
  Delivery* delivery;
  struct Pending* next;
} Pending;

static Pending* pending = NULL;

// The transaction has sent its rows. What another extension inserts in its last moment does not
// wait.
static bool is_ending = false;

static Oid file_of(Relation index) {
  return identity_of(index, &(StatusMeta){0}).file;
}

static bool has_rows(const Pending* one) {
  return one->delivery->count > 0 || one->delivery->stored > 0;
}

static Pending* find(Relation index) {
  Pending* one = pending;
  while (one != NULL && (one->index != RelationGetRelid(index) || one->file != file_of(index))) {
    one = one->next;
  }
  return one;
}

void send_kept_rows(Relation index) {
  if (pending == NULL) return;
  Pending* one = find(index);
  if (one == NULL || !has_rows(one)) return;
  one->delivery->relation = index;
  send_in_insert(one->delivery);
}

void forget_kept_rows(Relation index) {
  Pending* one = find(index);
  if (one != NULL) forget_all_rows(one->delivery);
}

// An index that was dropped, or has other pages now, needs none of these rows.
static void send_all(void) {
  for (Pending* one = pending; one != NULL; one = one->next) {
    if (!has_rows(one)) continue;
    Relation index = try_relation_open(one->index, RowExclusiveLock);
    if (index == NULL) continue;
    if (file_of(index) == one->file) send_kept_rows(index);
    relation_close(index, RowExclusiveLock);
  }
}

static void end_transaction(XactEvent event, void* unused) {
  (void)unused;
  switch (event) {
    case XACT_EVENT_PRE_COMMIT:
    case XACT_EVENT_PRE_PREPARE:
      is_ending = true;
      send_all();
      break;
    case XACT_EVENT_COMMIT:
    case XACT_EVENT_ABORT:
    case XACT_EVENT_PREPARE:
      pending = NULL;  // its memory is the transaction's
      is_ending = false;
      break;
    default:
      break;
  }
}

// Rows that are rolled back may be vacuumed away before the transaction ends, and another row be
// put in their place. So they are forgotten at once.
static void end_subtransaction(SubXactEvent event, SubTransactionId own, SubTransactionId parent,
                               void* unused) {
  (void)parent;
  (void)unused;
  if (event != SUBXACT_EVENT_ABORT_SUB) return;
  for (Pending* one = pending; one != NULL; one = one->next) forget_rows_of(one->delivery, own);
}

static Pending* make(Relation index) {
  static bool is_registered = false;
  if (!is_registered) {
    RegisterXactCallback(end_transaction, NULL);
    RegisterSubXactCallback(end_subtransaction, NULL);
  }
  is_registered = true;
  const MemoryContext before = MemoryContextSwitchTo(TopTransactionContext);
  Pending* one = palloc0(sizeof *one);
  one->index = RelationGetRelid(index);
  one->file = file_of(index);
  one->delivery = make_delivery(index, 1);
  one->next = pending;
  pending = one;
  MemoryContextSwitchTo(before);
  return one;
}

static Size kept_bytes(void) {
  Size bytes = 0;
  for (const Pending* one = pending; one != NULL; one = one->next) {
    bytes += one->delivery->room * one->delivery->bytes + (Size)one->delivery->tuples.bytes.len;
  }
  return bytes;
}

// Room for more rows, unless there are as many as a batch has, or all that wait take work_mem.
static void make_room(Delivery* delivery) {
  const size_t room = Min(2 * delivery->room, batch_rows(&delivery->meta.shape));
  const Size more = (room - delivery->room) * delivery->bytes;
  if (room == delivery->room || kept_bytes() + more > (Size)work_mem * 1024) {
    send_in_insert(delivery);
  } else {
    grow(delivery, room);
  }
}

void keep_row(Relation index, const Datum* values, const bool* nulls, ItemPointer tid,
              bool is_again) {
  Pending* one = find(index);
  if (one == NULL) one = make(index);
  one->delivery->relation = index;
  if (one->delivery->stored > 0) send_in_insert(one->delivery);
  if (is_full(one->delivery)) make_room(one->delivery);
  add_row(one->delivery, values, nulls, tid);
  one->delivery->is_again = one->delivery->is_again || is_again;
  if (is_ending) send_in_insert(one->delivery);
}
