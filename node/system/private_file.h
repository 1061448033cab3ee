// Files and directories on a machine that others use too: nobody reads what is not for them, and no link that another
// user laid leads a write astray. Thread rule: free functions; set_data_access() is for the start of a process.
#pragma once

#include <string>
#include <vector>

#include "node/base.h"
#include "node/settings/settings.h"
#include "storage/open_waiter.h"

namespace orbweaver {

// The umask of this process from here on: what it makes is its owner's (0700 and 0600), the group's to read or all
// users'.
void set_data_access(DataAccess access);

// How far a path leads, links followed by hand.
struct WalkedPath {
  std::vector<std::string> there;  // each directory on its way, links' too, without "." and "..": "/", "/srv", "/srv/a"
  std::vector<std::string> missing;  // the names that are not there yet; empty: all is
};
// Walks a path from the root, by lstat alone. Each part and each link of it must belong to root, to `user` or to who
// has
// "/" (in a user namespace root's number is another one): whoever owns one of them could lead what is written there
// astray. In a directory that everybody may write to, anybody could: it is refused, but for a sticky one (/tmp) on the
// way, in which a part stays its owner's. Of a directory that a group may write to its owner has said so. Errors: io.
Result<WalkedPath> walk_path(const std::string& path, unsigned user);
// The same for the user that this process is.
Result<void> check_path(const std::string& path);

// Makes the directory and its parents when they are not there, with the mode that the umask leaves; one that is there
// and empty is given that mode too. check_path() first: what it refuses is left as it is.
Result<void> make_own_directory(const std::string& path, DataAccess access);
// Gives the mode to a directory of an earlier release, or of another `data_access`. One that is not there is left out;
// what check_path() refuses is refused.
Result<void> close_directory(const std::string& path, DataAccess access);

// Whole or not at all: readers never see a part of it. The file is a new one each time and takes the old one's name, so
// a link of that name is replaced, never followed.
// `waiter`: see storage/open_waiter.h; null: a lack of descriptors is an error.
Result<void> write_whole(const std::string& path, const std::string& text, storage::OpenWaiter* waiter = nullptr);

// A new file that only its owner may read (0600), whatever the umask is. A file that is there, or a link, is an error
// (invalid_input) and stays as it is.
Result<void> write_secret(const std::string& path, const std::string& text);

}  // namespace orbweaver
