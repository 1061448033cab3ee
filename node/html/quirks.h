// Whether a doctype puts a page into quirks mode (HTML standard, 13.2.6.4.1, "initial"). Pure. Thread rule: free
// function.
#pragma once

#include <string_view>

namespace orbweaver::html {

// `doctype`: the text between "<!" and '>' ("DOCTYPE html PUBLIC …"); empty when the page has no doctype, which also
// means quirks mode.
bool is_quirks_doctype(std::string_view doctype);

}  // namespace orbweaver::html
