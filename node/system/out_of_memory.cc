#include "node/system/out_of_memory.h"

#include <unistd.h>

#include <cstdlib>
#include <exception>
#include <new>
#include <string_view>
#include <system_error>

#include "node/base.h"

namespace orbweaver {
namespace {

// Uses neither memory nor locks: the text is a constant, and the calls are the system's.
[[noreturn]] void end_with(ErrorCode code, std::string_view line) {
  (void)!::write(STDERR_FILENO, line.data(), line.size());
  ::_exit(static_cast<int>(code));
}

[[noreturn]] void end() {
  end_with(ErrorCode::out_of_memory,
           "orbweaver: out of memory: the system refuses this process more memory or threads. It needs up to 1.25 "
           "times max_memory; give it more, or set max_memory lower (docs/how-to/memory.md)\n");
}

std::terminate_handler others = nullptr;  // the handler for any other exception

// Handles a failed thread start in a library that does not expect it (RocksDB, ZeroMQ): the exception is thrown where
// nothing catches it, or where unwinding would end the process too.
void end_by_exception() {
  const std::exception_ptr thrown = std::current_exception();
  // A library that starts several threads ends this way when the second start fails: the first thread is not joined.
  if (thrown == nullptr)
    end_with(ErrorCode::internal,
             "orbweaver: a library ended this process: most likely the system refused it threads or memory "
             "(docs/how-to/memory.md)\n");
  try {
    std::rethrow_exception(thrown);
  } catch (const std::bad_alloc&) {
    end();
  } catch (const std::system_error& error) {
    if (error.code() == std::errc::resource_unavailable_try_again || error.code() == std::errc::not_enough_memory)
      end();
  } catch (...) {
  }
  if (others != nullptr) others();
  std::abort();
}

}  // namespace

void end_when_out_of_memory() {
  std::set_new_handler(&end);
  others = std::set_terminate(&end_by_exception);
}

}  // namespace orbweaver
