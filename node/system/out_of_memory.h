// What is done when the system has no more memory for this process: a line on standard error and an exit code, at once.
// Nothing is lost by that, as by a kill; who watches the process starts it again (ErrorCode::out_of_memory).
#pragma once

namespace orbweaver {

// For operator new, and for threads that cannot be started, from here on, in every thread.
void end_when_out_of_memory();

// Few arenas, and large buffers of their own, which go back to the system when they are freed: what the shares of
// max_memory count is then close to what the system counts.
void keep_freed_memory_small();

}  // namespace orbweaver
