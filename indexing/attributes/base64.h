// Base64 (RFC 4648) is how JSON has bytes that are no text.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace farvec::indexing {

std::string to_base64(std::string_view bytes);
/// Returns nothing where the text is none that to_base64() writes.
std::optional<std::string> from_base64(std::string_view text);

}  // namespace farvec::indexing
