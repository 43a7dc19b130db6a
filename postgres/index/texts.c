// Texts of SQL as stores have them.
#include <postgres.h>

#include <catalog/namespace.h>
#include <catalog/pg_collation.h>
#include <mb/pg_wchar.h>
#include <utils/builtins.h>
#include <utils/pg_locale.h>
#if PG_VERSION_NUM >= 160000
#include <varatt.h>
#endif

#include "postgres/index/columns.h"

static bool is_ascii(const char* bytes, Size length) {
  for (Size i = 0; i < length; i++) {
    if ((unsigned char)bytes[i] >= 0x80) return false;
  }
  return true;
}

// Any answer is right that is equal for equal texts. So what is no text has its digits.
static char* digits_of(const char* bytes, Size length, Size most) {
  const Size count = Min(length, (most - 2) / 2);
  char* digits = palloc(2 * count + 3);
  strcpy(digits, "\\x");
  hex_encode(bytes, count, digits + 2);
  digits[2 + 2 * count] = '\0';
  return digits;
}

static char* cut_utf8(const char* utf8, Size length, Size most) {
  const Size kept =
      length <= most ? length : (Size)pg_encoding_mbcliplen(PG_UTF8, utf8, (int)length, (int)most);
  return pnstrdup(utf8, kept);
}

// NULL where a character has none in UTF-8.
static char* converted(const char* bytes, Size length, Size most) {
  const int encoding = GetDatabaseEncoding();
  const Oid conversion = FindDefaultConversionProc(encoding, PG_UTF8);
  if (!OidIsValid(conversion)) return NULL;
  const Size room = length * MAX_CONVERSION_GROWTH + 1;
  char* utf8 = palloc(room);
  const int done = pg_do_encoding_conversion_buf(
      conversion, encoding, PG_UTF8, (unsigned char*)unconstify(char*, bytes), (int)length,
      (unsigned char*)utf8, (int)room, true);
  char* cut = (Size)done == length ? cut_utf8(utf8, strlen(utf8), most) : NULL;
  pfree(utf8);
  return cut;
}

char* stored_text(const char* bytes, Size length, Size most) {
  const int encoding = GetDatabaseEncoding();
  if (encoding == PG_UTF8) return cut_utf8(bytes, length, most);
  // A character has at least a quarter of its bytes in UTF-8.
  const Size looked_at =
      length <= 4 * most ? length : (Size)pg_mbcliplen(bytes, (int)length, (int)(4 * most));
  if (is_ascii(bytes, looked_at)) return pnstrdup(bytes, Min(looked_at, most));
  char* made = NULL;
  if (encoding != PG_SQL_ASCII) {
    made = converted(bytes, looked_at, most);
  } else if (pg_verify_mbstr(PG_UTF8, bytes, (int)looked_at, true)) {
    made = cut_utf8(bytes, looked_at, most);
  }
  return made != NULL ? made : digits_of(bytes, looked_at, most);
}

bool has_store_order(Oid collation) {
  if (GetDatabaseEncoding() != PG_UTF8 || !OidIsValid(collation)) return false;
#if PG_VERSION_NUM >= 180000
  return pg_newlocale_from_collation(collation)->collate_is_c;
#else
  return lc_collate_is_c(collation);
#endif
}

// A set has no empty labels.
char* stored_label(Datum value, Size most) {
  const text* label = DatumGetTextPP(value);
  const Size length = (Size)VARSIZE_ANY_EXHDR(label);
  return length == 0 ? pstrdup("\"\"") : stored_text(VARDATA_ANY(label), length, most);
}
