// Where a page declares its encoding (HTML standard, 13.2.3): the steps of charset.h, one by one. Pure
// functions.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace orbweaver::html {

// The prescan reads this many bytes (13.2.3.2 requires 1024 bytes or less).
inline constexpr std::size_t max_prescan_bytes = 1024;
// A <meta> after the prescan still counts when the tokenizer finds it
// (13.2.3.4, "change the encoding"), up to this far into the page.
inline constexpr std::size_t max_late_meta_bytes = 256 * 1024;

// All return the Encoding standard's name in lower case.
std::optional<std::string> charset_from_bom(std::string_view bytes, std::size_t& bom_bytes);
std::optional<std::string> charset_from_content_type(std::string_view content_type);
// The declaration of a <meta> within the first max_prescan_bytes, else of an XML declaration at the very beginning.
std::optional<std::string> charset_from_prescan(std::string_view bytes);
// "Get an XML encoding" (13.2.3.2): for bytes that begin with "<?xml"; utf-16 there means utf-8.
std::optional<std::string> charset_from_xml_declaration(std::string_view bytes);
std::optional<std::string> charset_from_late_meta(std::string_view bytes);
// A style sheet's "@charset "…";" (CSS Syntax 3, 3.2): utf-16 there means utf-8.
std::optional<std::string> charset_from_css(std::string_view bytes);

// The guess of ICU's detector for a sample; nothing when it is not sure, or the sample is too small (icu_detect.cc).
std::optional<std::string> charset_from_detection(std::string_view bytes);

enum class Utf8Evidence { invalid, ascii, valid };  // valid: and not only ASCII
Utf8Evidence utf8_evidence(std::string_view bytes);

}  // namespace orbweaver::html
