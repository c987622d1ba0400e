# frozen_string_literal: true

require 'ffi'

module Netlib
  # The functions of netlib.h.
  # @private
  module C
    extend FFI::Library
  end

  # The functions that generated code calls.
  # @private
  module Runtime
    # An array of C, with the memory to which its elements point.
    CArray = Struct.new(:pointer, :elements, :keep)

    @callbacks = {}
    # The objects that netlib holds, by key: callbacks by their types, or a value.
    @held = {}
    @last_key = 0
    @mutex = Mutex.new

    module_function

    # Loads the library beside this file, or else the library of the system. Refuses a library of another minor
    # version, whose ABI may differ.
    def load_library(version)
      path = File.join(__dir__, 'libnetlib.so.0.1')
      C.ffi_lib(File.file?(path) ? path : 'libnetlib.so.0.1')
      C.attach_function :loaded_version, :netlib_version, [], :string
      loaded = C.loaded_version
      return if minor(loaded) == minor(version)

      raise LoadError, "netlib for Ruby #{version} needs netlib #{minor(version)}, but loaded netlib #{loaded}"
    end

    def minor(version)
      version[/\A\d+\.\d+/]
    end

    # Runs the block with a call that may wait. A pending exception for this thread, of Timeout for example, is not
    # raised inside the block: the interrupt check ends the wait, and Ruby raises the exception after objects own the
    # results.
    def waiting(*objects, &call)
      return Fibers.wait(objects, &call) if Fiber.current_scheduler

      Thread.handle_interrupt(Object => :never) do
        stream = objects.first
        stream.is_a?(Stream) ? stream.waits.in_thread { using(*objects, &call) } : using(*objects, &call)
      end
    end

    # As `waiting`, for a block that adds a new descriptor to its argument. No object owns the descriptor, so an
    # exception closes it.
    def opening(*objects)
      opened = []
      is_complete = false
      results = waiting(*objects) { yield opened }
      is_complete = true
      results
    ensure
      opened.each { |fd| ::IO.for_fd(fd).close } unless is_complete
    end

    # Runs the block, and delays the release of objects that another thread closes meanwhile to the end of the block.
    def using(*objects)
      handles = handles_of(objects)
      begun = []
      handles.each { |handle| begun << handle.begin_call }
      yield
    ensure
      begun&.each(&:end_call)
    end

    # The handles among some arguments. The argument for an error may be an exception.
    def handles_of(objects)
      objects.map { |object| object.is_a?(Error) ? object.info : object }.grep(Handle)
    end

    # Variables of C.

    def cell(type, value = nil)
      cell = FFI::MemoryPointer.new(type)
      cell.put(type, 0, value) if value
      cell
    end

    def buffer(size)
      FFI::MemoryPointer.new(:char, [size, 1].max)
    end

    def buffer_text(buffer, length)
      buffer.get_bytes(0, length)
    end

    # Handles.

    def own(type, pointer, keep = nil)
      pointer.null? ? nil : type.allocate.adopt(pointer, keep)
    end

    def borrow(type, pointer, lenders)
      pointer.null? ? nil : type.allocate.lend(pointer, lenders)
    end

    # The class is checked, because C would use an object of another class as its own.
    def pointer(object, type)
      raise TypeError, "expected a #{type}, got #{object.class}" unless object.is_a?(type)

      object.pointer
    end

    def optional_pointer(object, type)
      object && pointer(object, type)
    end

    def error_pointer(object)
      optional_pointer(object.is_a?(Error) ? object.info : object, ErrorInfo)
    end

    # The limit of a call. The default limit has no deadline; an exception for the thread ends its waits.
    def limit_pointer(limit)
      pointer(limit || default_limit, Limit)
    end

    def default_limit
      @default_limit ||= Limit.new(nil)
    end

    # Gives a stream the default limit.
    def with_limit(stream)
      stream&.set_limit(default_limit)
      stream
    end

    # Arguments.

    def data(value, name)
      raise TypeError, "#{name} must be a String, not #{value.class}" unless value.respond_to?(:to_str)

      value.to_str
    end

    def optional_data(value, name)
      value && data(value, name)
    end

    # Text that ends at its NUL. Refuses text with a NUL, because C would read only the text before the NUL.
    def text(value, name)
      value = value.respond_to?(:to_path) ? value.to_path : data(value, name)
      raise ::ArgumentError, "#{name} must not contain a NUL" if value.b.include?("\0")

      value
    end

    def optional_text(value, name)
      value && text(value, name)
    end

    def truth(value, name)
      case value
      when true then 1
      when false then 0
      else raise TypeError, "#{name} must be true or false, not #{value.inspect}"
      end
    end

    def seconds(value)
      value.nil? ? Float::INFINITY : Float(value)
    end

    def number_or_null(value)
      value && cell(:double, value)
    end

    # A descriptor, or an IO, which must live as long as the object that uses it.
    def descriptor(value)
      value.respond_to?(:fileno) ? value.fileno : Integer(value)
    end

    def texts(list)
      keep = list.map { |value| FFI::MemoryPointer.from_string(text(value, 'a text')) }
      CArray.new(pointers(keep), keep.size, keep)
    end

    def ints(list)
      return CArray.new(nil, 0) if list.empty?

      CArray.new(FFI::MemoryPointer.new(:int32, list.size).write_array_of_int32(list), list.size)
    end

    # Header fields: a Hash, or a list of pairs.
    def fields(list)
      list = list.to_a
      keep = list.flatten(1).map { |value| FFI::MemoryPointer.from_string(text(value, 'a field')) }
      CArray.new(pointers(keep), list.size, keep)
    end

    def slices(list)
      array = FFI::MemoryPointer.new(:pointer, [2 * list.size, 1].max)
      keep = list.map { |value| FFI::MemoryPointer.from_string(data(value, 'a slice')) }
      keep.each_with_index do |copy, at|
        array.put_pointer(16 * at, copy)
        array.put(:size_t, (16 * at) + 8, copy.size - 1)
      end
      CArray.new(array, list.size, keep)
    end

    def pointers(list)
      return nil if list.empty?

      FFI::MemoryPointer.new(:pointer, list.size).write_array_of_pointer(list)
    end

    # Results.

    def to_text(pointer, length = nil)
      to_bytes(pointer, length)&.force_encoding(Encoding::UTF_8)
    end

    def to_bytes(pointer, length = nil)
      return nil if pointer.null?

      length ? pointer.get_bytes(0, length) : pointer.read_string
    end

    def to_texts(pointer, length)
      length.zero? ? [] : pointer.read_array_of_pointer(length).map { |item| to_text(item) }
    end

    def to_ints(pointer, length)
      length.zero? ? [] : pointer.read_array_of_int32(length)
    end

    def own_descriptor(number, opened)
      return nil if number.negative?

      opened << number
      number
    end

    # Errors.

    # Raises the error of a failed call, or the exception of the callback that made the call fail.
    def fail(_status, err)
      info = own(ErrorInfo, err.read_pointer)
      reraise
      raise Error.of(info)
    end

    def reraise
      raised = take_raised
      raise raised if raised
    end

    # Returns the exception that a callback has raised, and forgets it.
    def take_raised
      raised = Thread.current.thread_variable_get(:netlib_raised)
      keep(nil) if raised
      raised
    end

    # Callbacks.

    def callback(type)
      @callbacks[type]
    end

    def hold(value)
      @mutex.synchronize do
        @held[@last_key += 1] = value
        @last_key
      end
    end

    def held_value(key)
      key.zero? ? nil : @held[key]
    end

    # The number of objects that netlib holds, for tests.
    def held_count
      @held.size
    end

    # Defines the function that C calls for a type of callback.
    def define(type, parameters, result = :int32, &callback)
      @callbacks[type] = FFI::Function.new(result, parameters, &callback)
    end

    # Calls a callback, and passes its result to the block. Keeps an exception for the caller of the outer call, unless
    # an earlier callback of that call has raised one. The calls of the callback do not raise the earlier exception.
    def try(key, type, failure, *arguments)
      earlier = take_raised
      value = failure
      is_complete = false
      begin
        value = Fibers.blocking { yield @held[key][type].call(*arguments) }
        is_complete = true
      rescue Exception => e # rubocop:disable Lint/RescueException -- an exception must not cross C
        keep(e)
        is_complete = true
      ensure
        arguments.each { |argument| argument.close if argument.is_a?(Handle) }
        keep(ThreadError.new('a callback must not throw, break or end its thread')) unless is_complete
        keep(earlier) if earlier
        return value # rubocop:disable Lint/EnsureReturn -- a throw must not cross C
      end
    end

    def keep(error)
      Thread.current.thread_variable_set(:netlib_raised, error)
    end

    def store_number(cell, type, value)
      cell.put(type, 0, value)
      0
    end

    # Stores the numbers that a callback has returned in an array after its result.
    def store_values(result, *cells)
      member, *values = result
      cells.zip(values) do |(cell, type), value|
        cell.put(type, 0, type == :double ? Float(value) : Integer(value)) unless value.nil?
      end
      Integer(member)
    end

    def store_handle(cell, type, result)
      return Integer(result) unless result.is_a?(Handle)
      raise TypeError, "expected a #{type}, got #{result.class}" unless result.is_a?(type)

      cell.write_pointer(result.clone.give)
      1
    end

    # Stores the text that a callback has read, nil at the end.
    def store(buffer, size, length, result)
      result = result.nil? ? '' : data(result, 'the result')
      raise ::ArgumentError, 'the result is larger than the buffer' if result.bytesize > size

      buffer.put_bytes(0, result)
      store_number(length, :size_t, result.bytesize)
    end

    @held[0] = { netlib_interrupt_fn: -> { Thread.pending_interrupt? ? INTERRUPT_STOP : INTERRUPT_CONTINUE } }
    # ctx_free may run in a finalizer, which must not wait for a mutex. Removing a key of a Hash needs none.
    define(:netlib_ctx_free_fn, [:size_t], :void) { |key| @held.delete(key) }
  end

  # An object of netlib. `close` frees it; so does the garbage collector.
  class Handle
    # @private
    def adopt(pointer, keep = nil)
      @owner = FFI::AutoPointer.new(pointer, self.class::FREE)
      @pointer = @owner
      @keep = keep
      @lenders = []
      @calls = 0
      self
    end

    # @private
    def lend(pointer, lenders)
      @owner = @keep = nil
      @pointer = pointer
      @lenders = Runtime.handles_of(lenders)
      @calls = 0
      self
    end

    # Frees the object, or lets the last call that uses it do so.
    def close
      @pointer = nil
      release if @calls&.zero?
      nil
    end

    # Delays the release of this object and of its lenders until `end_call`.
    # @private
    def begin_call
      pointer
      @lenders.each(&:begin_call)
      @calls += 1
      self
    end

    # @private
    def end_call
      @calls -= 1
      @lenders.each(&:end_call)
      release if @calls.zero? && @pointer.nil?
    end

    # A borrowed object is closed when one of its lenders is closed.
    def closed?
      @pointer.nil? || @lenders.any?(&:closed?)
    end

    # @private
    def pointer
      @lenders&.each(&:pointer)
      @pointer || raise(IOError, "the #{self.class} is closed")
    end

    # Transfers the pointer to netlib.
    # @private
    def give
      pointer = self.pointer
      @owner.autorelease = false
      @owner = @pointer = nil
      pointer
    end

    def initialize_copy(_other)
      raise TypeError, "cannot copy a #{self.class}"
    end

    def inspect
      "#<#{self.class}#{' closed' if closed?}>"
    end

    private

    def release
      owner = @owner
      @owner = @keep = nil
      owner&.free
    end
  end
end
