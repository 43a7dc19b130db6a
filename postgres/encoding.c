#include <postgres.h>

#include "postgres/encoding.h"

#include <catalog/namespace.h>
#include <mb/pg_wchar.h>

const char* utf8_of(const char* text) {
  return pg_server_to_any(text, (int)strlen(text), PG_UTF8);
}

const char* text_of_utf8(const char* utf8) {
  return pg_any_to_server(utf8, (int)strlen(utf8), PG_UTF8);
}

static char* without_others(const char* text) {
  char* copy = pstrdup(text);
  for (char* byte = copy; *byte != '\0'; byte++) {
    if ((unsigned char)*byte >= 0x80) *byte = '?';
  }
  return copy;
}

// Converts what can be, and goes on after each character that cannot. There is twice the room that
// the text can need, because a conversion takes no more than surely has room.
static char* converted(const char* utf8, Oid conversion) {
  const int encoding = GetDatabaseEncoding();
  int left = (int)strlen(utf8);
  unsigned char* from = (unsigned char*)pstrdup(utf8);
  const Size room = 2 * (Size)left * MAX_CONVERSION_GROWTH + 1;
  char* answer = palloc(room);
  Size length = 0;
  while (true) {
    const int done =
        pg_do_encoding_conversion_buf(conversion, PG_UTF8, encoding, from, left,
                                      (unsigned char*)answer + length, (int)(room - length), true);
    length += strlen(answer + length);
    from += done;
    left -= done;
    if (left <= 0) break;
    const int skipped = Min(pg_utf_mblen(from), left);
    from += skipped;
    left -= skipped;
    answer[length++] = '?';
    answer[length] = '\0';
  }
  return answer;
}

const char* message_of_utf8(const char* utf8) {
  const int encoding = GetDatabaseEncoding();
  const int length = (int)strlen(utf8);
  if (encoding == PG_UTF8 || encoding == PG_SQL_ASCII) {
    return pg_verify_mbstr(PG_UTF8, utf8, length, true) ? utf8 : without_others(utf8);
  }
  const Oid conversion = FindDefaultConversionProc(PG_UTF8, encoding);
  return OidIsValid(conversion) ? converted(utf8, conversion) : without_others(utf8);
}
