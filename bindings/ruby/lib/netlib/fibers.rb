# frozen_string_literal: true

module Netlib
  # The waits of fibers in a thread with a fiber scheduler. A stream with a descriptor waits with the scheduler's
  # io_wait. Any other call that may wait runs in a helper thread, whose end the fiber awaits.
  # @private
  module Fibers
    # The functions of libc for epoll(7). With an epoll descriptor, one io_wait waits for several descriptors.
    module LibC
      extend FFI::Library
      ffi_lib FFI::Library::LIBC
      attach_function :epoll_create1, [:int], :int
      attach_function :epoll_ctl, %i[int int int pointer], :int
    end

    EPOLL_CLOEXEC = 0o2000000
    EPOLL_CTL_ADD = 1

    module_function

    # Makes a call that may wait.
    def wait(objects, &call)
      stream = objects.first
      return in_thread { Runtime.waiting(*objects, &call) } unless stream.is_a?(Stream) && stream.fd >= 0

      stream.waits.until_done { masked { Runtime.using(*objects, &call) } }
    end

    # Runs the block in a helper thread. If an exception ends the wait of the fiber, also ends the thread.
    def in_thread(&call)
      thread = Thread.new(&call)
      thread.report_on_exception = false
      thread.value
    ensure
      thread&.kill&.join
    end

    # Runs the block in a blocking fiber: another fiber must not run while C calls back.
    def blocking(&call)
      Fiber.current_scheduler ? Fiber.new(blocking: true, &call).resume : yield
    end

    def masked(&call)
      Thread.handle_interrupt(Object => :never, &call)
    end

    # Waits until one of the descriptors is ready for its events (IO::READABLE, IO::WRITABLE). Returns false if the time
    # has passed first.
    def wait_for(descriptors, seconds)
      epoll = ::IO.for_fd(checked(LibC.epoll_create1(EPOLL_CLOEXEC)))
      event = FFI::MemoryPointer.new(:uint32, 4) # struct epoll_event, whose numbers of events are those of poll(2)
      descriptors.each do |fd, events|
        event.write_uint32(events)
        checked(LibC.epoll_ctl(epoll.fileno, EPOLL_CTL_ADD, fd, event))
      end
      Fiber.current_scheduler.io_wait(epoll, ::IO::READABLE, seconds) ? true : false
    ensure
      epoll&.close
    end

    def checked(result)
      raise SystemCallError.new('epoll', FFI.errno) if result.negative?

      result
    end
  end
end
