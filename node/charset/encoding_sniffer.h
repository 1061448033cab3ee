// Where a page says what its bytes mean (HTML standard, 13.2.3): the steps of charset.h, each on its own. Pure
// functions.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace orbweaver::html {

// The prescan reads this much (13.2.3.2 asks for 1024 bytes or less).
inline constexpr std::size_t prescan_bytes_max = 1024;
// A <meta> past the prescan still counts when the tokenizer meets it (13.2.3.4, "change the encoding"); so far into the
// page.
inline constexpr std::size_t late_meta_bytes_max = 256 * 1024;

// All give the Encoding standard's name in lower case.
std::optional<std::string> charset_from_bom(std::string_view bytes, std::size_t& bom_bytes);
std::optional<std::string> charset_from_content_type(std::string_view content_type);
// What a <meta> within the first prescan_bytes_max declares, else an XML declaration at the very beginning.
std::optional<std::string> charset_from_prescan(std::string_view bytes);
// "Get an XML encoding" (13.2.3.2): of bytes that begin with "<?xml"; utf-16 there means utf-8.
std::optional<std::string> charset_from_xml_declaration(std::string_view bytes);
std::optional<std::string> charset_from_late_meta(std::string_view bytes);
// A style sheet's "@charset "…";" (CSS Syntax 3, 3.2): utf-16 there means utf-8.
std::optional<std::string> charset_from_css(std::string_view bytes);

// What ICU's detector makes of a sample; nothing when it is not sure, or has too little to go by (icu_detect.cc).
std::optional<std::string> charset_from_detection(std::string_view bytes);

enum class Utf8Evidence { invalid, ascii, valid };  // valid: and not ASCII alone
Utf8Evidence utf8_evidence(std::string_view bytes);

}  // namespace orbweaver::html
