// Files and directories on a machine with other users: only permitted users can read them, and no other user's link can
// redirect a write. Thread rule: free functions; set_data_access() is for the start of a process.
#pragma once

#include <string>
#include <vector>

#include "node/base.h"
#include "node/settings/settings.h"
#include "storage/open_waiter.h"

namespace orbweaver {

// Sets this process's umask: new files and directories are for the owner only (0700 and 0600), or readable for the
// group, or for all users.
void set_data_access(DataAccess access);

// The parts of a path, with links resolved step by step.
struct WalkedPath {
  std::vector<std::string> there;  // each directory on the way, links' too, without "." and "..": "/", "/srv", "/srv/a"
  std::vector<std::string> missing;  // names that do not exist yet; empty: the whole path exists
};
// Walks a path from the root, with lstat only. Each part and each link must belong to root, to `user` or to the owner
// of "/" (in a user namespace root has another number): any other owner could redirect what is written there. A
// directory that everybody may write to is refused for the same reason, except a sticky one (/tmp) on the way, where a
// part cannot be replaced by others. A directory that a group may write to is accepted: its owner chose that. Errors:
// io.
Result<WalkedPath> walk_path(const std::string& path, unsigned user);
// The same for the user of this process.
Result<void> check_path(const std::string& path);

// Makes the directory and missing parents, with the mode that the umask leaves; an existing empty directory gets that
// mode too. Runs check_path() first: a path that it refuses stays as it is.
Result<void> make_own_directory(const std::string& path, DataAccess access);
// Gives the mode to a directory of an earlier release, or of another `data_access`. A missing directory is skipped. A
// path that check_path() refuses is an error.
Result<void> close_directory(const std::string& path, DataAccess access);

// All or nothing: readers never see a part of it. Each call writes a new file and gives it the old one's name, so a
// link of that name is replaced, never followed. With Durability::power it is on the disk afterwards, its name too, and
// a power cut leaves the old file or the new one; here and below. `waiter`: see storage/open_waiter.h; null: a lack of
// descriptors is an error.
Result<void> write_whole(const std::string& path, const std::string& text, Durability durability,
                         storage::OpenWaiter* waiter = nullptr);

// Writes a new file that only its owner may read (0600), whatever the umask is. If a file or link exists there, it is
// kept, and the call fails (invalid_input).
Result<void> write_secret(const std::string& path, const std::string& text, Durability durability);

}  // namespace orbweaver
