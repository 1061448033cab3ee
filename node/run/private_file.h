// Files and directories on a machine that others use too: nobody reads what is not for them, and no link that another
// user laid leads a write astray. Thread rule: free functions; set_data_access() is for the start of a process.
#pragma once

#include <string>

#include "node/base.h"
#include "node/config/settings.h"
#include "storage/open_waiter.h"

namespace orbweaver {

// The umask of this process from here on: what it makes is its owner's (0700 and 0600), the group's to read or all
// users'.
void set_data_access(DataAccess access);

// Makes the directory and its parents when they are not there, with the mode that the umask leaves; one that is there
// and empty is given that mode too.
Result<void> make_own_directory(const std::string& path, DataAccess access);
// A directory that belongs to another user (root aside) is not for data: whoever owns it can put links in the way of
// whatever is written there.
Result<void> check_owner(const std::string& path);
// Gives the mode to a directory of an earlier release, or of another `data_access`. One that is not there is left out;
// what belongs to another user is refused.
Result<void> close_directory(const std::string& path, DataAccess access);

// Whole or not at all: readers never see a part of it. The file is a new one each time and takes the old one's name, so
// a link of that name is replaced, never followed.
// `waiter`: see storage/open_waiter.h; null: a lack of descriptors is an error.
Result<void> write_whole(const std::string& path, const std::string& text, storage::OpenWaiter* waiter = nullptr);

// A new file that only its owner may read (0600), whatever the umask is. A file that is there, or a link, is an error
// (invalid_input) and stays as it is.
Result<void> write_secret(const std::string& path, const std::string& text);

}  // namespace orbweaver
