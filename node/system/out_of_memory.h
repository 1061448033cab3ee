// When the system has no more memory for this process, it ends at once, with a line on standard error and an exit code.
// As after a kill, nothing is lost; a supervisor restarts the process (ErrorCode::out_of_memory).
#pragma once

namespace orbweaver {

// From this call on, in every thread: for operator new, and for threads that cannot be started.
void end_when_out_of_memory();

}  // namespace orbweaver
