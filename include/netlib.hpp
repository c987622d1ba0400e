/*
 * netlib.hpp - the C++17 interface of netlib
 *
 * netlib.hpp contains inline functions only, and needs only netlib.h, the C++ standard library and close(2). A C++
 * function calls one function of netlib.h, whose comment describes what the call does. This page describes how the
 * names, the types and the errors of C become those of C++. The program below prints the host and the port of a URL.
 *
 *     #include <netlib.hpp>
 *     #include <iostream>
 *
 *     int main() try {
 *         netlib::url url = netlib::parse_url_strict("https://user@example.com:8443/a?b");
 *         std::cout << url.host() << ' ' << url.port() << '\n';
 *     } catch (const netlib::error &error) {
 *         std::cerr << error.report() << '\n';
 *         return 1;
 *     }
 *
 * This file is generated from the sources of the library. To change it, change the sources and run `make header`.
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * NAMES. A C++ name is the C name without "netlib_". A handle `netlib_url` is the class `netlib::url`. A function whose
 * name begins with the name of a handle, and whose first parameter is that handle, is a member function:
 * `netlib_url_host(url, &len)` is `url.host()`. A function that makes the handle is a static member function:
 * `netlib_connect_new_unix` is `connect::new_unix`. Every other function is a function of the namespace:
 * `netlib_parse_url` is `netlib::parse_url`. In addition:
 *     - `netlib_x_new` is `x::make`, and a constructor, which throws if the call fails;
 *     - `netlib_x_options_set_y` is `x_options.y`. It returns the options, so that calls can be chained:
 *       `netlib::tls_options().add_ca_file("ca.pem").identity_files("chain.pem", "key.pem")`;
 *     - `netlib_x_free` is the destructor; `netlib_x_clone` is the copy constructor, or `clone` for a timeout;
 *     - a name that is a keyword or a macro of C++ ends with "_": `verify_flag::default_`, `error.errno_()`;
 *     - a name that would begin with a digit begins with "v": `tls_version::v1_3`.
 *
 * HANDLES. An object owns its handle, and frees the handle in its destructor. Objects can be moved. An object can be
 * copied if the C handle is immutable or thread-safe (the copy shares the handle), or holds options (the copy is
 * independent). A moved-from object, and an object that is made from nullptr, is empty: it holds NULL. `handle()`
 * returns the C handle, and `release()` gives it up.
 *
 * ARGUMENTS AND RESULTS.
 *     text without a length      c_text: a literal, a std::string, a std::string_view or nullptr (absent)
 *     text with a length         std::string_view; absent if data() is nullptr
 *     text that is returned      text: a std::string_view that ends with a NUL, and is false if the text is absent
 *     bytes, buffers, arrays     span, from any contiguous container; texts for arrays of text
 *     seconds                    std::chrono durations; netlib::seconds has the type double
 *     truth values, enums        bool, enum class; values of an enum of bits are joined by "|"
 *     a handle that may be NULL  optional_ref: an object, a borrowed object, or nothing
 *     a handle that is borrowed  borrowed, which works like a pointer, and is valid as long as in C
 *     a descriptor to close      descriptor, which closes it
 *     several results            a struct, whose members have the names of the C parameters
 *     X_count and X_y(index)     in addition a range: `for (netlib::borrowed<netlib::error> cause : error.causes())`;
 *                                of structs if there are several functions X_y
 * A member function whose result refers to memory of its object (a text, a span, a borrowed, a range) cannot be called on
 * a temporary object, because the result would outlive the object: name the object first.
 * A c_text with a NUL inside is an error with the status NETLIB_INVALID_ARGUMENT. With NETLIB_NO_EXCEPTIONS, it is
 * replaced with a text that is invalid in URLs, headers and credentials, and as a file name or a TLS setting;
 * no_proxy_match fails with NETLIB_INVALID_ARGUMENT.
 *
 * ERRORS. A function throws netlib::error if its C function fails. If NETLIB_NO_EXCEPTIONS is defined, or the compiler
 * has no exceptions, the function instead returns netlib::expected, which holds the result or the error, and there are
 * no constructors that may fail. `if (result)` tests for success, and does not compile for an expected<bool>, whose value
 * could be confused with success: write `result.has_value()` or `*result`. Both modes can be used in one program, in different source files. A status of
 * NETLIB_CLASS_PROGRESS is not an error: functions that may return one return netlib::status, or netlib::progress,
 * which holds the status and the results. As in netlib.h, the process aborts if a small allocation fails in netlib;
 * netlib.hpp throws std::bad_alloc, or aborts if it cannot throw.
 *
 * CALLBACKS. A callback is any callable object. netlib.hpp keeps the object as long as C keeps the `ctx`. If a callback
 * throws, netlib sees a failure, and the exception is thrown again when the outer call has returned. With
 * NETLIB_NO_EXCEPTIONS, a callback must not throw. The parameters and the result of a callback have the types of the
 * table above, and a callback with an output returns the output. The namespace `callbacks` has a function for each type
 * of callback; the comment of the function states the signature of the callable object.
 *
 * RETRIES. The retry loop passes each response and each error to netlib::attempts::next, which throws the error that
 * ends the retries:
 *
 *     netlib::attempts attempts(policy, "GET", url, headers, false, limit);
 *     netlib::status status;
 *     do {
 *         try {
 *             auto response = exchange(attempts);
 *             status = attempts.next(response, {});
 *             if (status == netlib::status::ok) use(response);
 *         } catch (const netlib::error &error) {
 *             status = attempts.next({}, error);
 *         }
 *     } while (status == netlib::status::send_again);
 *
 * VERSIONS. Before version 1.0, netlib.hpp works only with a library of the same major and minor version: a program
 * that loads another library prints both versions, and aborts before main begins.
 */
#ifndef NETLIB_HPP
#define NETLIB_HPP

/* MSVC states the language version in _MSVC_LANG, and by default an older version in __cplusplus. */
#if __cplusplus < 201703L && !(defined(_MSVC_LANG) && _MSVC_LANG >= 201703L)
#error "netlib.hpp needs C++17 or newer: compile with -std=c++17 (MSVC: /std:c++17)"
#else

#include <netlib.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <unistd.h>

#if NETLIB_VERSION_MAJOR != 0 || NETLIB_VERSION_MINOR != 1
#error "netlib.hpp 0.1 needs netlib.h 0.1"
#endif

#if defined(__cpp_exceptions) && !defined(NETLIB_NO_EXCEPTIONS)
#define NETLIB_HPP_THROWS 1
#define NETLIB_HPP_MODE throwing
#else
#define NETLIB_HPP_THROWS 0
#define NETLIB_HPP_MODE returning
#endif

/* Parameters have the names of the C parameters, which are also names of types. The warning about deprecated functions
 * is for the calls of the C++ functions. */
#if defined(__GNUC__) || defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
#if !defined(__clang__) && __GNUC__ >= 9
/* A span of a list in braces is an argument, which the list outlives. */
#pragma GCC diagnostic ignored "-Winit-list-lifetime"
#endif
#endif

namespace netlib {
/* The two modes are two inline namespaces, so that source files with different modes can be linked. */
inline namespace NETLIB_HPP_MODE {

/* ---- Text, bytes and time. ---- */

/** A time in seconds. NETLIB_TIMEOUT_NONE is timeout_none(). */
using seconds = std::chrono::duration<double>;

/** As a timeout, the process default: NETLIB_TIMEOUT_DEFAULT. */
inline constexpr seconds timeout_default{NETLIB_TIMEOUT_DEFAULT};

/** Text that netlib returns. It ends with a NUL, and is valid as long as the `const char *` of the C function. */
class text : public std::string_view {
  public:
    constexpr text() noexcept = default;
    constexpr text(const char *data, std::size_t len) noexcept : std::string_view(data, len) {}
    explicit text(const char *data) noexcept : std::string_view(data ? std::string_view(data) : std::string_view()) {}
    /** Returns true if the text is present, which an empty text also is. */
    constexpr explicit operator bool() const noexcept { return data() != nullptr; }
    /** Returns the text with its NUL; nullptr if the text is absent. */
    constexpr const char *c_str() const noexcept { return data(); }
};

namespace detail {
/* Returns the text that replaces a text with a NUL. */
const char *refuse_nul(std::size_t at);
} // namespace detail

/** A text argument without a length. A std::string_view is copied, because it need not end with a NUL. */
class c_text {
  public:
    c_text(std::nullptr_t = nullptr) noexcept {}
    c_text(const char *data) noexcept : data_(data) {}
    c_text(text data) : data_(checked(data, data.c_str())) {}
    c_text(const std::string &data) : data_(checked(data, data.c_str())) {}
    c_text(std::string_view data) {
        if (data.data() == nullptr) return;
        copy_ = std::make_unique<std::string>(data);
        data_ = checked(data, copy_->c_str());
    }
    const char *c_str() const noexcept { return data_; }

  private:
    /* C would read a text with a NUL only up to the NUL. */
    static const char *checked(std::string_view data, const char *c_str) {
        std::size_t at = data.find('\0');
        return at == std::string_view::npos ? c_str : detail::refuse_nul(at);
    }
    const char *data_ = nullptr;
    std::unique_ptr<std::string> copy_;
};

/** An array of text arguments, which are copied. */
class texts {
  public:
    texts(std::initializer_list<std::string_view> list) : texts(list.begin(), list.end()) {}
    template <class List, class = decltype(std::string_view(*std::declval<const List &>().begin()))>
    texts(const List &list) : texts(list.begin(), list.end()) {}
    const char *const *data() const noexcept { return pointers_.data(); }
    std::size_t size() const noexcept { return pointers_.size(); }

  private:
    template <class Iterator> texts(Iterator at, Iterator end) {
        for (; at != end; ++at) texts_.emplace_back(std::string_view(*at));
        for (const c_text &item : texts_) pointers_.push_back(item.c_str());
    }
    std::vector<c_text> texts_;
    std::vector<const char *> pointers_;
};

/** A pointer to several elements, and their number, as std::span in C++20. A span of bytes refers to the memory of any
 * contiguous container of characters or bytes, or of an array. A NUL at the end of an array of const char, such as a
 * literal, is left out. */
template <class T> class span {
    static constexpr bool of_bytes = std::is_same_v<std::remove_const_t<T>, std::uint8_t>;
    template <class Data, class Element = std::remove_pointer_t<Data>>
    static constexpr bool fits = std::is_convertible_v<Element (*)[], T (*)[]> ||
                                 (of_bytes && sizeof(Element) == 1 && std::is_trivially_copyable_v<Element> &&
                                  (std::is_const_v<T> || !std::is_const_v<Element>));

  public:
    constexpr span() noexcept = default;
    constexpr span(T *data, std::size_t size) noexcept : data_(data), size_(size) {}
    template <class Container, class Data = decltype(std::declval<Container &>().data()),
              class = std::enable_if_t<fits<Data>>, class = decltype(std::declval<Container &>().size())>
    constexpr span(Container &&container) noexcept : data_((T *)container.data()), size_(container.size()) {}
    template <class Element, std::size_t Size,
              class = std::enable_if_t<fits<Element *> && !std::is_same_v<const Element, const char>>>
    constexpr span(Element (&array)[Size]) noexcept : data_((T *)array), size_(Size) {}
    template <std::size_t Size, class Element = T, class = std::enable_if_t<of_bytes && !std::is_const_v<Element>>>
    span(char (&array)[Size]) noexcept : data_(reinterpret_cast<T *>(array)), size_(Size) {}
    template <std::size_t Size, class Element = T, class = std::enable_if_t<of_bytes && std::is_const_v<Element>>>
    span(const char (&literal)[Size]) noexcept
        : data_(reinterpret_cast<T *>(literal)), size_(literal[Size - 1] == '\0' ? Size - 1 : Size) {}
    template <class Char, class Element = T,
              class = std::enable_if_t<std::is_same_v<Char, const char *> && of_bytes && std::is_const_v<Element>>>
    span(Char text) noexcept : span(std::string_view(text)) {}
    template <class Element = T, class = std::enable_if_t<std::is_const_v<Element>>>
    constexpr span(std::initializer_list<std::remove_const_t<T>> list) noexcept
        : data_(list.begin()), size_(list.size()) {}

    constexpr T *data() const noexcept { return data_; }
    constexpr std::size_t size() const noexcept { return size_; }
    constexpr bool empty() const noexcept { return size_ == 0; }
    constexpr T *begin() const noexcept { return data_; }
    constexpr T *end() const noexcept { return data_ + size_; }
    constexpr T &operator[](std::size_t index) const noexcept { return data_[index]; }
    /** Returns `size` elements, or fewer at the end, from the element `from`. */
    constexpr span subspan(std::size_t from, std::size_t size = SIZE_MAX) const noexcept {
        from = from < size_ ? from : size_;
        return span(data_ + from, size < size_ - from ? size : size_ - from);
    }

  private:
    T *data_ = nullptr;
    std::size_t size_ = 0;
};

/** Returns bytes as text. */
inline std::string_view as_text(span<const std::uint8_t> bytes) noexcept {
    return {reinterpret_cast<const char *>(bytes.data()), bytes.size()};
}

/** Returns an element of the array that netlib_stream_writev takes. */
inline netlib_slice slice(span<const std::uint8_t> bytes) noexcept { return {bytes.data(), bytes.size()}; }

/* ---- Handles. ---- */

/** A descriptor that is closed by the destructor. */
class descriptor {
  public:
    explicit descriptor(int fd = -1) noexcept : fd_(fd) {}
    descriptor(descriptor &&other) noexcept : fd_(other.release()) {}
    descriptor &operator=(descriptor &&other) noexcept {
        descriptor old(std::exchange(fd_, other.release()));
        return *this;
    }
    ~descriptor() {
        if (fd_ >= 0) ::close(fd_);
    }
    /** Returns the descriptor, -1 if there is none. */
    int get() const noexcept { return fd_; }
    operator int() const & noexcept { return fd_; }
    operator int() const && = delete; /* the descriptor would be closed at once */
    /** Gives the descriptor up: the caller closes it. */
    int release() noexcept { return std::exchange(fd_, -1); }

  private:
    int fd_;
};

template <class T> class borrowed;

/** An argument that may be absent: an object, a borrowed object, or nothing. It refers to the object. */
template <class T> class optional_ref {
  public:
    optional_ref(std::nullptr_t = nullptr) noexcept {}
    optional_ref(const T &object) noexcept : object_(&object) {}
    optional_ref(const borrowed<T> &object) noexcept : object_(object.operator->()) {}
    auto handle() const noexcept { return object_ != nullptr ? object_->handle() : nullptr; }

  private:
    const T *object_ = nullptr;
};

/** A handle that another object owns, or nothing. It works like a pointer to a const object. */
template <class T> class borrowed {
  public:
    explicit borrowed(const typename T::c_type *handle) noexcept : object_(const_cast<typename T::c_type *>(handle)) {}
    borrowed(const borrowed &other) noexcept : borrowed(other.handle()) {}
    borrowed &operator=(const borrowed &other) noexcept {
        object_.release();
        object_ = T(other.object_.handle());
        return *this;
    }
    ~borrowed() { object_.release(); }
    const T &operator*() const noexcept { return object_; }
    const T *operator->() const noexcept { return &object_; }
    explicit operator bool() const noexcept { return object_.handle() != nullptr; }
    const typename T::c_type *handle() const noexcept { return object_.handle(); }

  private:
    T object_;
};

namespace detail {

[[noreturn]] inline void no_memory() {
#if NETLIB_HPP_THROWS
    throw std::bad_alloc();
#else
    std::abort();
#endif
}

template <class C> C *checked(C *handle) {
    if (handle == nullptr) no_memory();
    return handle;
}

/** Owns a handle. */
template <class C, void (*free)(C *)> class unique {
  public:
    using c_type = C;
    explicit unique(C *handle) noexcept : handle_(handle) {}
    unique(unique &&other) noexcept : handle_(other.release()) {}
    unique &operator=(unique &&other) noexcept {
        if (C *old = std::exchange(handle_, other.release())) free(old);
        return *this;
    }
    ~unique() {
        if (handle_ != nullptr) free(handle_);
    }
    /** Returns the C handle, which stays owned by this object; nullptr if the object is empty. */
    C *handle() const noexcept { return handle_; }
    /** Gives the C handle up: the caller frees it. */
    C *release() noexcept { return std::exchange(handle_, nullptr); }
    explicit operator bool() const noexcept { return handle_ != nullptr; }

  private:
    C *handle_;
};

/** Owns a reference to a handle that is counted, or to options. */
template <class C, void (*free)(C *), C *(*clone)(const C *)> class copyable : public unique<C, free> {
  public:
    using unique<C, free>::unique;
    copyable(const copyable &other) : unique<C, free>(other.handle() ? checked(clone(other.handle())) : nullptr) {}
    copyable &operator=(const copyable &other) {
        if (this != &other) *this = copyable(other);
        return *this;
    }
    copyable(copyable &&) noexcept = default;
    copyable &operator=(copyable &&) noexcept = default;
};

/** A handle that a callback gets for the time of its call. */
template <class T> class lent {
  public:
    explicit lent(typename T::c_type *handle) noexcept : object(handle) {}
    lent(const lent &) = delete;
    ~lent() { object.release(); }
    T object;
};

} // namespace detail

/** The elements of a handle, for range-for. It refers to the C handle. */
template <class Handle, class T> class range {
  public:
    using getter = T (*)(const Handle &, std::size_t);
    class iterator {
      public:
        using value_type = T;
        using reference = T;
        using pointer = void;
        using difference_type = std::ptrdiff_t;
        using iterator_category = std::input_iterator_tag;
        iterator(borrowed<Handle> handle, getter get, std::size_t index) noexcept
            : handle_(handle), get_(get), index_(index) {}
        T operator*() const { return get_(*handle_, index_); }
        iterator &operator++() noexcept { return ++index_, *this; }
        iterator operator++(int) noexcept { return iterator(handle_, get_, index_++); }
        bool operator==(const iterator &other) const noexcept { return index_ == other.index_; }
        bool operator!=(const iterator &other) const noexcept { return index_ != other.index_; }

      private:
        borrowed<Handle> handle_;
        getter get_;
        std::size_t index_;
    };
    range(const Handle &handle, std::size_t size, getter get) noexcept
        : handle_(handle.handle()), size_(size), get_(get) {}
    iterator begin() const noexcept { return iterator(handle_, get_, 0); }
    iterator end() const noexcept { return iterator(handle_, get_, size_); }
    std::size_t size() const noexcept { return size_; }
    T operator[](std::size_t index) const { return get_(*handle_, index); }

  private:
    borrowed<Handle> handle_;
    std::size_t size_;
    getter get_;
};

/* ---- Constants and enums. ---- */


/** enum netlib_status_code */
enum class status : std::int32_t {
    ok = NETLIB_OK,
    want_read = NETLIB_WANT_READ,
    want_write = NETLIB_WANT_WRITE,
    timed_out = NETLIB_TIMED_OUT,
    end_of_stream = NETLIB_END_OF_STREAM,
    want_addresses = NETLIB_WANT_ADDRESSES,
    rate_limited = NETLIB_RATE_LIMITED,
    send_again = NETLIB_SEND_AGAIN,
    null_argument = NETLIB_NULL_ARGUMENT,
    invalid_argument = NETLIB_INVALID_ARGUMENT,
    invalid_utf8 = NETLIB_INVALID_UTF8,
    unsupported = NETLIB_UNSUPPORTED,
    invalid_header = NETLIB_INVALID_HEADER,
    invalid_pem = NETLIB_INVALID_PEM,
    key_mismatch = NETLIB_KEY_MISMATCH,
    no_trust_anchors = NETLIB_NO_TRUST_ANCHORS,
    password_required = NETLIB_PASSWORD_REQUIRED,
    wrong_password = NETLIB_WRONG_PASSWORD,
    no_cipher_suites = NETLIB_NO_CIPHER_SUITES,
    timeout_state_error = NETLIB_TIMEOUT_STATE_ERROR,
    busy = NETLIB_BUSY,
    closed = NETLIB_CLOSED,
    unrewindable_body = NETLIB_UNREWINDABLE_BODY,
    callback_failed = NETLIB_CALLBACK_FAILED,
    too_much_data = NETLIB_TOO_MUCH_DATA,
    internal = NETLIB_INTERNAL,
    out_of_memory = NETLIB_OUT_OF_MEMORY,
    io = NETLIB_IO,
    cancelled = NETLIB_CANCELLED,
    deadline_exceeded = NETLIB_DEADLINE_EXCEEDED,
    connect_timeout = NETLIB_CONNECT_TIMEOUT,
    read_timeout = NETLIB_READ_TIMEOUT,
    write_timeout = NETLIB_WRITE_TIMEOUT,
    too_slow = NETLIB_TOO_SLOW,
    interrupted = NETLIB_INTERRUPTED,
    invalid_url = NETLIB_INVALID_URL,
    name_resolution = NETLIB_NAME_RESOLUTION,
    connect_failed = NETLIB_CONNECT_FAILED,
    proxy_failed = NETLIB_PROXY_FAILED,
    address_refused = NETLIB_ADDRESS_REFUSED,
    certificate_verify = NETLIB_CERTIFICATE_VERIFY,
    hostname_mismatch = NETLIB_HOSTNAME_MISMATCH,
    fingerprint_mismatch = NETLIB_FINGERPRINT_MISMATCH,
    not_tls = NETLIB_NOT_TLS,
    tls_alert = NETLIB_TLS_ALERT,
    tls_protocol = NETLIB_TLS_PROTOCOL,
    tls_truncated = NETLIB_TLS_TRUNCATED,
    tls_handshake_eof = NETLIB_TLS_HANDSHAKE_EOF,
    tls_incompatible = NETLIB_TLS_INCOMPATIBLE,
    tls_ech_rejected = NETLIB_TLS_ECH_REJECTED,
    protocol = NETLIB_PROTOCOL,
    incomplete_read = NETLIB_INCOMPLETE_READ,
    header_parsing = NETLIB_HEADER_PARSING,
    response_status = NETLIB_RESPONSE_STATUS,
    too_many_redirects = NETLIB_TOO_MANY_REDIRECTS,
    stale_connection = NETLIB_STALE_CONNECTION,
    max_retry = NETLIB_MAX_RETRY,
    unsafe_redirect = NETLIB_UNSAFE_REDIRECT,
    retry_budget_empty = NETLIB_RETRY_BUDGET_EMPTY,
    breaker_open = NETLIB_BREAKER_OPEN,
    store_unavailable = NETLIB_STORE_UNAVAILABLE,
    application_error = NETLIB_APPLICATION_ERROR,
};

/** enum netlib_class */
enum class class_ : std::int32_t {
    success = NETLIB_CLASS_SUCCESS,
    progress = NETLIB_CLASS_PROGRESS,
    argument = NETLIB_CLASS_ARGUMENT,
    state = NETLIB_CLASS_STATE,
    system = NETLIB_CLASS_SYSTEM,
    time = NETLIB_CLASS_TIME,
    url = NETLIB_CLASS_URL,
    connect = NETLIB_CLASS_CONNECT,
    tls = NETLIB_CLASS_TLS,
    http = NETLIB_CLASS_HTTP,
    retry = NETLIB_CLASS_RETRY,
    application = NETLIB_CLASS_APPLICATION,
};

/** enum netlib_retry_kind */
enum class retry_kind : std::int32_t {
    never = NETLIB_RETRY_KIND_NEVER,
    connect = NETLIB_RETRY_KIND_CONNECT,
    read = NETLIB_RETRY_KIND_READ,
    other = NETLIB_RETRY_KIND_OTHER,
    by_cause = NETLIB_RETRY_KIND_BY_CAUSE,
};

/** enum netlib_verdict */
enum class verdict : std::int32_t {
    failed = NETLIB_VERDICT_FAILED,
    allow = NETLIB_VERDICT_ALLOW,
    refuse = NETLIB_VERDICT_REFUSE,
};

/** enum netlib_outcome */
enum class outcome : std::int32_t {
    failed = NETLIB_OUTCOME_FAILED,
    done = NETLIB_OUTCOME_DONE,
};

/** enum netlib_certificate_problem */
enum class certificate_problem : std::int32_t {
    none = NETLIB_CERTIFICATE_PROBLEM_NONE,
    expired = NETLIB_CERTIFICATE_PROBLEM_EXPIRED,
    not_yet_valid = NETLIB_CERTIFICATE_PROBLEM_NOT_YET_VALID,
    unknown_issuer = NETLIB_CERTIFICATE_PROBLEM_UNKNOWN_ISSUER,
    name_mismatch = NETLIB_CERTIFICATE_PROBLEM_NAME_MISMATCH,
    revoked = NETLIB_CERTIFICATE_PROBLEM_REVOKED,
    bad_signature = NETLIB_CERTIFICATE_PROBLEM_BAD_SIGNATURE,
    wrong_purpose = NETLIB_CERTIFICATE_PROBLEM_WRONG_PURPOSE,
    malformed = NETLIB_CERTIFICATE_PROBLEM_MALFORMED,
    other = NETLIB_CERTIFICATE_PROBLEM_OTHER,
    self_signed = NETLIB_CERTIFICATE_PROBLEM_SELF_SIGNED,
    incomplete_chain = NETLIB_CERTIFICATE_PROBLEM_INCOMPLETE_CHAIN,
    authority_as_leaf = NETLIB_CERTIFICATE_PROBLEM_AUTHORITY_AS_LEAF,
    weak_key = NETLIB_CERTIFICATE_PROBLEM_WEAK_KEY,
    weak_signature = NETLIB_CERTIFICATE_PROBLEM_WEAK_SIGNATURE,
    revocation_unknown = NETLIB_CERTIFICATE_PROBLEM_REVOCATION_UNKNOWN,
    missing = NETLIB_CERTIFICATE_PROBLEM_MISSING,
    not_pinned = NETLIB_CERTIFICATE_PROBLEM_NOT_PINNED,
    name_constraints = NETLIB_CERTIFICATE_PROBLEM_NAME_CONSTRAINTS,
    path_length = NETLIB_CERTIFICATE_PROBLEM_PATH_LENGTH,
    unknown_critical_extension = NETLIB_CERTIFICATE_PROBLEM_UNKNOWN_CRITICAL_EXTENSION,
    too_complex = NETLIB_CERTIFICATE_PROBLEM_TOO_COMPLEX,
    not_ca = NETLIB_CERTIFICATE_PROBLEM_NOT_CA,
};

/** enum netlib_timeout_kind */
enum class timeout_kind : std::int32_t {
    none = NETLIB_TIMEOUT_KIND_NONE,
    connect = NETLIB_TIMEOUT_KIND_CONNECT,
    read = NETLIB_TIMEOUT_KIND_READ,
    total = NETLIB_TIMEOUT_KIND_TOTAL,
};

/** enum netlib_rewind_problem */
enum class rewind_problem : std::int32_t {
    none = NETLIB_REWIND_PROBLEM_NONE,
    no_position = NETLIB_REWIND_PROBLEM_NO_POSITION,
    position_failed = NETLIB_REWIND_PROBLEM_POSITION_FAILED,
    no_seek = NETLIB_REWIND_PROBLEM_NO_SEEK,
    seek_failed = NETLIB_REWIND_PROBLEM_SEEK_FAILED,
};

/** enum netlib_header_defect */
enum class header_defect : std::int32_t {
    none = NETLIB_HEADER_DEFECT_NONE,
    not_a_header = NETLIB_HEADER_DEFECT_NOT_A_HEADER,
    continuation_first = NETLIB_HEADER_DEFECT_CONTINUATION_FIRST,
    misplaced_envelope = NETLIB_HEADER_DEFECT_MISPLACED_ENVELOPE,
    no_name = NETLIB_HEADER_DEFECT_NO_NAME,
    no_boundary = NETLIB_HEADER_DEFECT_NO_BOUNDARY,
    multipart_encoding = NETLIB_HEADER_DEFECT_MULTIPART_ENCODING,
    unread_data = NETLIB_HEADER_DEFECT_UNREAD_DATA,
};

/** enum netlib_interrupt */
enum class interrupt : std::int32_t {
    failed = NETLIB_INTERRUPT_FAILED,
    continue_ = NETLIB_INTERRUPT_CONTINUE,
    stop = NETLIB_INTERRUPT_STOP,
};

/** enum netlib_url_component */
enum class url_component : std::int32_t {
    userinfo_part = NETLIB_URL_COMPONENT_USERINFO_PART,
    path_segment = NETLIB_URL_COMPONENT_PATH_SEGMENT,
    path = NETLIB_URL_COMPONENT_PATH,
    query_part = NETLIB_URL_COMPONENT_QUERY_PART,
    form_part = NETLIB_URL_COMPONENT_FORM_PART,
    query = NETLIB_URL_COMPONENT_QUERY,
    fragment = NETLIB_URL_COMPONENT_FRAGMENT,
};

/** enum netlib_query_format */
enum class query_format : std::int32_t {
    form = NETLIB_QUERY_FORMAT_FORM,
    rfc3986 = NETLIB_QUERY_FORMAT_RFC3986,
};

/** enum netlib_url_reader */
enum class url_reader : std::int32_t {
    rfc3986 = NETLIB_URL_READER_RFC3986,
    whatwg = NETLIB_URL_READER_WHATWG,
    netlib = NETLIB_URL_READER_NETLIB,
};

/** enum netlib_url_difference */
enum class url_difference : std::int32_t {
    acceptance = NETLIB_URL_DIFFERENCE_ACCEPTANCE,
    scheme = NETLIB_URL_DIFFERENCE_SCHEME,
    host = NETLIB_URL_DIFFERENCE_HOST,
    port = NETLIB_URL_DIFFERENCE_PORT,
};
constexpr url_difference operator|(url_difference a, url_difference b) noexcept {
    return static_cast<url_difference>(static_cast<std::int32_t>(a) | static_cast<std::int32_t>(b));
}
constexpr url_difference operator&(url_difference a, url_difference b) noexcept {
    return static_cast<url_difference>(static_cast<std::int32_t>(a) & static_cast<std::int32_t>(b));
}
constexpr url_difference operator~(url_difference a) noexcept {
    return static_cast<url_difference>(~static_cast<std::int32_t>(a));
}

/** enum netlib_delay_reason */
enum class delay_reason : std::int32_t {
    none = NETLIB_DELAY_NONE,
    backoff = NETLIB_DELAY_BACKOFF,
    retry_after = NETLIB_DELAY_RETRY_AFTER,
    pushback = NETLIB_DELAY_PUSHBACK,
};

/** enum netlib_redirect_profile */
enum class redirect_profile : std::int32_t {
    urllib3 = NETLIB_REDIRECT_URLLIB3,
    safe = NETLIB_REDIRECT_SAFE,
};

/** enum netlib_jitter_kind */
enum class jitter_kind : std::int32_t {
    additive = NETLIB_JITTER_ADDITIVE,
    full = NETLIB_JITTER_FULL,
    equal = NETLIB_JITTER_EQUAL,
    decorrelated = NETLIB_JITTER_DECORRELATED,
    none = NETLIB_JITTER_NONE,
};

/** enum netlib_long_retry_after */
enum class long_retry_after : std::int32_t {
    clamp = NETLIB_LONG_RETRY_AFTER_CLAMP,
    stop = NETLIB_LONG_RETRY_AFTER_STOP,
};

/** enum netlib_pushback */
enum class pushback : std::int32_t {
    milliseconds = NETLIB_PUSHBACK_MILLISECONDS,
    grpc = NETLIB_PUSHBACK_GRPC,
};

/** enum netlib_action */
enum class action : std::int32_t {
    return_response = NETLIB_ACTION_RETURN_RESPONSE,
    retry = NETLIB_ACTION_RETRY,
    redirect = NETLIB_ACTION_REDIRECT,
};

/** enum netlib_counter */
enum class counter : std::int32_t {
    none = NETLIB_COUNTER_NONE,
    connect = NETLIB_COUNTER_CONNECT,
    read = NETLIB_COUNTER_READ,
    redirect = NETLIB_COUNTER_REDIRECT,
    status = NETLIB_COUNTER_STATUS,
    other = NETLIB_COUNTER_OTHER,
};

/** enum netlib_report */
enum class report : std::int32_t {
    success = NETLIB_REPORT_SUCCESS,
    failure = NETLIB_REPORT_FAILURE,
    throttled = NETLIB_REPORT_THROTTLED,
    none = NETLIB_REPORT_NONE,
};

/** enum netlib_unavailable */
enum class unavailable : std::int32_t {
    local = NETLIB_UNAVAILABLE_LOCAL,
    open = NETLIB_UNAVAILABLE_OPEN,
    closed = NETLIB_UNAVAILABLE_CLOSED,
};

/** enum netlib_swap */
enum class swap : std::int32_t {
    failed = NETLIB_SWAP_FAILED,
    swapped = NETLIB_SWAP_SWAPPED,
    changed = NETLIB_SWAP_CHANGED,
    unavailable = NETLIB_SWAP_UNAVAILABLE,
};

/** enum netlib_budget_preset */
enum class budget_preset : std::int32_t {
    aws_2026 = NETLIB_BUDGET_AWS_2026,
    aws_2020 = NETLIB_BUDGET_AWS_2020,
    grpc = NETLIB_BUDGET_GRPC,
    finagle = NETLIB_BUDGET_FINAGLE,
    envoy = NETLIB_BUDGET_ENVOY,
};

/** enum netlib_budget_kind */
enum class budget_kind : std::int32_t {
    request = NETLIB_BUDGET_REQUEST,
    transient = NETLIB_BUDGET_TRANSIENT,
    throttling = NETLIB_BUDGET_THROTTLING,
    hedge = NETLIB_BUDGET_HEDGE,
};

/** enum netlib_circuit_state */
enum class circuit_state : std::int32_t {
    closed = NETLIB_CIRCUIT_CLOSED,
    open = NETLIB_CIRCUIT_OPEN,
    half_open = NETLIB_CIRCUIT_HALF_OPEN,
};

/** enum netlib_hedge_event */
enum class hedge_event : std::int32_t {
    timer = NETLIB_HEDGE_EVENT_TIMER,
    success = NETLIB_HEDGE_EVENT_SUCCESS,
    failure = NETLIB_HEDGE_EVENT_FAILURE,
    fatal = NETLIB_HEDGE_EVENT_FATAL,
};

/** enum netlib_hedge_action */
enum class hedge_action : std::int32_t {
    wait = NETLIB_HEDGE_ACTION_WAIT,
    start = NETLIB_HEDGE_ACTION_START,
    cancel_others = NETLIB_HEDGE_ACTION_CANCEL_OTHERS,
    done = NETLIB_HEDGE_ACTION_DONE,
    failed = NETLIB_HEDGE_ACTION_FAILED,
};

/** enum netlib_request_form */
enum class request_form : std::int32_t {
    origin = NETLIB_REQUEST_FORM_ORIGIN,
    absolute = NETLIB_REQUEST_FORM_ABSOLUTE,
    authority = NETLIB_REQUEST_FORM_AUTHORITY,
    asterisk = NETLIB_REQUEST_FORM_ASTERISK,
};

/** enum netlib_body_framing */
enum class body_framing : std::int32_t {
    none = NETLIB_BODY_FRAMING_NONE,
    length = NETLIB_BODY_FRAMING_LENGTH,
    chunked = NETLIB_BODY_FRAMING_CHUNKED,
    until_close = NETLIB_BODY_FRAMING_UNTIL_CLOSE,
};

/** enum netlib_address_family */
enum class address_family : std::int32_t {
    any = NETLIB_ADDRESS_FAMILY_ANY,
    ipv4 = NETLIB_ADDRESS_FAMILY_IPV4,
    ipv6 = NETLIB_ADDRESS_FAMILY_IPV6,
};

/** enum netlib_address_class */
enum class address_class : std::int32_t {
    metadata = NETLIB_ADDRESS_CLASS_METADATA,
    loopback = NETLIB_ADDRESS_CLASS_LOOPBACK,
    unspecified = NETLIB_ADDRESS_CLASS_UNSPECIFIED,
    link_local = NETLIB_ADDRESS_CLASS_LINK_LOCAL,
    private_ = NETLIB_ADDRESS_CLASS_PRIVATE,
    shared = NETLIB_ADDRESS_CLASS_SHARED,
    multicast = NETLIB_ADDRESS_CLASS_MULTICAST,
    reserved = NETLIB_ADDRESS_CLASS_RESERVED,
    documentation = NETLIB_ADDRESS_CLASS_DOCUMENTATION,
    benchmarking = NETLIB_ADDRESS_CLASS_BENCHMARKING,
    special = NETLIB_ADDRESS_CLASS_SPECIAL,
    unix_ = NETLIB_ADDRESS_CLASS_UNIX,
    global = NETLIB_ADDRESS_CLASS_GLOBAL,
    all_but_global = NETLIB_ADDRESS_CLASS_ALL_BUT_GLOBAL,
};
constexpr address_class operator|(address_class a, address_class b) noexcept {
    return static_cast<address_class>(static_cast<std::int32_t>(a) | static_cast<std::int32_t>(b));
}
constexpr address_class operator&(address_class a, address_class b) noexcept {
    return static_cast<address_class>(static_cast<std::int32_t>(a) & static_cast<std::int32_t>(b));
}
constexpr address_class operator~(address_class a) noexcept {
    return static_cast<address_class>(~static_cast<std::int32_t>(a));
}

/** enum netlib_verify_mode */
enum class verify_mode : std::int32_t {
    none = NETLIB_CERT_NONE,
    optional = NETLIB_CERT_OPTIONAL,
    required = NETLIB_CERT_REQUIRED,
};

/** enum netlib_verify_flag */
enum class verify_flag : std::int32_t {
    default_ = NETLIB_VERIFY_FLAG_DEFAULT,
    crl_check_leaf = NETLIB_VERIFY_FLAG_CRL_CHECK_LEAF,
    crl_check_chain = NETLIB_VERIFY_FLAG_CRL_CHECK_CHAIN,
    x509_strict = NETLIB_VERIFY_FLAG_X509_STRICT,
    allow_proxy_certs = NETLIB_VERIFY_FLAG_ALLOW_PROXY_CERTS,
    x509_trusted_first = NETLIB_VERIFY_FLAG_X509_TRUSTED_FIRST,
    x509_partial_chain = NETLIB_VERIFY_FLAG_X509_PARTIAL_CHAIN,
};
constexpr verify_flag operator|(verify_flag a, verify_flag b) noexcept {
    return static_cast<verify_flag>(static_cast<std::int32_t>(a) | static_cast<std::int32_t>(b));
}
constexpr verify_flag operator&(verify_flag a, verify_flag b) noexcept {
    return static_cast<verify_flag>(static_cast<std::int32_t>(a) & static_cast<std::int32_t>(b));
}
constexpr verify_flag operator~(verify_flag a) noexcept {
    return static_cast<verify_flag>(~static_cast<std::int32_t>(a));
}

/** enum netlib_tls_version */
enum class tls_version : std::int32_t {
    minimum_supported = NETLIB_TLS_VERSION_MINIMUM_SUPPORTED,
    maximum_supported = NETLIB_TLS_VERSION_MAXIMUM_SUPPORTED,
    none = NETLIB_TLS_VERSION_NONE,
    v1_2 = NETLIB_TLS_VERSION_1_2,
    v1_3 = NETLIB_TLS_VERSION_1_3,
};

/** enum netlib_early_data_status */
enum class early_data_status : std::int32_t {
    not_sent = NETLIB_EARLY_DATA_NOT_SENT,
    rejected = NETLIB_EARLY_DATA_REJECTED,
    accepted = NETLIB_EARLY_DATA_ACCEPTED,
    undecided = NETLIB_EARLY_DATA_UNDECIDED,
};

/** enum netlib_ech_status */
enum class ech_status : std::int32_t {
    not_offered = NETLIB_ECH_NOT_OFFERED,
    grease = NETLIB_ECH_GREASE,
    offered = NETLIB_ECH_OFFERED,
    accepted = NETLIB_ECH_ACCEPTED,
    rejected = NETLIB_ECH_REJECTED,
};

/** enum netlib_certificate_name_kind */
enum class certificate_name_kind : std::int32_t {
    none = NETLIB_CERTIFICATE_NAME_NONE,
    dns = NETLIB_CERTIFICATE_NAME_DNS,
    ip = NETLIB_CERTIFICATE_NAME_IP,
    email = NETLIB_CERTIFICATE_NAME_EMAIL,
    uri = NETLIB_CERTIFICATE_NAME_URI,
};

/** enum netlib_distinguished_name */
enum class distinguished_name : std::int32_t {
    subject = NETLIB_DISTINGUISHED_NAME_SUBJECT,
    issuer = NETLIB_DISTINGUISHED_NAME_ISSUER,
};

/** enum netlib_purpose */
enum class purpose : std::int32_t {
    client_auth = NETLIB_PURPOSE_CLIENT_AUTH,
    server_auth = NETLIB_PURPOSE_SERVER_AUTH,
};

/** enum netlib_trust_kind */
enum class trust_kind : std::int32_t {
    none = NETLIB_TRUST_NONE,
    system = NETLIB_TRUST_SYSTEM,
    embedded = NETLIB_TRUST_EMBEDDED,
    custom = NETLIB_TRUST_CUSTOM,
};
constexpr trust_kind operator|(trust_kind a, trust_kind b) noexcept {
    return static_cast<trust_kind>(static_cast<std::int32_t>(a) | static_cast<std::int32_t>(b));
}
constexpr trust_kind operator&(trust_kind a, trust_kind b) noexcept {
    return static_cast<trust_kind>(static_cast<std::int32_t>(a) & static_cast<std::int32_t>(b));
}
constexpr trust_kind operator~(trust_kind a) noexcept {
    return static_cast<trust_kind>(~static_cast<std::int32_t>(a));
}

/** enum netlib_ssl_version */
enum class ssl_version : std::int32_t {
    tls = NETLIB_SSL_VERSION_TLS,
    tlsv1_2 = NETLIB_SSL_VERSION_TLSv1_2,
    tls_client = NETLIB_SSL_VERSION_TLS_CLIENT,
    tls_server = NETLIB_SSL_VERSION_TLS_SERVER,
};

/** enum netlib_tls_option */
enum class tls_option : std::int32_t {
    legacy_server_connect = NETLIB_OP_LEGACY_SERVER_CONNECT,
    enable_ktls = NETLIB_OP_ENABLE_KTLS,
    ignore_unexpected_eof = NETLIB_OP_IGNORE_UNEXPECTED_EOF,
    no_ticket = NETLIB_OP_NO_TICKET,
    no_compression = NETLIB_OP_NO_COMPRESSION,
    enable_middlebox_compat = NETLIB_OP_ENABLE_MIDDLEBOX_COMPAT,
    cipher_server_preference = NETLIB_OP_CIPHER_SERVER_PREFERENCE,
    no_sslv3 = NETLIB_OP_NO_SSLv3,
    no_tlsv1 = NETLIB_OP_NO_TLSv1,
    no_tlsv1_2 = NETLIB_OP_NO_TLSv1_2,
    no_tlsv1_1 = NETLIB_OP_NO_TLSv1_1,
    no_tlsv1_3 = NETLIB_OP_NO_TLSv1_3,
    no_renegotiation = NETLIB_OP_NO_RENEGOTIATION,
    no_sslv2 = NETLIB_OP_NO_SSLv2,
    single_dh_use = NETLIB_OP_SINGLE_DH_USE,
    single_ecdh_use = NETLIB_OP_SINGLE_ECDH_USE,
};
constexpr tls_option operator|(tls_option a, tls_option b) noexcept {
    return static_cast<tls_option>(static_cast<std::int32_t>(a) | static_cast<std::int32_t>(b));
}
constexpr tls_option operator&(tls_option a, tls_option b) noexcept {
    return static_cast<tls_option>(static_cast<std::int32_t>(a) & static_cast<std::int32_t>(b));
}
constexpr tls_option operator~(tls_option a) noexcept {
    return static_cast<tls_option>(~static_cast<std::int32_t>(a));
}

inline constexpr std::int32_t version_major = NETLIB_VERSION_MAJOR;
inline constexpr std::int32_t version_minor = NETLIB_VERSION_MINOR;
inline constexpr std::int32_t version_patch = NETLIB_VERSION_PATCH;
inline constexpr std::int64_t op_all = NETLIB_OP_ALL;
inline constexpr std::int32_t none = NETLIB_NONE;
inline constexpr std::int32_t retry_disabled = NETLIB_RETRY_DISABLED;
inline constexpr std::int32_t position_none = NETLIB_POSITION_NONE;
inline constexpr std::int32_t position_failed = NETLIB_POSITION_FAILED;
inline constexpr std::int32_t fd_managed = NETLIB_FD_MANAGED;
inline constexpr std::int32_t url_max = NETLIB_URL_MAX;
inline constexpr std::int32_t retry_default_total = NETLIB_RETRY_DEFAULT_TOTAL;
inline constexpr std::int32_t retry_budget_default_max_keys = NETLIB_RETRY_BUDGET_DEFAULT_MAX_KEYS;
inline constexpr std::int32_t breaker_default_max_keys = NETLIB_BREAKER_DEFAULT_MAX_KEYS;
inline constexpr std::int32_t rate_default_max_keys = NETLIB_RATE_DEFAULT_MAX_KEYS;
inline constexpr std::int32_t response_head_max = NETLIB_RESPONSE_HEAD_MAX;
inline constexpr std::int32_t chunk_prefix_size = NETLIB_CHUNK_PREFIX_SIZE;
inline constexpr std::int32_t chunk_suffix_size = NETLIB_CHUNK_SUFFIX_SIZE;
inline constexpr std::int32_t connection_key_size = NETLIB_CONNECTION_KEY_SIZE;
inline constexpr std::int32_t query_max_pairs = NETLIB_QUERY_MAX_PAIRS;
/* ---- Results. ---- */

/** The result of a call that may return a status of NETLIB_CLASS_PROGRESS, such as NETLIB_WANT_READ. The object is true
 * for NETLIB_OK. */
template <class T> struct progress {
    netlib::status status = netlib::status::ok;
    T value;
    explicit operator bool() const noexcept { return status == netlib::status::ok; }
    T &operator*() & noexcept { return value; }
    T &&operator*() && noexcept { return std::move(value); }
    const T &operator*() const & noexcept { return value; }
    T *operator->() & noexcept { return &value; }
    const T *operator->() const & noexcept { return &value; }
    const T *operator->() const && = delete;
};

#if NETLIB_HPP_THROWS
/** The result of a function that may fail: T, because failures are exceptions. */
template <class T> using result = T;
#else
template <class T> class expected;
/** The result of a function that may fail. */
template <class T> using result = expected<T>;
#endif

/* ---- Classes. ---- */

class error;
class error_options;
class bytes;
class limit;
class url;
class url_options;
class query;
class url_readings;
class timeout;
class retry;
class retry_options;
class decision;
class store;
class retry_budget;
class retry_budget_options;
class breaker;
class breaker_options;
class hedge;
class hedge_options;
class hedge_plan;
class rate;
class rate_options;
class headers;
class headers_options;
class request;
class attempts;
class response;
class body_decoder;
class body;
class connect_options;
class addresses;
class connect;
class throughput;
class stream;
class tls_context;
class tls_options;
class tls_engine;
class tls_session;
class certificate;

/** The handle netlib_error. */
class error : public detail::copyable<netlib_error, netlib_error_free, netlib_error_clone>, public std::exception {
  public:
    using copyable::copyable;
    /** Returns the message. */
    const char *what() const noexcept override;
    using options = netlib::error_options;
    static result<error> make(netlib::status status, const c_text &message, optional_ref<error_options> options = {});
#if NETLIB_HPP_THROWS
    error(netlib::status status, const c_text &message, optional_ref<error_options> options = {});
#endif
    netlib::status status() const noexcept;
    netlib::retry_kind retry_kind() const noexcept;
    text message() const & noexcept;
    text message() const && = delete;
    text advice() const & noexcept;
    text advice() const && = delete;
    text report() const & noexcept;
    text report() const && = delete;
    std::size_t cause_count() const noexcept;
    borrowed<error> cause(std::size_t index) const & noexcept;
    borrowed<error> cause(std::size_t index) const && = delete;
    std::int32_t errno_() const noexcept;
    std::int32_t resolver_code() const noexcept;
    std::int32_t tls_alert() const noexcept;
    netlib::certificate_problem certificate_problem() const noexcept;
    std::int64_t certificate_index() const noexcept;
    std::int64_t offset() const noexcept;
    void *user_data() const noexcept;
    std::int32_t http_status() const noexcept;
    text expected_fingerprint() const & noexcept;
    text expected_fingerprint() const && = delete;
    text actual_fingerprint() const & noexcept;
    text actual_fingerprint() const && = delete;
    text public_key_pin() const & noexcept;
    text public_key_pin() const && = delete;
    timeout_kind invalid_timeout() const noexcept;
    netlib::rewind_problem rewind_problem() const noexcept;
    netlib::header_defect header_defect() const noexcept;
    std::int64_t header_defect_line() const noexcept;
    std::int64_t unparsed_offset() const noexcept;
    borrowed<netlib::retry> retry() const & noexcept;
    borrowed<netlib::retry> retry() const && = delete;
    text budget_key() const & noexcept;
    text budget_key() const && = delete;
    double budget_left() const noexcept;
    seconds breaker_seconds() const noexcept;
    span<const std::uint8_t> ech_retry_configs() const & noexcept;
    span<const std::uint8_t> ech_retry_configs() const && = delete;
    netlib::range<error, borrowed<error>> causes() const & noexcept;
    netlib::range<error, borrowed<error>> causes() const && = delete;
};

/** The handle netlib_error_options. */
class error_options : public detail::copyable<netlib_error_options, netlib_error_options_free,
    netlib_error_options_clone> {
  public:
    using copyable::copyable;
    error_options() : copyable(detail::checked(netlib_error_options_new())) {}
    result<void> check() const;
    error_options &cause(optional_ref<error> cause) noexcept;
    error_options &retry_kind(netlib::retry_kind kind) noexcept;
    error_options &http_status(std::int32_t http_status) noexcept;
    error_options &user_data(void *ctx, netlib_ctx_free_fn ctx_free) noexcept;
};

/** The handle netlib_bytes. */
class bytes : public detail::copyable<netlib_bytes, netlib_bytes_free, netlib_bytes_clone> {
  public:
    using copyable::copyable;
    text data() const & noexcept;
    text data() const && = delete;
};

/** The handle netlib_limit. */
class limit : public detail::copyable<netlib_limit, netlib_limit_free, netlib_limit_clone> {
  public:
    using copyable::copyable;
    static result<limit> make(netlib::seconds seconds, optional_ref<limit> parent = {});
#if NETLIB_HPP_THROWS
    explicit limit(netlib::seconds seconds, optional_ref<limit> parent = {});
#endif
    template <class Interrupt> static result<limit> new_interruptible(netlib::seconds seconds,
        optional_ref<limit> parent, Interrupt check);
    void cancel() const noexcept;
    result<void> check() const;
    result<int> fd() const;
    seconds remaining() const noexcept;
};

/** The handle netlib_url. */
class url : public detail::copyable<netlib_url, netlib_url_free, netlib_url_clone> {
  public:
    using copyable::copyable;
    using options = netlib::url_options;
    static result<url> make(const c_text &scheme, const c_text &auth, const c_text &host, std::int32_t port,
        const c_text &path, const c_text &query, const c_text &fragment);
#if NETLIB_HPP_THROWS
    url(const c_text &scheme, const c_text &auth, const c_text &host, std::int32_t port, const c_text &path,
        const c_text &query, const c_text &fragment);
#endif
    text scheme() const & noexcept;
    text scheme() const && = delete;
    text auth() const & noexcept;
    text auth() const && = delete;
    result<text> username() const &;
    result<text> username() const && = delete;
    result<text> password() const &;
    result<text> password() const && = delete;
    text host() const & noexcept;
    text host() const && = delete;
    text hostname() const & noexcept;
    text hostname() const && = delete;
    std::int32_t port() const noexcept;
    std::int32_t port_or_default() const noexcept;
    text path() const & noexcept;
    text path() const && = delete;
    text query() const & noexcept;
    text query() const && = delete;
    text fragment() const & noexcept;
    text fragment() const && = delete;
    text authority() const & noexcept;
    text authority() const && = delete;
    text netloc() const & noexcept;
    text netloc() const && = delete;
    text request_uri() const & noexcept;
    text request_uri() const && = delete;
    text to_string() const & noexcept;
    text to_string() const && = delete;
    text redacted() const & noexcept;
    text redacted() const && = delete;
    result<url> resolve(std::string_view reference) const;
    bool same_origin(optional_ref<url> b) const noexcept;
    url_options to_options() const;
    static result<url> from_options(optional_ref<url_options> options = {});
};

/** The handle netlib_url_options. */
class url_options : public detail::copyable<netlib_url_options, netlib_url_options_free, netlib_url_options_clone> {
  public:
    using copyable::copyable;
    url_options() : copyable(detail::checked(netlib_url_options_new())) {}
    result<void> check() const;
    url_options &scheme(const c_text &scheme) noexcept;
    url_options &auth(const c_text &auth) noexcept;
    url_options &credentials(const c_text &username, const c_text &password) noexcept;
    url_options &host(const c_text &host) noexcept;
    url_options &port(std::int32_t port) noexcept;
    url_options &path(const c_text &path) noexcept;
    url_options &query(const c_text &query) noexcept;
    url_options &fragment(const c_text &fragment) noexcept;
};

/** The handle netlib_query. */
class query : public detail::unique<netlib_query, netlib_query_free> {
  public:
    using unique::unique;
    static result<query> parse(std::string_view text, query_format format);
    std::size_t count() const noexcept;
    text name(std::size_t index) const & noexcept;
    text name(std::size_t index) const && = delete;
    text value(std::size_t index) const & noexcept;
    text value(std::size_t index) const && = delete;
    std::size_t find(std::string_view name, std::size_t from) const noexcept;
    result<void> append(std::string_view name, std::string_view value);
    result<void> set(std::string_view name, std::string_view value);
    std::size_t remove(std::string_view name) noexcept;
    text to_string() const & noexcept;
    text to_string() const && = delete;
    struct item;
    netlib::range<query, item> items() const & noexcept;
    netlib::range<query, item> items() const && = delete;
    auto begin() const & noexcept { return items().begin(); }
    auto begin() const && = delete;
    auto end() const & noexcept { return items().end(); }
    auto end() const && = delete;
};

/** The handle netlib_url_readings. */
class url_readings : public detail::copyable<netlib_url_readings, netlib_url_readings_free,
    netlib_url_readings_clone> {
  public:
    using copyable::copyable;
    url_difference differences(url_reader a, url_reader b) const noexcept;
    bool accepted(url_reader reader) const noexcept;
    text scheme(url_reader reader) const & noexcept;
    text scheme(url_reader reader) const && = delete;
    text host(url_reader reader) const & noexcept;
    text host(url_reader reader) const && = delete;
    std::int32_t port(url_reader reader) const noexcept;
};

/** The handle netlib_timeout. */
class timeout : public detail::unique<netlib_timeout, netlib_timeout_free> {
  public:
    using unique::unique;
    static result<timeout> make(seconds total, seconds connect, seconds read);
#if NETLIB_HPP_THROWS
    timeout(seconds total, seconds connect, seconds read);
#endif
    timeout clone() const;
    template <class Clock> result<void> set_clock(Clock clock);
    result<void> start_connect();
    result<seconds> get_connect_duration() const;
    seconds connect_timeout() const noexcept;
    result<seconds> read_timeout() const;
    seconds configured_total() const noexcept;
    seconds configured_connect() const noexcept;
    seconds configured_read() const noexcept;
    static result<netlib::timeout> from_float(seconds timeout);
};

/** The handle netlib_retry. */
class retry : public detail::copyable<netlib_retry, netlib_retry_free, netlib_retry_clone> {
  public:
    using copyable::copyable;
    using options = netlib::retry_options;
    static result<retry> make(optional_ref<retry_options> options = {});
#if NETLIB_HPP_THROWS
    explicit retry(optional_ref<retry_options> options = {});
#endif
    retry_options to_options() const;
    result<retry> increment(const c_text &method, const c_text &url, optional_ref<netlib::response> response,
        optional_ref<netlib::error> error) const;
    result<bool> is_retry(const c_text &method, std::int32_t status_code, bool has_retry_after) const;
    bool is_exhausted() const noexcept;
    result<seconds> get_backoff_time() const;
    result<seconds> get_retry_after(const netlib::response &response) const;
    result<seconds> parse_retry_after(const c_text &value) const;
    struct delay_result;
    result<delay_result> delay(optional_ref<netlib::response> response) const;
    result<void> sleep(optional_ref<netlib::response> response, optional_ref<netlib::limit> limit = {}) const;
    result<bool> sleep_for_retry(optional_ref<netlib::response> response,
        optional_ref<netlib::limit> limit = {}) const;
    static borrowed<retry> recommended() noexcept;
    netlib::jitter_kind jitter_kind() const noexcept;
    bool obeys_any_retry_after() const noexcept;
    std::size_t retry_after_status_count() const noexcept;
    std::int32_t retry_after_status_at(std::size_t index) const noexcept;
    netlib::long_retry_after long_retry_after() const noexcept;
    bool ignores_malformed_retry_after() const noexcept;
    seconds throttling_base() const noexcept;
    std::size_t throttling_status_count() const noexcept;
    std::int32_t throttling_status_at(std::size_t index) const noexcept;
    bool is_throttled() const noexcept;
    seconds retry_after_clamp() const noexcept;
    text pushback_header() const & noexcept;
    text pushback_header() const && = delete;
    pushback pushback_kind() const noexcept;
    result<decision> decide(const c_text &method, const netlib::url &url, optional_ref<netlib::response> response,
        optional_ref<netlib::error> error, optional_ref<netlib::limit> limit = {}) const;
    std::int32_t total_left() const noexcept;
    std::int32_t connect_left() const noexcept;
    std::int32_t read_left() const noexcept;
    std::int32_t redirect_left() const noexcept;
    std::int32_t status_left() const noexcept;
    std::int32_t other_left() const noexcept;
    seconds backoff_factor() const noexcept;
    seconds backoff_max() const noexcept;
    seconds backoff_jitter() const noexcept;
    seconds retry_after_max() const noexcept;
    bool total_counts_redirects() const noexcept;
    bool raise_on_redirect() const noexcept;
    bool raise_on_status() const noexcept;
    bool respect_retry_after_header() const noexcept;
    netlib::redirect_profile redirect_profile() const noexcept;
    bool allows_any_method() const noexcept;
    bool allows_any_method_if_stale() const noexcept;
    std::size_t allowed_method_count() const noexcept;
    text allowed_method(std::size_t index) const & noexcept;
    text allowed_method(std::size_t index) const && = delete;
    std::size_t status_forcelist_count() const noexcept;
    std::int32_t status_forcelist_at(std::size_t index) const noexcept;
    std::size_t removed_header_count() const noexcept;
    text removed_header(std::size_t index) const & noexcept;
    text removed_header(std::size_t index) const && = delete;
    bool keeps_any_header() const noexcept;
    std::size_t kept_header_count() const noexcept;
    text kept_header(std::size_t index) const & noexcept;
    text kept_header(std::size_t index) const && = delete;
    std::size_t history_count() const noexcept;
    text history_method(std::size_t index) const & noexcept;
    text history_method(std::size_t index) const && = delete;
    text history_url(std::size_t index) const & noexcept;
    text history_url(std::size_t index) const && = delete;
    text history_redacted_url(std::size_t index) const & noexcept;
    text history_redacted_url(std::size_t index) const && = delete;
    borrowed<error> history_error(std::size_t index) const & noexcept;
    borrowed<error> history_error(std::size_t index) const && = delete;
    std::int32_t history_status(std::size_t index) const noexcept;
    text history_redirect_location(std::size_t index) const & noexcept;
    text history_redirect_location(std::size_t index) const && = delete;
    text history_redacted_redirect_location(std::size_t index) const & noexcept;
    text history_redacted_redirect_location(std::size_t index) const && = delete;
    borrowed<retry_budget> attached_budget() const & noexcept;
    borrowed<retry_budget> attached_budget() const && = delete;
    text attached_budget_key() const & noexcept;
    text attached_budget_key() const && = delete;
    static result<retry> from_int(std::int32_t count, bool redirect, optional_ref<retry> default_retry);
    borrowed<retry> resolve(optional_ref<retry> pool_default) const & noexcept;
    borrowed<retry> resolve(optional_ref<retry> pool_default) const && = delete;
    [[deprecated("use netlib_retry_resolve")]]
    static borrowed<retry> default_() noexcept;
    netlib::range<retry, std::int32_t> retry_after_statuses() const & noexcept;
    netlib::range<retry, std::int32_t> retry_after_statuses() const && = delete;
    netlib::range<retry, std::int32_t> throttling_statuses() const & noexcept;
    netlib::range<retry, std::int32_t> throttling_statuses() const && = delete;
    netlib::range<retry, text> allowed_methods() const & noexcept;
    netlib::range<retry, text> allowed_methods() const && = delete;
    netlib::range<retry, std::int32_t> status_forcelist() const & noexcept;
    netlib::range<retry, std::int32_t> status_forcelist() const && = delete;
    netlib::range<retry, text> removed_headers() const & noexcept;
    netlib::range<retry, text> removed_headers() const && = delete;
    netlib::range<retry, text> kept_headers() const & noexcept;
    netlib::range<retry, text> kept_headers() const && = delete;
    struct history_item;
    netlib::range<retry, history_item> history() const & noexcept;
    netlib::range<retry, history_item> history() const && = delete;
};

/** The handle netlib_retry_options. */
class retry_options : public detail::copyable<netlib_retry_options, netlib_retry_options_free,
    netlib_retry_options_clone> {
  public:
    using copyable::copyable;
    retry_options() : copyable(detail::checked(netlib_retry_options_new())) {}
    static retry_options new_recommended();
    result<void> check() const;
    retry_options &total(std::int32_t count) noexcept;
    retry_options &total_counts_redirects(bool counts) noexcept;
    retry_options &connect(std::int32_t count) noexcept;
    retry_options &read(std::int32_t count) noexcept;
    retry_options &redirect(std::int32_t count) noexcept;
    retry_options &status(std::int32_t count) noexcept;
    retry_options &other(std::int32_t count) noexcept;
    retry_options &allowed_methods(const texts &methods) noexcept;
    retry_options &allow_any_method() noexcept;
    retry_options &any_method_if_stale(bool allow) noexcept;
    retry_options &status_forcelist(span<const std::int32_t> codes) noexcept;
    retry_options &backoff_factor(netlib::seconds seconds) noexcept;
    retry_options &backoff_max(netlib::seconds seconds) noexcept;
    retry_options &backoff_jitter(netlib::seconds seconds) noexcept;
    retry_options &retry_after_max(netlib::seconds seconds) noexcept;
    retry_options &raise_on_redirect(bool raise) noexcept;
    retry_options &raise_on_status(bool raise) noexcept;
    retry_options &respect_retry_after_header(bool respect) noexcept;
    retry_options &remove_headers_on_redirect(const texts &names) noexcept;
    retry_options &add_sensitive_headers() noexcept;
    retry_options &keep_headers_on_redirect(const texts &names) noexcept;
    retry_options &keep_any_header_on_redirect() noexcept;
    retry_options &redirect_profile(netlib::redirect_profile profile) noexcept;
    retry_options &add_history(const c_text &method, const c_text &url, optional_ref<netlib::error> error,
        std::int32_t status, const c_text &redirect_location) noexcept;
    template <class WallClock> retry_options &wall_clock(WallClock clock);
    template <class Sleep> retry_options &sleep(Sleep sleep);
    template <class Random> retry_options &random(Random random);
    retry_options &jitter_kind(netlib::jitter_kind kind) noexcept;
    retry_options &retry_after_statuses(span<const std::int32_t> codes) noexcept;
    retry_options &obey_any_retry_after() noexcept;
    retry_options &long_retry_after(netlib::long_retry_after over_max) noexcept;
    retry_options &ignore_malformed_retry_after(bool ignore) noexcept;
    retry_options &throttling(seconds base, span<const std::int32_t> statuses) noexcept;
    retry_options &retry_after_clamp(seconds more) noexcept;
    retry_options &pushback_header(const c_text &name, pushback kind) noexcept;
    retry_options &budget(optional_ref<retry_budget> budget, const c_text &key) noexcept;
    [[deprecated("use netlib_retry_options_set_allowed_methods")]]
    retry_options &method_whitelist(const texts &methods) noexcept;
};

/** The handle netlib_decision. */
class decision : public detail::copyable<netlib_decision, netlib_decision_free, netlib_decision_clone> {
  public:
    using copyable::copyable;
    netlib::action action() const noexcept;
    borrowed<netlib::retry> retry() const & noexcept;
    borrowed<netlib::retry> retry() const && = delete;
    netlib::counter counter() const noexcept;
    bool throttled() const noexcept;
    seconds delay() const noexcept;
    netlib::delay_reason delay_reason() const noexcept;
    seconds delay_uncapped() const noexcept;
    result<void> sleep(optional_ref<netlib::limit> limit = {}) const;
    borrowed<netlib::url> url() const & noexcept;
    borrowed<netlib::url> url() const && = delete;
    text method() const & noexcept;
    text method() const && = delete;
    bool resend_body() const noexcept;
    bool drops_header(const c_text &name) const noexcept;
    std::size_t dropped_header_count() const noexcept;
    text dropped_header(std::size_t index) const & noexcept;
    text dropped_header(std::size_t index) const && = delete;
    result<netlib::headers> headers(const netlib::headers &request_headers) const;
    borrowed<error> denied() const & noexcept;
    borrowed<error> denied() const && = delete;
    netlib::range<decision, text> dropped_headers() const & noexcept;
    netlib::range<decision, text> dropped_headers() const && = delete;
};

/** The handle netlib_store. */
class store : public detail::copyable<netlib_store, netlib_store_free, netlib_store_clone> {
  public:
    using copyable::copyable;
    static result<store> file(const c_text &path, std::size_t slots);
    template <class StoreSwap> static result<store> make(StoreSwap swap, seconds timeout);
};

/** The handle netlib_retry_budget. */
class retry_budget : public detail::copyable<netlib_retry_budget, netlib_retry_budget_free,
    netlib_retry_budget_clone> {
  public:
    using copyable::copyable;
    using options = netlib::retry_budget_options;
    static result<retry_budget> make(optional_ref<retry_budget_options> options = {});
#if NETLIB_HPP_THROWS
    explicit retry_budget(optional_ref<retry_budget_options> options = {});
#endif
    result<std::uint64_t> ask(std::string_view key, budget_kind kind) const;
    void report(std::uint64_t lease, netlib::report outcome) const;
    double left(std::string_view key) const noexcept;
};

/** The handle netlib_retry_budget_options. */
class retry_budget_options : public detail::copyable<netlib_retry_budget_options, netlib_retry_budget_options_free,
    netlib_retry_budget_options_clone> {
  public:
    using copyable::copyable;
    retry_budget_options() : copyable(detail::checked(netlib_retry_budget_options_new())) {}
    result<void> check() const;
    retry_budget_options &preset(budget_preset preset) noexcept;
    retry_budget_options &tokens(double capacity, double transient_cost, double throttling_cost,
        double gain) noexcept;
    retry_budget_options &failure_tokens(double capacity, double gain, double floor) noexcept;
    retry_budget_options &window(double ratio, double least_per_second, netlib::seconds seconds) noexcept;
    retry_budget_options &in_flight(double ratio, std::int32_t least) noexcept;
    retry_budget_options &lease_time(netlib::seconds seconds) noexcept;
    retry_budget_options &max_keys(std::int32_t max_keys) noexcept;
    retry_budget_options &store(optional_ref<netlib::store> store, netlib::unavailable unavailable) noexcept;
    template <class Clock> retry_budget_options &clock(Clock clock);
};

/** The handle netlib_breaker. */
class breaker : public detail::copyable<netlib_breaker, netlib_breaker_free, netlib_breaker_clone> {
  public:
    using copyable::copyable;
    using options = netlib::breaker_options;
    static result<breaker> make(optional_ref<breaker_options> options = {});
#if NETLIB_HPP_THROWS
    explicit breaker(optional_ref<breaker_options> options = {});
#endif
    struct ask_result;
    result<ask_result> ask(std::string_view key) const;
    void report(std::uint64_t permit, netlib::report outcome) const;
    result<circuit_state> state(std::string_view key) const;
};

/** The handle netlib_breaker_options. */
class breaker_options : public detail::copyable<netlib_breaker_options, netlib_breaker_options_free,
    netlib_breaker_options_clone> {
  public:
    using copyable::copyable;
    breaker_options() : copyable(detail::checked(netlib_breaker_options_new())) {}
    result<void> check() const;
    breaker_options &ratio(double ratio, std::int32_t minimum, seconds window, seconds open_time,
        std::int32_t probes) noexcept;
    breaker_options &consecutive(std::int32_t failures, seconds open_time, seconds open_time_max,
        double max_open_percent) noexcept;
    breaker_options &adaptive(double multiplier, std::int32_t minimum, seconds window,
        double max_probability) noexcept;
    breaker_options &permit_time(netlib::seconds seconds) noexcept;
    breaker_options &max_keys(std::int32_t max_keys) noexcept;
    template <class Clock> breaker_options &clock(Clock clock);
    template <class Random> breaker_options &random(Random random);
};

/** The handle netlib_hedge. */
class hedge : public detail::copyable<netlib_hedge, netlib_hedge_free, netlib_hedge_clone> {
  public:
    using copyable::copyable;
    using options = netlib::hedge_options;
    static result<hedge> make(optional_ref<hedge_options> options = {});
#if NETLIB_HPP_THROWS
    explicit hedge(optional_ref<hedge_options> options = {});
#endif
    seconds delay(std::string_view key) const noexcept;
    result<hedge_plan> start(std::string_view key, const c_text &method) const;
};

/** The handle netlib_hedge_options. */
class hedge_options : public detail::copyable<netlib_hedge_options, netlib_hedge_options_free,
    netlib_hedge_options_clone> {
  public:
    using copyable::copyable;
    hedge_options() : copyable(detail::checked(netlib_hedge_options_new())) {}
    result<void> check() const;
    hedge_options &delay(netlib::seconds seconds) noexcept;
    hedge_options &percentile(double percentile, std::int32_t minimum_samples) noexcept;
    hedge_options &max_attempts(std::int32_t max_attempts) noexcept;
    hedge_options &allowed_methods(const texts &methods) noexcept;
    hedge_options &budget(optional_ref<retry_budget> budget) noexcept;
    hedge_options &max_keys(std::int32_t max_keys) noexcept;
};

/** The handle netlib_hedge_plan. */
class hedge_plan : public detail::unique<netlib_hedge_plan, netlib_hedge_plan_free> {
  public:
    using unique::unique;
    seconds timer() const noexcept;
    std::int32_t attempts() const noexcept;
    borrowed<error> denied() const & noexcept;
    borrowed<error> denied() const && = delete;
    result<hedge_action> step(hedge_event event, std::int32_t attempt, netlib::seconds seconds);
    result<hedge_action> pushback(std::int32_t attempt, netlib::seconds wait, netlib::seconds seconds);
};

/** The handle netlib_rate. */
class rate : public detail::copyable<netlib_rate, netlib_rate_free, netlib_rate_clone> {
  public:
    using copyable::copyable;
    using options = netlib::rate_options;
    static result<rate> make(optional_ref<rate_options> options = {});
#if NETLIB_HPP_THROWS
    explicit rate(optional_ref<rate_options> options = {});
#endif
    result<progress<seconds>> take(std::string_view key, double n) const;
    result<void> report(std::string_view key, netlib::report outcome) const;
};

/** The handle netlib_rate_options. */
class rate_options : public detail::copyable<netlib_rate_options, netlib_rate_options_free,
    netlib_rate_options_clone> {
  public:
    using copyable::copyable;
    rate_options() : copyable(detail::checked(netlib_rate_options_new())) {}
    result<void> check() const;
    rate_options &limit(double per_second, double burst) noexcept;
    rate_options &adaptive() noexcept;
    rate_options &max_keys(std::int32_t max_keys) noexcept;
    rate_options &store(optional_ref<netlib::store> store, netlib::unavailable unavailable) noexcept;
    template <class Clock> rate_options &clock(Clock clock);
};

/** The handle netlib_headers. */
class headers : public detail::copyable<netlib_headers, netlib_headers_free, netlib_headers_clone> {
  public:
    using copyable::copyable;
    using options = netlib::headers_options;
    static result<headers> make(span<const netlib_header_field> fields);
#if NETLIB_HPP_THROWS
    explicit headers(span<const netlib_header_field> fields);
#endif
    headers_options to_options() const;
    result<headers> with(const c_text &name, const c_text &value) const;
    std::size_t count() const noexcept;
    text name(std::size_t index) const & noexcept;
    text name(std::size_t index) const && = delete;
    text value(std::size_t index) const & noexcept;
    text value(std::size_t index) const && = delete;
    text get(const c_text &name) const & noexcept;
    text get(const c_text &name) const && = delete;
    std::size_t get_count(const c_text &name) const noexcept;
    text get_at(const c_text &name, std::size_t n) const & noexcept;
    text get_at(const c_text &name, std::size_t n) const && = delete;
    text to_wire() const & noexcept;
    text to_wire() const && = delete;
    struct item;
    netlib::range<headers, item> items() const & noexcept;
    netlib::range<headers, item> items() const && = delete;
    auto begin() const & noexcept { return items().begin(); }
    auto begin() const && = delete;
    auto end() const & noexcept { return items().end(); }
    auto end() const && = delete;
};

/** The handle netlib_headers_options. */
class headers_options : public detail::copyable<netlib_headers_options, netlib_headers_options_free,
    netlib_headers_options_clone> {
  public:
    using copyable::copyable;
    headers_options() : copyable(detail::checked(netlib_headers_options_new())) {}
    result<void> check() const;
    headers_options &keep_alive(bool keep_alive) noexcept;
    headers_options &accept_encoding(const c_text &value) noexcept;
    headers_options &enable_accept_encoding(bool enable) noexcept;
    headers_options &add_accept_encoding(const c_text &coding) noexcept;
    headers_options &add_supported_coding(const c_text &coding) noexcept;
    headers_options &user_agent(const c_text &user_agent) noexcept;
    headers_options &basic_auth(const c_text &credentials) noexcept;
    headers_options &proxy_basic_auth(const c_text &credentials) noexcept;
    headers_options &disable_cache(bool disable_cache) noexcept;
    headers_options &add_header(const c_text &name, const c_text &value) noexcept;
};

/** The handle netlib_request. */
class request : public detail::copyable<netlib_request, netlib_request_free, netlib_request_clone> {
  public:
    using copyable::copyable;
    static result<request> make(const c_text &method, const netlib::url &url, optional_ref<netlib::headers> headers,
        request_form form);
#if NETLIB_HPP_THROWS
    request(const c_text &method, const netlib::url &url, optional_ref<netlib::headers> headers, request_form form);
#endif
    text to_wire() const & noexcept;
    text to_wire() const && = delete;
};

/** The handle netlib_attempts. */
class attempts : public detail::unique<netlib_attempts, netlib_attempts_free> {
  public:
    using unique::unique;
    static result<attempts> make(const netlib::retry &retry, const c_text &method, const netlib::url &url,
        optional_ref<netlib::headers> headers, bool has_body, optional_ref<netlib::limit> limit = {});
#if NETLIB_HPP_THROWS
    attempts(const netlib::retry &retry, const c_text &method, const netlib::url &url,
        optional_ref<netlib::headers> headers, bool has_body, optional_ref<netlib::limit> limit = {});
#endif
    text method() const & noexcept;
    text method() const && = delete;
    borrowed<netlib::url> url() const & noexcept;
    borrowed<netlib::url> url() const && = delete;
    borrowed<netlib::headers> headers() const & noexcept;
    borrowed<netlib::headers> headers() const && = delete;
    bool sends_body() const noexcept;
    borrowed<netlib::limit> limit() const & noexcept;
    borrowed<netlib::limit> limit() const && = delete;
    result<netlib::request> request(request_form form) const;
    result<void> set_header(const c_text &name, const c_text &value);
    void reset_failures() noexcept;
    borrowed<netlib::decision> decision() const & noexcept;
    borrowed<netlib::decision> decision() const && = delete;
    result<status> next(optional_ref<netlib::response> response, optional_ref<netlib::error> error);
    result<status> decide(optional_ref<netlib::response> response, optional_ref<netlib::error> error);
};

/** The handle netlib_response. */
class response : public detail::copyable<netlib_response, netlib_response_free, netlib_response_clone> {
  public:
    using copyable::copyable;
    static result<response> make(const c_text &request_method, std::int32_t status, const netlib::headers &headers);
#if NETLIB_HPP_THROWS
    response(const c_text &request_method, std::int32_t status, const netlib::headers &headers);
#endif
    struct parse_result;
    static result<progress<parse_result>> parse(const c_text &request_method, std::string_view head,
        std::uint64_t *state = nullptr);
    struct parse_final_result;
    static result<progress<parse_final_result>> parse_final(const c_text &request_method, std::string_view head,
        std::uint64_t *state = nullptr);
    std::int32_t status() const noexcept;
    borrowed<netlib::headers> headers() const & noexcept;
    borrowed<netlib::headers> headers() const && = delete;
    text request_method() const & noexcept;
    text request_method() const && = delete;
    text reason() const & noexcept;
    text reason() const && = delete;
    std::int32_t minor_version() const noexcept;
    text redirect_location() const & noexcept;
    text redirect_location() const && = delete;
    struct framing_result;
    result<framing_result> framing() const;
    result<void> check_tunnel() const;
    bool keeps_alive(optional_ref<body_decoder> decoder) const noexcept;
    struct content_range_result;
    result<content_range_result> content_range() const;
    text range_validator() const & noexcept;
    text range_validator() const && = delete;
    bool resumes(const response &earlier, std::int64_t offset) const noexcept;
};

/** The handle netlib_body_decoder. */
class body_decoder : public detail::unique<netlib_body_decoder, netlib_body_decoder_free> {
  public:
    using unique::unique;
    static result<body_decoder> make(const netlib::response &response);
#if NETLIB_HPP_THROWS
    explicit body_decoder(const netlib::response &response);
#endif
    result<void> set_limits(std::size_t max_size_line, std::size_t max_trailer, std::size_t max_trailer_fields);
    result<void> set_max_size(std::int64_t max_size);
    result<void> set_allow_bare_lf(bool allow);
    struct decode_result;
    result<progress<decode_result>> decode(span<const std::uint8_t> data) &;
    result<progress<decode_result>> decode(span<const std::uint8_t> data) const && = delete;
    result<void> end();
    bool is_done() const noexcept;
    borrowed<headers> trailers() const & noexcept;
    borrowed<headers> trailers() const && = delete;
    std::int64_t bytes_decoded() const noexcept;
    std::int64_t bytes_left() const noexcept;
};

/** The handle netlib_body. */
class body : public detail::unique<netlib_body, netlib_body_free> {
  public:
    using unique::unique;
    static result<body> from_memory(span<const std::uint8_t> data);
    static result<body> from_fd(int fd);
    template <class BodyRead, class BodyTell, class BodySeek,
        class BodyIsClosed> static result<body> make(BodyRead read, BodyTell tell, BodySeek seek,
        BodyIsClosed is_closed);
    void set_limit(optional_ref<netlib::limit> limit) noexcept;
    result<progress<std::size_t>> read(span<std::uint8_t> buf);
    result<std::int64_t> length();
};

/** The handle netlib_connect_options. */
class connect_options : public detail::copyable<netlib_connect_options, netlib_connect_options_free,
    netlib_connect_options_clone> {
  public:
    using copyable::copyable;
    connect_options() : copyable(detail::checked(netlib_connect_options_new())) {}
    result<void> check() const;
    connect_options &timeout(seconds timeout) noexcept;
    connect_options &use_timeout(const netlib::timeout &timeout);
    connect_options &address_family(netlib::address_family family) noexcept;
    connect_options &source_address(const c_text &host, std::int32_t port) noexcept;
    connect_options &interface(const c_text &name) noexcept;
    connect_options &no_delay(bool enable) noexcept;
    connect_options &keepalive(seconds idle, seconds interval, std::int32_t count) noexcept;
    connect_options &user_timeout(netlib::seconds seconds) noexcept;
    connect_options &add_socket_option(std::int32_t level, std::int32_t name,
        span<const std::uint8_t> value) noexcept;
    connect_options &refuse_addresses(address_class classes) noexcept;
    template <class Address> connect_options &address_callback(Address callback);
    template <class Resolve> connect_options &resolve_callback(Resolve resolve);
    connect_options &attempt_delay(netlib::seconds seconds) noexcept;
    connect_options &supply_addresses(bool enable) noexcept;
};

/** The handle netlib_addresses. */
class addresses : public detail::unique<netlib_addresses, netlib_addresses_free> {
  public:
    using unique::unique;
    addresses() : unique(detail::checked(netlib_addresses_new())) {}
    result<void> add(span<const std::uint8_t> address);
    std::size_t count() const noexcept;
};

/** The handle netlib_connect. */
class connect : public detail::unique<netlib_connect, netlib_connect_free> {
  public:
    using unique::unique;
    using options = netlib::connect_options;
    static result<connect> make(const c_text &host, std::int32_t port, optional_ref<connect_options> options = {});
#if NETLIB_HPP_THROWS
    connect(const c_text &host, std::int32_t port, optional_ref<connect_options> options = {});
#endif
    static result<connect> new_addresses(const c_text &host, std::int32_t port, const netlib::addresses &addresses,
        optional_ref<connect_options> options = {});
    result<void> set_limit(optional_ref<netlib::limit> limit = {});
    result<progress<descriptor>> step();
    result<void> supply_addresses(const netlib::addresses &addresses);
    result<void> supply_error(const netlib::error &error);
    result<descriptor> run(optional_ref<netlib::limit> limit = {});
    std::size_t wait_count() const noexcept;
    int wait_fd(std::size_t index) const noexcept;
    std::int32_t wait_events(std::size_t index) const noexcept;
    seconds wait_seconds() const noexcept;
    std::size_t attempt_count() const noexcept;
    std::int32_t winner() const noexcept;
    text attempt_address(std::size_t index) const & noexcept;
    text attempt_address(std::size_t index) const && = delete;
    std::int32_t attempt_port(std::size_t index) const noexcept;
    seconds attempt_start(std::size_t index) const noexcept;
    seconds attempt_end(std::size_t index) const noexcept;
    status attempt_status(std::size_t index) const noexcept;
    std::int32_t attempt_errno(std::size_t index) const noexcept;
    static result<connect> new_unix(std::string_view path, optional_ref<connect_options> options = {});
    struct wait_item;
    netlib::range<connect, wait_item> waits() const & noexcept;
    netlib::range<connect, wait_item> waits() const && = delete;
    struct attempt_item;
    netlib::range<connect, attempt_item> attempts() const & noexcept;
    netlib::range<connect, attempt_item> attempts() const && = delete;
};

/** The handle netlib_throughput. */
class throughput : public detail::unique<netlib_throughput, netlib_throughput_free> {
  public:
    using unique::unique;
    static result<throughput> make(std::size_t bytes, netlib::seconds seconds);
#if NETLIB_HPP_THROWS
    throughput(std::size_t bytes, netlib::seconds seconds);
#endif
    result<status> wait_for_read(int fd, seconds timeout, optional_ref<netlib::limit> limit = {});
    void add(std::size_t bytes) noexcept;
};

/** The handle netlib_stream. */
class stream : public detail::unique<netlib_stream, netlib_stream_free> {
  public:
    using unique::unique;
    static result<stream> new_fd(int fd);
    template <class StreamRead, class StreamWrite> static result<stream> new_callbacks(StreamRead read_fn,
        StreamWrite write_fn);
    void set_limit(optional_ref<netlib::limit> limit) noexcept;
    result<void> set_read_timeout(netlib::seconds seconds);
    result<void> use_timeout(const netlib::timeout &timeout);
    result<void> set_write_timeout(netlib::seconds seconds);
    result<void> set_minimum_throughput(std::size_t bytes, netlib::seconds seconds);
    result<void> set_blocking(bool blocking);
    result<progress<std::size_t>> read(span<std::uint8_t> buf);
    std::size_t pending() const noexcept;
    struct is_dropped_result;
    result<is_dropped_result> is_dropped();
    result<progress<std::size_t>> write(span<const std::uint8_t> buf);
    result<progress<std::size_t>> writev(span<const netlib_slice> slices);
    result<status> shutdown();
    result<status> shutdown_both();
    static result<progress<stream>> connect(const netlib::url &url, optional_ref<tls_context> context,
        optional_ref<connect_options> options = {}, optional_ref<netlib::limit> limit = {});
    int fd() const noexcept;
    result<progress<response>> read_response(const c_text &request_method);
    result<progress<response>> read_next_response(const c_text &request_method);
    result<progress<std::size_t>> read_body(body_decoder &decoder, span<std::uint8_t> buf);
    result<progress<bytes>> read_whole_body(body_decoder &decoder, std::size_t max_size);
    result<status> discard_body(body_decoder &decoder, std::size_t max_size, netlib::seconds seconds);
    result<status> handshake();
    std::size_t peer_certificate_count() const noexcept;
    span<const std::uint8_t> peer_certificate(std::size_t index) const & noexcept;
    span<const std::uint8_t> peer_certificate(std::size_t index) const && = delete;
    text alpn_protocol() const & noexcept;
    text alpn_protocol() const && = delete;
    text server_name() const & noexcept;
    text server_name() const && = delete;
    netlib::tls_version tls_version() const noexcept;
    text cipher_suite() const & noexcept;
    text cipher_suite() const && = delete;
    std::int32_t cipher_suite_bits() const noexcept;
    text key_exchange_group() const & noexcept;
    text key_exchange_group() const && = delete;
    bool is_resumed() const noexcept;
    result<tls_session> take_session();
    result<void> set_session(optional_ref<tls_session> session);
    result<progress<std::size_t>> write_early_data(span<const std::uint8_t> buf);
    netlib::early_data_status early_data_status() const noexcept;
    std::size_t early_data_left() const noexcept;
    std::size_t early_data_written() const noexcept;
    netlib::ech_status ech_status() const noexcept;
    text cipher_suite_openssl_name() const & noexcept;
    text cipher_suite_openssl_name() const && = delete;
    netlib::range<stream, span<const std::uint8_t>> peer_certificates() const & noexcept;
    netlib::range<stream, span<const std::uint8_t>> peer_certificates() const && = delete;
};

/** The handle netlib_tls_context. */
class tls_context : public detail::copyable<netlib_tls_context, netlib_tls_context_free, netlib_tls_context_clone> {
  public:
    using copyable::copyable;
    using options = netlib::tls_options;
    static result<tls_context> make(optional_ref<tls_options> options = {});
#if NETLIB_HPP_THROWS
    explicit tls_context(optional_ref<tls_options> options = {});
#endif
    std::size_t session_count() const noexcept;
    void forget_sessions() const noexcept;
    bool early_data() const noexcept;
    result<tls_context> with_ech(span<const std::uint8_t> config_list) const;
    span<const std::uint8_t> ech_config_list() const & noexcept;
    span<const std::uint8_t> ech_config_list() const && = delete;
    text ech_public_name() const & noexcept;
    text ech_public_name() const && = delete;
    std::int32_t ech_grease() const noexcept;
    result<void> verify_chain(span<const std::uint8_t> chain, netlib::purpose purpose, const c_text &name,
        std::optional<seconds> time = {}) const;
    tls_options to_options() const;
    std::size_t trust_anchor_count() const noexcept;
    span<const std::uint8_t> trust_anchor(std::size_t index) const & noexcept;
    span<const std::uint8_t> trust_anchor(std::size_t index) const && = delete;
    trust_kind trust_kinds() const noexcept;
    std::size_t trust_source_count() const noexcept;
    trust_kind trust_source_kind(std::size_t index) const noexcept;
    text trust_source_name(std::size_t index) const & noexcept;
    text trust_source_name(std::size_t index) const && = delete;
    std::size_t trust_source_anchor_count(std::size_t index) const noexcept;
    std::size_t trust_source_skipped_count(std::size_t index) const noexcept;
    text trust_source_skipped(std::size_t index, std::size_t skipped) const & noexcept;
    text trust_source_skipped(std::size_t index, std::size_t skipped) const && = delete;
    netlib::verify_mode verify_mode() const noexcept;
    bool check_hostname() const noexcept;
    std::size_t pin_count() const noexcept;
    bool pins_replace_chain() const noexcept;
    verify_flag verify_flags() const noexcept;
    tls_version minimum_version() const noexcept;
    tls_version maximum_version() const noexcept;
    std::size_t alpn_protocol_count() const noexcept;
    text alpn_protocol(std::size_t index) const & noexcept;
    text alpn_protocol(std::size_t index) const && = delete;
    std::size_t cipher_suite_count() const noexcept;
    text cipher_suite(std::size_t index) const & noexcept;
    text cipher_suite(std::size_t index) const && = delete;
    text unknown_ciphers() const & noexcept;
    text unknown_ciphers() const && = delete;
    std::size_t key_exchange_group_count() const noexcept;
    text key_exchange_group(std::size_t index) const & noexcept;
    text key_exchange_group(std::size_t index) const && = delete;
    bool resumption() const noexcept;
    text keylog_file() const & noexcept;
    text keylog_file() const && = delete;
    text digest() const & noexcept;
    text digest() const && = delete;
    ssl_version protocol() const noexcept;
    bool hostname_checks_common_name() const noexcept;
    bool post_handshake_auth() const noexcept;
    std::int64_t option_bits() const noexcept;
    text cipher_suite_openssl_name(std::size_t index) const & noexcept;
    text cipher_suite_openssl_name(std::size_t index) const && = delete;
    netlib::range<tls_context, span<const std::uint8_t>> trust_anchors() const & noexcept;
    netlib::range<tls_context, span<const std::uint8_t>> trust_anchors() const && = delete;
    struct trust_source_item;
    netlib::range<tls_context, trust_source_item> trust_sources() const & noexcept;
    netlib::range<tls_context, trust_source_item> trust_sources() const && = delete;
    netlib::range<tls_context, text> alpn_protocols() const & noexcept;
    netlib::range<tls_context, text> alpn_protocols() const && = delete;
    struct cipher_suite_item;
    netlib::range<tls_context, cipher_suite_item> cipher_suites() const & noexcept;
    netlib::range<tls_context, cipher_suite_item> cipher_suites() const && = delete;
    netlib::range<tls_context, text> key_exchange_groups() const & noexcept;
    netlib::range<tls_context, text> key_exchange_groups() const && = delete;
};

/** The handle netlib_tls_options. */
class tls_options : public detail::copyable<netlib_tls_options, netlib_tls_options_free, netlib_tls_options_clone> {
  public:
    using copyable::copyable;
    tls_options() : copyable(detail::checked(netlib_tls_options_new())) {}
    result<void> check() const;
    tls_options &add_ca_file(const c_text &path) noexcept;
    tls_options &add_ca_dir(const c_text &path) noexcept;
    tls_options &add_ca_data(span<const std::uint8_t> data) noexcept;
    tls_options &system_trust(bool on) noexcept;
    tls_options &server_only(bool on) noexcept;
    tls_options &keep_trust_anchors(bool on) noexcept;
    tls_options &embedded_trust(bool on) noexcept;
    tls_options &identity_files(const c_text &chain_path, const c_text &key_path) noexcept;
    tls_options &identity(span<const std::uint8_t> chain, span<const std::uint8_t> key) noexcept;
    tls_options &key_password(span<const std::uint8_t> password) noexcept;
    tls_options &verify_mode(netlib::verify_mode mode) noexcept;
    tls_options &check_hostname(bool on) noexcept;
    tls_options &add_pin(const c_text &pin) noexcept;
    tls_options &pins_replace_chain(bool on) noexcept;
    tls_options &add_crl_file(const c_text &path) noexcept;
    tls_options &add_crl_data(span<const std::uint8_t> data) noexcept;
    tls_options &verify_flags(verify_flag flags) noexcept;
    template <class WallClock> tls_options &wall_clock(WallClock clock);
    tls_options &minimum_version(tls_version version) noexcept;
    tls_options &maximum_version(tls_version version) noexcept;
    tls_options &add_alpn_protocol(const c_text &protocol) noexcept;
    tls_options &resumption(bool on) noexcept;
    tls_options &session_tickets(bool on) noexcept;
    tls_options &keylog_file(const c_text &path) noexcept;
    tls_options &use_environment(bool on) noexcept;
    tls_options &ciphers(const c_text &ciphers) noexcept;
    tls_options &key_exchange_groups(const c_text &groups) noexcept;
    template <class TlsServername> tls_options &servername_callback(TlsServername callback);
    tls_options &early_data(bool on) noexcept;
    tls_options &ech_config_list(span<const std::uint8_t> config_list) noexcept;
    tls_options &ech_grease(bool on) noexcept;
    tls_options &npn_protocols(const texts &protocols) noexcept;
    tls_options &hostname_checks_common_name(bool on) noexcept;
    tls_options &post_handshake_auth(bool on) noexcept;
    tls_options &option_bits(std::int64_t bits) noexcept;
    [[deprecated("use netlib_tls_options_set_minimum_version")]]
    tls_options &ssl_version(netlib::ssl_version version) noexcept;
};

/** The handle netlib_tls_engine. */
class tls_engine : public detail::unique<netlib_tls_engine, netlib_tls_engine_free> {
  public:
    using unique::unique;
    static result<tls_engine> new_client(const tls_context &context, const c_text &server_hostname);
    static result<tls_engine> new_server(const tls_context &context);
    result<std::size_t> feed(span<const std::uint8_t> data);
    void feed_eof() noexcept;
    result<std::size_t> drain(span<std::uint8_t> buf);
    std::size_t output_pending() const noexcept;
    result<status> handshake();
    result<progress<std::size_t>> read(span<std::uint8_t> buf);
    std::size_t pending() noexcept;
    result<progress<std::size_t>> write(span<const std::uint8_t> buf);
    result<void> shutdown();
    std::size_t peer_certificate_count() const noexcept;
    span<const std::uint8_t> peer_certificate(std::size_t index) const & noexcept;
    span<const std::uint8_t> peer_certificate(std::size_t index) const && = delete;
    text alpn_protocol() const & noexcept;
    text alpn_protocol() const && = delete;
    text server_name() const & noexcept;
    text server_name() const && = delete;
    tls_version version() const noexcept;
    text cipher_suite() const & noexcept;
    text cipher_suite() const && = delete;
    std::int32_t cipher_suite_bits() const noexcept;
    text key_exchange_group() const & noexcept;
    text key_exchange_group() const && = delete;
    bool is_resumed() const noexcept;
    result<tls_session> take_session();
    result<void> set_session(optional_ref<tls_session> session);
    result<progress<std::size_t>> write_early_data(span<const std::uint8_t> buf);
    netlib::early_data_status early_data_status() const noexcept;
    std::size_t early_data_left() const noexcept;
    std::size_t early_data_written() const noexcept;
    netlib::ech_status ech_status() const noexcept;
    text cipher_suite_openssl_name() const & noexcept;
    text cipher_suite_openssl_name() const && = delete;
    netlib::range<tls_engine, span<const std::uint8_t>> peer_certificates() const & noexcept;
    netlib::range<tls_engine, span<const std::uint8_t>> peer_certificates() const && = delete;
};

/** The handle netlib_tls_session. */
class tls_session : public detail::copyable<netlib_tls_session, netlib_tls_session_free, netlib_tls_session_clone> {
  public:
    using copyable::copyable;
    text server_name() const & noexcept;
    text server_name() const && = delete;
    tls_version version() const noexcept;
    std::int64_t time() const noexcept;
    bool is_resumable() const noexcept;
};

/** The handle netlib_certificate. */
class certificate : public detail::copyable<netlib_certificate, netlib_certificate_free, netlib_certificate_clone> {
  public:
    using copyable::copyable;
    static result<certificate> parse(span<const std::uint8_t> data);
    text subject() const & noexcept;
    text subject() const && = delete;
    text issuer() const & noexcept;
    text issuer() const && = delete;
    std::size_t attribute_count(distinguished_name name) const noexcept;
    text attribute_oid(distinguished_name name, std::size_t index) const & noexcept;
    text attribute_oid(distinguished_name name, std::size_t index) const && = delete;
    text attribute_short_name(distinguished_name name, std::size_t index) const & noexcept;
    text attribute_short_name(distinguished_name name, std::size_t index) const && = delete;
    text attribute_value(distinguished_name name, std::size_t index) const & noexcept;
    text attribute_value(distinguished_name name, std::size_t index) const && = delete;
    std::int32_t attribute_rdn(distinguished_name name, std::size_t index) const noexcept;
    text serial() const & noexcept;
    text serial() const && = delete;
    std::int32_t version() const noexcept;
    seconds not_before() const noexcept;
    seconds not_after() const noexcept;
    text not_before_text() const & noexcept;
    text not_before_text() const && = delete;
    text not_after_text() const & noexcept;
    text not_after_text() const && = delete;
    std::size_t name_count() const noexcept;
    text name(std::size_t index) const & noexcept;
    text name(std::size_t index) const && = delete;
    certificate_name_kind name_kind(std::size_t index) const noexcept;
    text public_key_algorithm() const & noexcept;
    text public_key_algorithm() const && = delete;
    text public_key_curve() const & noexcept;
    text public_key_curve() const && = delete;
    std::size_t public_key_bits() const noexcept;
    text signature_algorithm() const & noexcept;
    text signature_algorithm() const && = delete;
    bool is_ca() const noexcept;
    bool is_self_issued() const noexcept;
    span<const std::uint8_t> der() const & noexcept;
    span<const std::uint8_t> der() const && = delete;
    text fingerprint() const & noexcept;
    text fingerprint() const && = delete;
    text public_key_pin() const & noexcept;
    text public_key_pin() const && = delete;
    struct name_item;
    netlib::range<certificate, name_item> names() const & noexcept;
    netlib::range<certificate, name_item> names() const && = delete;
};

/** An element of query::items. */
struct query::item {
    text name;
    text value;
};

/** The results of netlib_retry_delay. */
struct retry::delay_result {
    netlib::seconds seconds;
    delay_reason reason;
    netlib::seconds uncapped;
};

/** An element of retry::history. */
struct retry::history_item {
    text method;
    text url;
    text redacted_url;
    borrowed<netlib::error> error;
    std::int32_t status;
    text redirect_location;
    text redacted_redirect_location;
};

/** The results of netlib_breaker_ask. */
struct breaker::ask_result {
    std::uint64_t permit;
    netlib::seconds seconds;
};

/** An element of headers::items. */
struct headers::item {
    text name;
    text value;
};

/** The results of netlib_response_parse. */
struct response::parse_result {
    netlib::response response;
    std::size_t head_len;
};

/** The results of netlib_response_parse_final. */
struct response::parse_final_result {
    netlib::response response;
    std::size_t head_len;
};

/** The results of netlib_response_framing. */
struct response::framing_result {
    body_framing framing;
    std::int64_t length;
};

/** The results of netlib_response_content_range. */
struct response::content_range_result {
    std::int64_t first;
    std::int64_t last;
    std::int64_t total;
};

/** The results of netlib_body_decoder_decode. */
struct body_decoder::decode_result {
    std::size_t consumed;
    span<const std::uint8_t> body;
};

/** An element of connect::waits. */
struct connect::wait_item {
    int fd;
    std::int32_t events;
};

/** An element of connect::attempts. */
struct connect::attempt_item {
    text address;
    std::int32_t port;
    seconds start;
    seconds end;
    netlib::status status;
    std::int32_t errno_;
};

/** The results of netlib_stream_is_dropped. */
struct stream::is_dropped_result {
    bool dropped;
    status why;
};

/** An element of tls_context::trust_sources. */
struct tls_context::trust_source_item {
    trust_kind kind;
    text name;
    std::size_t anchor_count;
    std::size_t skipped_count;
};

/** An element of tls_context::cipher_suites. */
struct tls_context::cipher_suite_item {
    text cipher_suite;
    text openssl_name;
};

/** An element of certificate::names. */
struct certificate::name_item {
    text name;
    certificate_name_kind kind;
};

/** The results of netlib_split_first. */
struct split_first_result {
    std::size_t before_end;
    std::size_t after_start;
    std::int64_t delimiter;
};
/* ---- Functions. ---- */

std::size_t nts() noexcept;
text version() noexcept;
std::int32_t version_number() noexcept;
text status_name(netlib::status status) noexcept;
text status_text(netlib::status status) noexcept;
class_ status_class(netlib::status status) noexcept;
retry_kind status_retry_kind(netlib::status status) noexcept;
result<netlib::url> parse_url(std::string_view url);
result<netlib::url> parse_url_strict(std::string_view url);
result<bytes> percent_encode(url_component component, span<const std::uint8_t> data);
result<bytes> percent_decode(url_component component, std::string_view text);
result<bool> no_proxy_match(const c_text &list, optional_ref<netlib::url> url);
result<url_readings> url_compare_readers(std::string_view text);
seconds timeout_none() noexcept;
result<void> set_default_timeout(netlib::seconds seconds);
seconds default_timeout() noexcept;
span<const char *const> retry_default_allowed_methods() noexcept;
span<const char *const> retry_default_remove_headers_on_redirect() noexcept;
span<const char *const> sensitive_headers() noexcept;
span<const std::int32_t> retry_after_status_codes() noexcept;
span<const std::int32_t> redirect_status_codes() noexcept;
seconds retry_default_backoff_max() noexcept;
result<headers> make_headers(optional_ref<headers_options> options = {});
bool is_response_to_head(optional_ref<netlib::response> response) noexcept;
result<std::int64_t> set_file_position(netlib::body &body, std::int64_t pos);
result<void> rewind_body(netlib::body &body, std::int64_t pos);
result<span<const std::uint8_t>> chunk_encode(span<std::uint8_t> buf, std::size_t data_len);
result<std::size_t> chunk_encode_last(optional_ref<headers> trailers, span<std::uint8_t> buf);
result<descriptor> create_connection(const c_text &host, std::int32_t port,
    optional_ref<connect_options> options = {}, optional_ref<netlib::limit> limit = {});
result<address_class> classify_address(span<const std::uint8_t> address);
result<address_class> classify_address_text(const c_text &text);
text address_class_name(address_class classes) noexcept;
result<descriptor> create_unix_connection(std::string_view path, optional_ref<connect_options> options = {},
    optional_ref<netlib::limit> limit = {});
result<progress<std::int32_t>> wait(int fd, std::int32_t events, seconds timeout,
    optional_ref<netlib::limit> limit = {});
result<status> wait_for_read(int fd, seconds timeout, optional_ref<netlib::limit> limit = {});
result<status> wait_for_write(int fd, seconds timeout, optional_ref<netlib::limit> limit = {});
result<bool> is_connection_dropped(int fd);
result<stream> tls_wrap_fd(const tls_context &context, int fd, const c_text &server_hostname);
result<stream> tls_accept_fd(const tls_context &context, int fd);
result<stream> tls_wrap_stream(const tls_context &context, stream &outer, const c_text &server_hostname);
result<stream> tls_accept_stream(const tls_context &context, stream &outer);
template <class StreamRead, class StreamWrite> result<stream> tls_wrap_callbacks(const tls_context &context,
    const c_text &server_hostname, StreamRead read_fn, StreamWrite write_fn);
template <class StreamRead, class StreamWrite> result<stream> tls_accept_callbacks(const tls_context &context,
    StreamRead read_fn, StreamWrite write_fn);
result<void> connection_key(const netlib::url &url, optional_ref<netlib::url> proxy,
    optional_ref<tls_context> context, optional_ref<netlib::connect_options> connect_options,
    span<const netlib_slice> slices, span<std::uint8_t> key);
result<void> assert_header_parsing(std::string_view block);
result<bool> is_fp_closed(netlib::body &body);
std::int32_t allowed_gai_family() noexcept;
seconds current_time() noexcept;
result<void> assert_fingerprint(span<const std::uint8_t> cert, const c_text &fingerprint);
result<progress<stream>> ssl_wrap_socket(int fd, optional_ref<netlib::tls_options> tls_options,
    optional_ref<tls_context> context, const c_text &server_hostname, optional_ref<netlib::limit> limit = {});
result<std::int32_t> resolve_cert_reqs(const c_text &candidate);
result<std::int32_t> resolve_ssl_version(const c_text &candidate);
[[deprecated("use netlib_retry_default_allowed_methods")]]
span<const char *const> retry_default_method_whitelist() noexcept;
[[deprecated("use netlib_retry_default_remove_headers_on_redirect")]]
span<const char *const> retry_default_redirect_headers_blacklist() noexcept;
[[deprecated("use netlib_retry_default_backoff_max")]]
seconds backoff_max() noexcept;
[[deprecated("use netlib_parse_url")]]
result<netlib::url> get_host(std::string_view url);
[[deprecated("use strstr or strpbrk")]]
result<split_first_result> split_first(std::string_view text, const texts &delimiters);
#if !NETLIB_HPP_THROWS
/** An error, from which an expected is made. */
struct unexpected {
    netlib::error error;
};

/** The result of a call, or the error of a call that failed. The object is true if there is a result. */
template <class T> class [[nodiscard]] expected {
  public:
    expected(T value) : value_(std::move(value)), error_(nullptr) {}
    expected(unexpected failure) noexcept : error_(std::move(failure.error)) {}
    bool has_value() const noexcept { return value_.has_value(); }
    /* Not for bool: "if (result)" would test for success, and read like a test of the value. */
    template <class U = T, std::enable_if_t<!std::is_same_v<U, bool>, int> = 0>
    explicit operator bool() const noexcept {
        return has_value();
    }
    /** Returns the result. The process aborts if there is none. */
    T &value() & { return has_value() ? *value_ : (std::abort(), *value_); }
    T &&value() && { return std::move(value()); }
    const T &value() const & { return has_value() ? *value_ : (std::abort(), *value_); }
    T &operator*() & { return value(); }
    T &&operator*() && { return std::move(value()); }
    const T &operator*() const & { return value(); }
    T *operator->() & { return &value(); }
    const T *operator->() const & { return &value(); }
    const T *operator->() const && = delete;
    /** Returns the error, which is empty if there is a result. */
    const netlib::error &error() const & noexcept { return error_; }
    netlib::error error() && noexcept { return std::move(error_); }

  private:
    std::optional<T> value_;
    netlib::error error_;
};

/** Success, or the error of a call that failed. The object is true for success. */
template <> class [[nodiscard]] expected<void> {
  public:
    expected() noexcept : error_(nullptr) {}
    expected(unexpected failure) noexcept : error_(std::move(failure.error)) {}
    bool has_value() const noexcept { return !error_; }
    explicit operator bool() const noexcept { return has_value(); }
    /** Returns the error, which is empty for success. */
    const netlib::error &error() const & noexcept { return error_; }
    netlib::error error() && noexcept { return std::move(error_); }

  private:
    netlib::error error_;
};
#endif

/* ---- Implementation. ---- */

namespace detail {

inline bool check_version() noexcept {
    if (netlib_version_number() / 1000 == NETLIB_VERSION_NUMBER / 1000) return true;
    std::fprintf(stderr, "netlib.hpp %s cannot use the library netlib %s: recompile the program\n", NETLIB_VERSION,
                 netlib_version());
    std::abort();
}
inline const bool version_checked = check_version();

#if NETLIB_HPP_THROWS
inline const char *refuse_nul(std::size_t at) {
    throw error(status::invalid_argument, "a text argument contains a NUL at byte " + std::to_string(at));
}
inline const char *credentials(const c_text &text) noexcept { return text.c_str(); }
template <class T> T unless_refused(const c_text &, T value) noexcept { return value; }

/* The exception of a callback, until the outer call ends. A plain pointer is faster than a thread_local object with a
 * destructor. */
inline thread_local std::exception_ptr *pending_exception = nullptr;

inline void rethrow() {
    if (pending_exception == nullptr) return;
    std::unique_ptr<std::exception_ptr> pending(std::exchange(pending_exception, nullptr));
    std::rethrow_exception(*pending);
}

template <class R, class Call> R guarded(R failure, Call call) noexcept {
    try {
        return call();
    } catch (...) {
        if (pending_exception == nullptr) pending_exception = new std::exception_ptr(std::current_exception());
        return failure;
    }
}

template <bool invokes_callbacks> void finish(netlib_status status, netlib_error *err) {
    if constexpr (invokes_callbacks) {
        if (pending_exception != nullptr) {
            error reported(err);
            rethrow();
        }
    }
    if (status != NETLIB_OK) throw error(err);
}
template <bool invokes_callbacks, class T> T finish(netlib_status status, netlib_error *err, T value) {
    finish<invokes_callbacks>(status, err);
    return value;
}
template <bool invokes_callbacks> netlib::status finish_progress(netlib_status status, netlib_error *err) {
    finish<invokes_callbacks>(err == nullptr ? NETLIB_OK : status, err);
    return static_cast<netlib::status>(status);
}
template <bool invokes_callbacks, class T>
progress<T> finish_progress(netlib_status status, netlib_error *err, T value) {
    finish<invokes_callbacks>(err == nullptr ? NETLIB_OK : status, err);
    return {static_cast<netlib::status>(status), std::move(value)};
}
#else
inline const char *refused_text() {
    /* The text is longer than any host, file name or ALPN protocol. */
    static const std::string refused = "(text with a NUL)\r\n" + std::string(300, '.');
    return refused.c_str();
}
inline const char *refuse_nul(std::size_t) { return refused_text(); }
/* Credentials are encoded, so netlib refuses only credentials that are too long. */
inline const char *credentials(const c_text &text) {
    if (text.c_str() != refused_text()) return text.c_str();
    static const std::string refused(std::size_t{NETLIB_URL_MAX} + 1, '.');
    return refused.c_str();
}
/* For functions without a status. */
template <class T> expected<T> unless_refused(const c_text &text, T value) {
    if (text.c_str() != refused_text()) return value;
    return unexpected{*error::make(status::invalid_argument, "a text argument contains a NUL")};
}

inline void rethrow() noexcept {}

template <class R, class Call> R guarded(R, Call call) noexcept { return call(); }

template <bool> expected<void> finish(netlib_status status, netlib_error *err) {
    return status == NETLIB_OK ? expected<void>() : expected<void>(unexpected{error(err)});
}
template <bool, class T> expected<T> finish(netlib_status status, netlib_error *err, T value) {
    return status == NETLIB_OK ? expected<T>(std::move(value)) : expected<T>(unexpected{error(err)});
}
template <bool> expected<netlib::status> finish_progress(netlib_status status, netlib_error *err) {
    if (err != nullptr) return unexpected{error(err)};
    return static_cast<netlib::status>(status);
}
template <bool, class T>
expected<progress<T>> finish_progress(netlib_status status, netlib_error *err, T value) {
    if (err != nullptr) return unexpected{error(err)};
    return progress<T>{static_cast<netlib::status>(status), std::move(value)};
}
#endif

/* Runs a callback that decides. After an exception, no decision is stored, which means failure. */
template <class Call> void guarded(Call call) noexcept {
    guarded(0, [&] {
        call();
        return 0;
    });
}

/* Stores the output of a callback. A callback that may return a status of NETLIB_CLASS_PROGRESS returns a progress. */
template <class Out, class Value> std::int32_t store(Value value, Out *out) {
    *out = static_cast<Out>(value);
    return NETLIB_OK;
}
template <class Out, class Value> std::int32_t store(progress<Value> value, Out *out) {
    *out = static_cast<Out>(value.value);
    return static_cast<std::int32_t>(value.status);
}

inline span<std::uint8_t> bytes_of(void *data, std::size_t len) noexcept {
    return {static_cast<std::uint8_t *>(data), len};
}
inline span<const std::uint8_t> bytes_of(const void *data, std::size_t len) noexcept {
    return {static_cast<const std::uint8_t *>(data), len};
}

/* The callables of one call are a std::tuple, which is the `ctx`. */
template <class Held, std::size_t at> auto &callable(void *ctx) noexcept {
    return std::get<at>(*static_cast<Held *>(ctx));
}
template <class Held> void free_held(void *ctx) noexcept { delete static_cast<Held *>(ctx); }

} // namespace detail

namespace callbacks {

/** netlib_interrupt_fn: interrupt () */
template <class Held, std::size_t at>
void interrupt(void *ctx, enum netlib_interrupt *decision) noexcept {
    detail::guarded([&] {
        auto decided = detail::callable<Held, at>(ctx)();
        *decision = static_cast<enum netlib_interrupt>(decided);
    });
}

/** netlib_clock_fn: seconds () */
template <class Held, std::size_t at>
std::int32_t clock(void *ctx, double *seconds) noexcept {
    return detail::guarded(std::int32_t{NETLIB_CALLBACK_FAILED}, [&] {
        return detail::store(netlib::seconds(detail::callable<Held, at>(ctx)()).count(), seconds);
    });
}

/** netlib_wall_clock_fn: seconds () */
template <class Held, std::size_t at>
std::int32_t wall_clock(void *ctx, double *seconds) noexcept {
    return detail::guarded(std::int32_t{NETLIB_CALLBACK_FAILED}, [&] {
        return detail::store(netlib::seconds(detail::callable<Held, at>(ctx)()).count(), seconds);
    });
}

/** netlib_sleep_fn: outcome (seconds) */
template <class Held, std::size_t at>
void sleep(void *ctx, double seconds, enum netlib_outcome *outcome) noexcept {
    detail::guarded([&] {
        auto decided = detail::callable<Held, at>(ctx)(netlib::seconds(seconds));
        *outcome = static_cast<enum netlib_outcome>(decided);
    });
}

/** netlib_random_fn: double () */
template <class Held, std::size_t at>
std::int32_t random(void *ctx, double *value) noexcept {
    return detail::guarded(std::int32_t{NETLIB_CALLBACK_FAILED}, [&] {
        return detail::store(detail::callable<Held, at>(ctx)(), value);
    });
}

/** netlib_store_swap_fn: swap (text key, std::uint64_t expected, std::uint64_t desired, seconds ttl,
    seconds timeout, std::uint64_t &actual, double &now) */
template <class Held, std::size_t at>
void store_swap(void *ctx, const char *key, size_t len, uint64_t expected, uint64_t desired, double ttl,
    double timeout, enum netlib_swap *answer, uint64_t *actual, double *now) noexcept {
    detail::guarded([&] {
        auto decided = detail::callable<Held, at>(ctx)(text(key, len), expected, desired, seconds(ttl),
            seconds(timeout), *actual, *now);
        *answer = static_cast<enum netlib_swap>(decided);
    });
}

/** netlib_body_read_fn: std::size_t (span<std::uint8_t> buf) */
template <class Held, std::size_t at>
std::int32_t body_read(void *ctx, void *buf, size_t len, size_t *n) noexcept {
    return detail::guarded(std::int32_t{NETLIB_CALLBACK_FAILED}, [&] {
        return detail::store(detail::callable<Held, at>(ctx)(detail::bytes_of(buf, len)), n);
    });
}

/** netlib_body_tell_fn: std::int64_t () */
template <class Held, std::size_t at>
std::int32_t body_tell(void *ctx, int64_t *pos) noexcept {
    return detail::guarded(std::int32_t{NETLIB_CALLBACK_FAILED}, [&] {
        return detail::store(detail::callable<Held, at>(ctx)(), pos);
    });
}

/** netlib_body_seek_fn: outcome (std::int64_t pos) */
template <class Held, std::size_t at>
void body_seek(void *ctx, int64_t pos, enum netlib_outcome *outcome) noexcept {
    detail::guarded([&] {
        auto decided = detail::callable<Held, at>(ctx)(pos);
        *outcome = static_cast<enum netlib_outcome>(decided);
    });
}

/** netlib_body_is_closed_fn: bool () */
template <class Held, std::size_t at>
std::int32_t body_is_closed(void *ctx, int32_t *closed) noexcept {
    return detail::guarded(std::int32_t{NETLIB_CALLBACK_FAILED}, [&] {
        return detail::store(detail::callable<Held, at>(ctx)(), closed);
    });
}

/** netlib_address_fn: verdict (span<const std::uint8_t> address, address_class classes) */
template <class Held, std::size_t at>
void address(void *ctx, const void *address, size_t len, int32_t classes, enum netlib_verdict *verdict) noexcept {
    detail::guarded([&] {
        auto decided = detail::callable<Held, at>(ctx)(detail::bytes_of(address, len),
            static_cast<address_class>(classes));
        *verdict = static_cast<enum netlib_verdict>(decided);
    });
}

/** netlib_resolve_fn: void (text host, std::int32_t port, seconds seconds_left, addresses &addresses) */
template <class Held, std::size_t at>
std::int32_t resolve(void *ctx, const char *host, int32_t port, double seconds_left,
    netlib_addresses *addresses) noexcept {
    return detail::guarded(std::int32_t{NETLIB_CALLBACK_FAILED}, [&] {
        detail::lent<netlib::addresses> addresses_lent(addresses);
        detail::callable<Held, at>(ctx)(text(host), port, seconds(seconds_left), addresses_lent.object);
        return std::int32_t{NETLIB_OK};
    });
}

/** netlib_stream_read_fn: std::size_t or progress<std::size_t> (span<std::uint8_t> buf) */
template <class Held, std::size_t at>
std::int32_t stream_read(void *ctx, void *buf, size_t len, size_t *n) noexcept {
    return detail::guarded(std::int32_t{NETLIB_CALLBACK_FAILED}, [&] {
        return detail::store(detail::callable<Held, at>(ctx)(detail::bytes_of(buf, len)), n);
    });
}

/** netlib_stream_write_fn: std::size_t or progress<std::size_t> (span<const std::uint8_t> buf) */
template <class Held, std::size_t at>
std::int32_t stream_write(void *ctx, const void *buf, size_t len, size_t *n) noexcept {
    return detail::guarded(std::int32_t{NETLIB_CALLBACK_FAILED}, [&] {
        return detail::store(detail::callable<Held, at>(ctx)(detail::bytes_of(buf, len)), n);
    });
}

/** netlib_tls_servername_fn: verdict (text server_name, tls_context &replacement) */
template <class Held, std::size_t at>
void tls_servername(void *ctx, const char *server_name, netlib_tls_context **replacement,
    enum netlib_verdict *verdict) noexcept {
    detail::guarded([&] {
        tls_context replacement_owned(nullptr);
        auto decided = detail::callable<Held, at>(ctx)(text(server_name), replacement_owned);
        *replacement = replacement_owned.release();
        *verdict = static_cast<enum netlib_verdict>(decided);
    });
}
} // namespace callbacks

inline result<error> error::make(netlib::status status, const c_text &message, optional_ref<error_options> options) {
    netlib_error *error = nullptr;
    netlib_error *err = nullptr;
    netlib_status status_c = netlib_error_new(static_cast<netlib_status>(status), message.c_str(), options.handle(),
        &error, &err);
    return detail::finish<false>(status_c, err, netlib::error(error));
}
#if NETLIB_HPP_THROWS
inline error::error(netlib::status status, const c_text &message, optional_ref<error_options> options)
    : error(make(status, message, options)) {}
#endif
inline netlib::status error::status() const noexcept {
    return static_cast<netlib::status>(netlib_error_status(handle()));
}
inline netlib::retry_kind error::retry_kind() const noexcept {
    return static_cast<netlib::retry_kind>(netlib_error_retry_kind(handle()));
}
inline text error::message() const & noexcept {
    std::size_t len = 0;
    auto *data = netlib_error_message(handle(), &len);
    return text(data, len);
}
inline text error::advice() const & noexcept {
    std::size_t len = 0;
    auto *data = netlib_error_advice(handle(), &len);
    return text(data, len);
}
inline text error::report() const & noexcept {
    std::size_t len = 0;
    auto *data = netlib_error_report(handle(), &len);
    return text(data, len);
}
inline std::size_t error::cause_count() const noexcept {
    return netlib_error_cause_count(handle());
}
inline borrowed<error> error::cause(std::size_t index) const & noexcept {
    return borrowed<netlib::error>(netlib_error_cause(handle(), index));
}
inline std::int32_t error::errno_() const noexcept {
    return netlib_error_errno(handle());
}
inline std::int32_t error::resolver_code() const noexcept {
    return netlib_error_resolver_code(handle());
}
inline std::int32_t error::tls_alert() const noexcept {
    return netlib_error_tls_alert(handle());
}
inline netlib::certificate_problem error::certificate_problem() const noexcept {
    return static_cast<netlib::certificate_problem>(netlib_error_certificate_problem(handle()));
}
inline std::int64_t error::certificate_index() const noexcept {
    return netlib_error_certificate_index(handle());
}
inline std::int64_t error::offset() const noexcept {
    return netlib_error_offset(handle());
}
inline void *error::user_data() const noexcept {
    return netlib_error_user_data(handle());
}
inline std::int32_t error::http_status() const noexcept {
    return netlib_error_http_status(handle());
}
inline text error::expected_fingerprint() const & noexcept {
    std::size_t len = 0;
    auto *data = netlib_error_expected_fingerprint(handle(), &len);
    return text(data, len);
}
inline text error::actual_fingerprint() const & noexcept {
    std::size_t len = 0;
    auto *data = netlib_error_actual_fingerprint(handle(), &len);
    return text(data, len);
}
inline text error::public_key_pin() const & noexcept {
    std::size_t len = 0;
    auto *data = netlib_error_public_key_pin(handle(), &len);
    return text(data, len);
}
inline timeout_kind error::invalid_timeout() const noexcept {
    return static_cast<timeout_kind>(netlib_error_invalid_timeout(handle()));
}
inline netlib::rewind_problem error::rewind_problem() const noexcept {
    return static_cast<netlib::rewind_problem>(netlib_error_rewind_problem(handle()));
}
inline netlib::header_defect error::header_defect() const noexcept {
    return static_cast<netlib::header_defect>(netlib_error_header_defect(handle()));
}
inline std::int64_t error::header_defect_line() const noexcept {
    return netlib_error_header_defect_line(handle());
}
inline std::int64_t error::unparsed_offset() const noexcept {
    return netlib_error_unparsed_offset(handle());
}
inline borrowed<netlib::retry> error::retry() const & noexcept {
    return borrowed<netlib::retry>(netlib_error_retry(handle()));
}
inline text error::budget_key() const & noexcept {
    std::size_t len = 0;
    auto *data = netlib_error_budget_key(handle(), &len);
    return text(data, len);
}
inline double error::budget_left() const noexcept {
    return netlib_error_budget_left(handle());
}
inline seconds error::breaker_seconds() const noexcept {
    return seconds(netlib_error_breaker_seconds(handle()));
}
inline span<const std::uint8_t> error::ech_retry_configs() const & noexcept {
    std::size_t len = 0;
    auto *data = netlib_error_ech_retry_configs(handle(), &len);
    return span<const std::uint8_t>(data, len);
}
inline netlib::range<error, borrowed<error>> error::causes() const & noexcept {
    return {*this, cause_count(), [](const error &self, std::size_t index) {
        return self.cause(index);
    }};
}
inline result<void> error_options::check() const {
    netlib_error *err = nullptr;
    netlib_status status_c = netlib_error_options_check(handle(), &err);
    return detail::finish<false>(status_c, err);
}
inline error_options &error_options::cause(optional_ref<error> cause) noexcept {
    netlib_error_options_set_cause(handle(), cause.handle());
    return *this;
}
inline error_options &error_options::retry_kind(netlib::retry_kind kind) noexcept {
    netlib_error_options_set_retry_kind(handle(), static_cast<enum netlib_retry_kind>(kind));
    return *this;
}
inline error_options &error_options::http_status(std::int32_t http_status) noexcept {
    netlib_error_options_set_http_status(handle(), http_status);
    return *this;
}
inline error_options &error_options::user_data(void *ctx, netlib_ctx_free_fn ctx_free) noexcept {
    netlib_error_options_set_user_data(handle(), ctx, ctx_free);
    return *this;
}
inline text bytes::data() const & noexcept {
    std::size_t len = 0;
    auto *data = netlib_bytes_data(handle(), &len);
    return text(data, len);
}
inline result<limit> limit::make(netlib::seconds seconds, optional_ref<limit> parent) {
    netlib_limit *limit = nullptr;
    netlib_error *err = nullptr;
    netlib_status status_c = netlib_limit_new(seconds.count(), parent.handle(), &limit, &err);
    return detail::finish<false>(status_c, err, netlib::limit(limit));
}
#if NETLIB_HPP_THROWS
inline limit::limit(netlib::seconds seconds, optional_ref<limit> parent)
    : limit(make(seconds, parent)) {}
#endif
template <class Interrupt> inline result<limit> limit::new_interruptible(netlib::seconds seconds,
    optional_ref<limit> parent, Interrupt check) {
    using Held = std::tuple<Interrupt>;
    netlib_interrupt_fn check_c = nullptr;
    if constexpr (!std::is_null_pointer_v<Interrupt>) check_c = callbacks::interrupt<Held, 0>;
    netlib_limit *limit = nullptr;
    netlib_error *err = nullptr;
    Held *held = new Held(std::move(check));
    netlib_status status_c = netlib_limit_new_interruptible(seconds.count(), parent.handle(), check_c, held,
        detail::free_held<Held>, &limit, &err);
    return detail::finish<false>(status_c, err, netlib::limit(limit));
}
inline void limit::cancel() const noexcept {
    netlib_limit_cancel(handle());
}
inline result<void> limit::check() const {
    netlib_error *err = nullptr;
    netlib_status status_c = netlib_limit_check(handle(), &err);
    return detail::finish<false>(status_c, err);
}
inline result<int> limit::fd() const {
    int fd = -1;
    netlib_error *err = nullptr;
    netlib_status status_c = netlib_limit_fd(handle(), &fd, &err);
    return detail::finish<false>(status_c, err, fd);
}
inline seconds limit::remaining() const noexcept {
    return seconds(netlib_limit_remaining(handle()));
}
inline result<url> url::make(const c_text &scheme, const c_text &auth, const c_text &host, std::int32_t port,
    const c_text &path, const c_text &query, const c_text &fragment) {
    netlib_url *url = nullptr;
    netlib_error *err = nullptr;
    netlib_status status_c = netlib_url_new(scheme.c_str(), auth.c_str(), host.c_str(), port, path.c_str(),
        query.c_str(), fragment.c_str(), &url, &err);
    return detail::finish<false>(status_c, err, netlib::url(url));
}
#if NETLIB_HPP_THROWS
inline url::url(const c_text &scheme, const c_text &auth, const c_text &host, std::int32_t port, const c_text &path,
    const c_text &query, const c_text &fragment)
    : url(make(scheme, auth, host, port, path, query, fragment)) {}
#endif
inline text url::scheme() const & noexcept {
    std::size_t len = 0;
    auto *data = netlib_url_scheme(handle(), &len);
    return text(data, len);
}
inline text url::auth() const & noexcept {
    std::size_t len = 0;
    auto *data = netlib_url_auth(handle(), &len);
    return text(data, len);
}
inline result<text> url::username() const & {
    const char *username = nullptr;
    std::size_t len = 0;
    netlib_error *err = nullptr;
    netlib_status status_c = netlib_url_username(handle(), &username, &len, &err);
    return detail::finish<false>(status_c, err, text(username, len));
}
inline result<text> url::password() const & {
    const char *password = nullptr;
    std::size_t len = 0;
    netlib_error *err = nullptr;
    netlib_status status_c = netlib_url_password(handle(), &password, &len, &err);
    return detail::finish<false>(status_c, err, text(password, len));
}
inline text url::host() const & noexcept {
    std::size_t len = 0;
    auto *data = netlib_url_host(handle(), &len);
    return text(data, len);
}
inline text url::hostname() const & noexcept {
    std::size_t len = 0;
    auto *data = netlib_url_hostname(handle(), &len);
    return text(data, len);
}
inline std::int32_t url::port() const noexcept {
    return netlib_url_port(handle());
}
inline std::int32_t url::port_or_default() const noexcept {
    return netlib_url_port_or_default(handle());
}
inline text url::path() const & noexcept {
    std::size_t len = 0;
    auto *data = netlib_url_path(handle(), &len);
    return text(data, len);
}
inline text url::query() const & noexcept {
    std::size_t len = 0;
    auto *data = netlib_url_query(handle(), &len);
    return text(data, len);
}
inline text url::fragment() const & noexcept {
    std::size_t len = 0;
    auto *data = netlib_url_fragment(handle(), &len);
    return text(data, len);
}
inline text url::authority() const & noexcept {
    std::size_t len = 0;
    auto *data = netlib_url_authority(handle(), &len);
    return text(data, len);
}
inline text url::netloc() const & noexcept {
    std::size_t len = 0;
    auto *data = netlib_url_netloc(handle(), &len);
    return text(data, len);
}
inline text url::request_uri() const & noexcept {
    std::size_t len = 0;
    auto *data = netlib_url_request_uri(handle(), &len);
    return text(data, len);
}
inline text url::to_string() const & noexcept {
    std::size_t len = 0;
    auto *data = netlib_url_to_string(handle(), &len);
    return text(data, len);
}
inline text url::redacted() const & noexcept {
    std::size_t len = 0;
    auto *data = netlib_url_redacted(handle(), &len);
    return text(data, len);
}
inline result<url> url::resolve(std::string_view reference) const {
    netlib_url *url = nullptr;
    netlib_error *err = nullptr;
    netlib_status status_c = netlib_url_resolve(handle(), reference.data(), reference.size(), &url, &err);
    return detail::finish<false>(status_c, err, netlib::url(url));
}
inline bool url::same_origin(optional_ref<url> b) const noexcept {
    return netlib_url_same_origin(handle(), b.handle()) != 0;
}
inline url_options url::to_options() const {
    return url_options(detail::checked(netlib_url_to_options(handle())));
}
inline result<url> url::from_options(optional_ref<url_options> options) {
    netlib_url *url = nullptr;
    netlib_error *err = nullptr;
    netlib_status status_c = netlib_url_from_options(options.handle(), &url, &err);
    return detail::finish<false>(status_c, err, netlib::url(url));
}
inline result<void> url_options::check() const {
    netlib_error *err = nullptr;
    netlib_status status_c = netlib_url_options_check(handle(), &err);
    return detail::finish<false>(status_c, err);
}
inline url_options &url_options::scheme(const c_text &scheme) noexcept {
    netlib_url_options_set_scheme(handle(), scheme.c_str());
    return *this;
}
inline url_options &url_options::auth(const c_text &auth) noexcept {
    netlib_url_options_set_auth(handle(), auth.c_str());
    return *this;
}
inline url_options &url_options::credentials(const c_text &username, const c_text &password) noexcept {
    netlib_url_options_set_credentials(handle(), detail::credentials(username), detail::credentials(password));
    return *this;
}
inline url_options &url_options::host(const c_text &host) noexcept {
    netlib_url_options_set_host(handle(), host.c_str());
    return *this;
}
inline url_options &url_options::port(std::int32_t port) noexcept {
    netlib_url_options_set_port(handle(), port);
    return *this;
}
inline url_options &url_options::path(const c_text &path) noexcept {
    netlib_url_options_set_path(handle(), path.c_str());
    return *this;
}
inline url_options &url_options::query(const c_text &query) noexcept {
    netlib_url_options_set_query(handle(), query.c_str());
    return *this;
}
inline url_options &url_options::fragment(const c_text &fragment) noexcept {
    netlib_url_options_set_fragment(handle(), fragment.c_str());
    return *this;
}
inline result<query> query::parse(std::string_view text, query_format format) {
    netlib_query *query = nullptr;
    netlib_error *err = nullptr;
    netlib_status status_c = netlib_query_parse(text.data(), text.size(),
        static_cast<enum netlib_query_format>(format), &query, &err);
    return detail::finish<false>(status_c, err, netlib::query(query));
}
inline std::size_t query::count() const noexcept {
    return netlib_query_count(handle());
}
inline text query::name(std::size_t index) const & noexcept {
    std::size_t len = 0;
    auto *data = netlib_query_name(handle(), index, &len);
    return text(data, len);
}
inline text query::value(std::size_t index) const & noexcept {
    std::size_t len = 0;
    auto *data = netlib_query_value(handle(), index, &len);
    return text(data, len);
}
inline std::size_t query::find(std::string_view name, std::size_t from) const noexcept {
    return netlib_query_find(handle(), name.data(), name.size(), from);
}
inline result<void> query::append(std::string_view name, std::string_view value) {
    netlib_error *err = nullptr;
    netlib_status status_c = netlib_query_append(handle(), name.data(), name.size(), value.data(), value.size(),
        &err);
    return detail::finish<false>(status_c, err);
}
inline result<void> query::set(std::string_view name, std::string_view value) {
    netlib_error *err = nullptr;
    netlib_status status_c = netlib_query_set(handle(), name.data(), name.size(), value.data(), value.size(), &err);
    return detail::finish<false>(status_c, err);
}
inline std::size_t query::remove(std::string_view name) noexcept {
    return netlib_query_remove(handle(), name.data(), name.size());
}
inline text query::to_string() const & noexcept {
    std::size_t len = 0;
    auto *data = netlib_query_to_string(handle(), &len);
    return text(data, len);
}
inline netlib::range<query, query::item> query::items() const & noexcept {
    return {*this, count(), [](const query &self, std::size_t index) {
        return query::item{self.name(index), self.value(index)};
    }};
}
inline url_difference url_readings::differences(url_reader a, url_reader b) const noexcept {
    return static_cast<url_difference>(netlib_url_readings_differences(handle(),
        static_cast<enum netlib_url_reader>(a), static_cast<enum netlib_url_reader>(b)));
}
inline bool url_readings::accepted(url_reader reader) const noexcept {
    return netlib_url_readings_accepted(handle(), static_cast<enum netlib_url_reader>(reader)) != 0;
}
inline text url_readings::scheme(url_reader reader) const & noexcept {
    std::size_t len = 0;
    auto *data = netlib_url_readings_scheme(handle(), static_cast<enum netlib_url_reader>(reader), &len);
    return text(data, len);
}
inline text url_readings::host(url_reader reader) const & noexcept {
    std::size_t len = 0;
    auto *data = netlib_url_readings_host(handle(), static_cast<enum netlib_url_reader>(reader), &len);
    return text(data, len);
}
inline std::int32_t url_readings::port(url_reader reader) const noexcept {
    return netlib_url_readings_port(handle(), static_cast<enum netlib_url_reader>(reader));
}
inline result<timeout> timeout::make(seconds total, seconds connect, seconds read) {
    netlib_timeout *timeout = nullptr;
    netlib_error *err = nullptr;
    netlib_status status_c = netlib_timeout_new(total.count(), connect.count(), read.count(), &timeout, &err);
    return detail::finish<false>(status_c, err, netlib::timeout(timeout));
}
#if NETLIB_HPP_THROWS
inline timeout::timeout(seconds total, seconds connect, seconds read)
    : timeout(make(total, connect, read)) {}
#endif
inline timeout timeout::clone() const {
    return netlib::timeout(detail::checked(netlib_timeout_clone(handle())));
}
template <class Clock> inline result<void> timeout::set_clock(Clock clock) {
    using Held = std::tuple<Clock>;
    netlib_clock_fn clock_c = nullptr;
    if constexpr (!std::is_null_pointer_v<Clock>) clock_c = callbacks::clock<Held, 0>;
    netlib_error *err = nullptr;
    Held *held = new Held(std::move(clock));
    netlib_status status_c = netlib_timeout_set_clock(handle(), clock_c, held, detail::free_held<Held>, &err);
    return detail::finish<false>(status_c, err);
}
inline result<void> timeout::start_connect() {
    netlib_error *err = nullptr;
    netlib_status status_c = netlib_timeout_start_connect(handle(), &err);
    return detail::finish<true>(status_c, err);
}
inline result<seconds> timeout::get_connect_duration() const {
    double seconds = 0.0;
    netlib_error *err = nullptr;
    netlib_status status_c = netlib_timeout_get_connect_duration(handle(), &seconds, &err);
    return detail::finish<true>(status_c, err, netlib::seconds(seconds));
}
inline seconds timeout::connect_timeout() const noexcept {
    return seconds(netlib_timeout_connect_timeout(handle()));
}
inline result<seconds> timeout::read_timeout() const {
    double seconds = 0.0;
    netlib_error *err = nullptr;
    netlib_status status_c = netlib_timeout_read_timeout(handle(), &seconds, &err);
    return detail::finish<true>(status_c, err, netlib::seconds(seconds));
}
inline seconds timeout::configured_total() const noexcept {
    return seconds(netlib_timeout_configured_total(handle()));
}
inline seconds timeout::configured_connect() const noexcept {
    return seconds(netlib_timeout_configured_connect(handle()));
}
inline seconds timeout::configured_read() const noexcept {
    return seconds(netlib_timeout_configured_read(handle()));
}
inline result<netlib::timeout> timeout::from_float(seconds timeout) {
    netlib_timeout *out = nullptr;
    netlib_error *err = nullptr;
    netlib_status status_c = netlib_timeout_from_float(timeout.count(), &out, &err);
    return detail::finish<false>(status_c, err, netlib::timeout(out));
}
inline result<retry> retry::make(optional_ref<retry_options> options) {
    netlib_retry *retry = nullptr;
    netlib_error *err = nullptr;
    netlib_status status_c = netlib_retry_new(options.handle(), &retry, &err);
    return detail::finish<false>(status_c, err, netlib::retry(retry));
}
#if NETLIB_HPP_THROWS
inline retry::retry(optional_ref<retry_options> options)
    : retry(make(options)) {}
#endif
inline retry_options retry::to_options() const {
    return retry_options(detail::checked(netlib_retry_to_options(handle())));
}
inline result<retry> retry::increment(const c_text &method, const c_text &url,
    optional_ref<netlib::response> response, optional_ref<netlib::error> error) const {
    netlib_retry *next = nullptr;
    netlib_error *err = nullptr;
    netlib_status status_c = netlib_retry_increment(handle(), method.c_str(), url.c_str(), response.handle(),
        error.handle(), &next, &err);
    return detail::finish<true>(status_c, err, netlib::retry(next));
}
inline result<bool> retry::is_retry(const c_text &method, std::int32_t status_code, bool has_retry_after) const {
    std::int32_t is_retry = 0;
    netlib_error *err = nullptr;
    netlib_status status_c = netlib_retry_is_retry(handle(), method.c_str(), status_code, has_retry_after, &is_retry,
        &err);
    return detail::finish<false>(status_c, err, is_retry != 0);
}
inline bool retry::is_exhausted() const noexcept {
    return netlib_retry_is_exhausted(handle()) != 0;
}
inline result<seconds> retry::get_backoff_time() const {
    double seconds = 0.0;
    netlib_error *err = nullptr;
    netlib_status status_c = netlib_retry_get_backoff_time(handle(), &seconds, &err);
    return detail::finish<true>(status_c, err, netlib::seconds(seconds));
}
inline result<seconds> retry::get_retry_after(const netlib::response &response) const {
    double seconds = 0.0;
    netlib_error *err = nullptr;
    netlib_status status_c = netlib_retry_get_retry_after(handle(), response.handle(), &seconds, &err);
    return detail::finish<true>(status_c, err, netlib::seconds(seconds));
}
inline result<seconds> retry::parse_retry_after(const c_text &value) const {
    double seconds = 0.0;
    netlib_error *err = nullptr;
    netlib_status status_c = netlib_retry_parse_retry_after(handle(), value.c_str(), &seconds, &err);
    return detail::finish<true>(status_c, err, netlib::seconds(seconds));
}
inline result<retry::delay_result> retry::delay(optional_ref<netlib::response> response) const {
    double seconds = 0.0;
    enum netlib_delay_reason reason = {};
    double uncapped = 0.0;
    netlib_error *err = nullptr;
    netlib_status status_c = netlib_retry_delay(handle(), response.handle(), &seconds, &reason, &uncapped, &err);
    return detail::finish<true>(status_c, err, delay_result{netlib::seconds(seconds),
        static_cast<delay_reason>(reason), netlib::seconds(uncapped)});
}
inline result<void> retry::sleep(optional_ref<netlib::response> response, optional_ref<netlib::limit> limit) const {
    netlib_error *err = nullptr;
    netlib_status status_c = netlib_retry_sleep(handle(), response.handle(), limit.handle(), &err);
    return detail::finish<true>(status_c, err);
}
inline result<bool> retry::sleep_for_retry(optional_ref<netlib::response> response,
    optional_ref<netlib::limit> limit) const {
    std::int32_t slept = 0;
    netlib_error *err = nullptr;
    netlib_status status_c = netlib_retry_sleep_for_retry(handle(), response.handle(), limit.handle(), &slept, &err);
    return detail::finish<true>(status_c, err, slept != 0);
}
inline borrowed<retry> retry::recommended() noexcept {
    return borrowed<retry>(netlib_retry_recommended());
}
inline netlib::jitter_kind retry::jitter_kind() const noexcept {
    return static_cast<netlib::jitter_kind>(netlib_retry_jitter_kind(handle()));
}
inline bool retry::obeys_any_retry_after() const noexcept {
    return netlib_retry_obeys_any_retry_after(handle()) != 0;
}
inline std::size_t retry::retry_after_status_count() const noexcept {
    return netlib_retry_retry_after_status_count(handle());
}
inline std::int32_t retry::retry_after_status_at(std::size_t index) const noexcept {
    return netlib_retry_retry_after_status_at(handle(), index);
}
inline netlib::long_retry_after retry::long_retry_after() const noexcept {
    return static_cast<netlib::long_retry_after>(netlib_retry_long_retry_after(handle()));
}
inline bool retry::ignores_malformed_retry_after() const noexcept {
    return netlib_retry_ignores_malformed_retry_after(handle()) != 0;
}
inline seconds retry::throttling_base() const noexcept {
    return seconds(netlib_retry_throttling_base(handle()));
}
inline std::size_t retry::throttling_status_count() const noexcept {
    return netlib_retry_throttling_status_count(handle());
}
inline std::int32_t retry::throttling_status_at(std::size_t index) const noexcept {
    return netlib_retry_throttling_status_at(handle(), index);
}
inline bool retry::is_throttled() const noexcept {
    return netlib_retry_is_throttled(handle()) != 0;
}
inline seconds retry::retry_after_clamp() const noexcept {
    return seconds(netlib_retry_retry_after_clamp(handle()));
}
inline text retry::pushback_header() const & noexcept {
    std::size_t len = 0;
    auto *data = netlib_retry_pushback_header(handle(), &len);
    return text(data, len);
}
inline pushback retry::pushback_kind() const noexcept {
    return static_cast<pushback>(netlib_retry_pushback_kind(handle()));
}
inline result<decision> retry::decide(const c_text &method, const netlib::url &url,
    optional_ref<netlib::response> response, optional_ref<netlib::error> error,
    optional_ref<netlib::limit> limit) const {
    netlib_decision *decision = nullptr;
    netlib_error *err = nullptr;
    netlib_status status_c = netlib_retry_decide(handle(), method.c_str(), url.handle(), response.handle(),
        error.handle(), limit.handle(), &decision, &err);
    return detail::finish<true>(status_c, err, netlib::decision(decision));
}
inline std::int32_t retry::total_left() const noexcept {
    return netlib_retry_total_left(handle());
}
inline std::int32_t retry::connect_left() const noexcept {
    return netlib_retry_connect_left(handle());
}
inline std::int32_t retry::read_left() const noexcept {
    return netlib_retry_read_left(handle());
}
inline std::int32_t retry::redirect_left() const noexcept {
    return netlib_retry_redirect_left(handle());
}
inline std::int32_t retry::status_left() const noexcept {
    return netlib_retry_status_left(handle());
}
inline std::int32_t retry::other_left() const noexcept {
    return netlib_retry_other_left(handle());
}
inline seconds retry::backoff_factor() const noexcept {
    return seconds(netlib_retry_backoff_factor(handle()));
}
inline seconds retry::backoff_max() const noexcept {
    return seconds(netlib_retry_backoff_max(handle()));
}
inline seconds retry::backoff_jitter() const noexcept {
    return seconds(netlib_retry_backoff_jitter(handle()));
}
inline seconds retry::retry_after_max() const noexcept {
    return seconds(netlib_retry_retry_after_max(handle()));
}
inline bool retry::total_counts_redirects() const noexcept {
    return netlib_retry_total_counts_redirects(handle()) != 0;
}
inline bool retry::raise_on_redirect() const noexcept {
    return netlib_retry_raise_on_redirect(handle()) != 0;
}
inline bool retry::raise_on_status() const noexcept {
    return netlib_retry_raise_on_status(handle()) != 0;
}
inline bool retry::respect_retry_after_header() const noexcept {
    return netlib_retry_respect_retry_after_header(handle()) != 0;
}
inline netlib::redirect_profile retry::redirect_profile() const noexcept {
    return static_cast<netlib::redirect_profile>(netlib_retry_redirect_profile(handle()));
}
inline bool retry::allows_any_method() const noexcept {
    return netlib_retry_allows_any_method(handle()) != 0;
}
inline bool retry::allows_any_method_if_stale() const noexcept {
    return netlib_retry_allows_any_method_if_stale(handle()) != 0;
}
inline std::size_t retry::allowed_method_count() const noexcept {
    return netlib_retry_allowed_method_count(handle());
}
inline text retry::allowed_method(std::size_t index) const & noexcept {
    std::size_t len = 0;
    auto *data = netlib_retry_allowed_method(handle(), index, &len);
    return text(data, len);
}
inline std::size_t retry::status_forcelist_count() const noexcept {
    return netlib_retry_status_forcelist_count(handle());
}
inline std::int32_t retry::status_forcelist_at(std::size_t index) const noexcept {
    return netlib_retry_status_forcelist_at(handle(), index);
}
inline std::size_t retry::removed_header_count() const noexcept {
    return netlib_retry_removed_header_count(handle());
}
inline text retry::removed_header(std::size_t index) const & noexcept {
    std::size_t len = 0;
    auto *data = netlib_retry_removed_header(handle(), index, &len);
    return text(data, len);
}
inline bool retry::keeps_any_header() const noexcept {
    return netlib_retry_keeps_any_header(handle()) != 0;
}
inline std::size_t retry::kept_header_count() const noexcept {
    return netlib_retry_kept_header_count(handle());
}
inline text retry::kept_header(std::size_t index) const & noexcept {
    std::size_t len = 0;
    auto *data = netlib_retry_kept_header(handle(), index, &len);
    return text(data, len);
}
inline std::size_t retry::history_count() const noexcept {
    return netlib_retry_history_count(handle());
}
inline text retry::history_method(std::size_t index) const & noexcept {
    std::size_t len = 0;
    auto *data = netlib_retry_history_method(handle(), index, &len);
    return text(data, len);
}
inline text retry::history_url(std::size_t index) const & noexcept {
    std::size_t len = 0;
    auto *data = netlib_retry_history_url(handle(), index, &len);
    return text(data, len);
}
inline text retry::history_redacted_url(std::size_t index) const & noexcept {
    std::size_t len = 0;
    auto *data = netlib_retry_history_redacted_url(handle(), index, &len);
    return text(data, len);
}
inline borrowed<error> retry::history_error(std::size_t index) const & noexcept {
    return borrowed<error>(netlib_retry_history_error(handle(), index));
}
inline std::int32_t retry::history_status(std::size_t index) const noexcept {
    return netlib_retry_history_status(handle(), index);
}
inline text retry::history_redirect_location(std::size_t index) const & noexcept {
    std::size_t len = 0;
    auto *data = netlib_retry_history_redirect_location(handle(), index, &len);
    return text(data, len);
}
inline text retry::history_redacted_redirect_location(std::size_t index) const & noexcept {
    std::size_t len = 0;
    auto *data = netlib_retry_history_redacted_redirect_location(handle(), index, &len);
    return text(data, len);
}
inline borrowed<retry_budget> retry::attached_budget() const & noexcept {
    return borrowed<retry_budget>(netlib_retry_attached_budget(handle()));
}
inline text retry::attached_budget_key() const & noexcept {
    std::size_t len = 0;
    auto *data = netlib_retry_attached_budget_key(handle(), &len);
    return text(data, len);
}
inline result<retry> retry::from_int(std::int32_t count, bool redirect, optional_ref<retry> default_retry) {
    netlib_retry *retry = nullptr;
    netlib_error *err = nullptr;
    netlib_status status_c = netlib_retry_from_int(count, redirect, default_retry.handle(), &retry, &err);
    return detail::finish<false>(status_c, err, netlib::retry(retry));
}
inline borrowed<retry> retry::resolve(optional_ref<retry> pool_default) const & noexcept {
    return borrowed<retry>(netlib_retry_resolve(handle(), pool_default.handle()));
}
inline borrowed<retry> retry::default_() noexcept {
    return borrowed<retry>(netlib_retry_default());
}
inline netlib::range<retry, std::int32_t> retry::retry_after_statuses() const & noexcept {
    return {*this, retry_after_status_count(), [](const retry &self, std::size_t index) {
        return self.retry_after_status_at(index);
    }};
}
inline netlib::range<retry, std::int32_t> retry::throttling_statuses() const & noexcept {
    return {*this, throttling_status_count(), [](const retry &self, std::size_t index) {
        return self.throttling_status_at(index);
    }};
}
inline netlib::range<retry, text> retry::allowed_methods() const & noexcept {
    return {*this, allowed_method_count(), [](const retry &self, std::size_t index) {
        return self.allowed_method(index);
    }};
}
inline netlib::range<retry, std::int32_t> retry::status_forcelist() const & noexcept {
    return {*this, status_forcelist_count(), [](const retry &self, std::size_t index) {
        return self.status_forcelist_at(index);
    }};
}
inline netlib::range<retry, text> retry::removed_headers() const & noexcept {
    return {*this, removed_header_count(), [](const retry &self, std::size_t index) {
        return self.removed_header(index);
    }};
}
inline netlib::range<retry, text> retry::kept_headers() const & noexcept {
    return {*this, kept_header_count(), [](const retry &self, std::size_t index) {
        return self.kept_header(index);
    }};
}
inline netlib::range<retry, retry::history_item> retry::history() const & noexcept {
    return {*this, history_count(), [](const retry &self, std::size_t index) {
        return retry::history_item{self.history_method(index), self.history_url(index),
            self.history_redacted_url(index), self.history_error(index), self.history_status(index),
            self.history_redirect_location(index), self.history_redacted_redirect_location(index)};
    }};
}
inline retry_options retry_options::new_recommended() {
    return retry_options(detail::checked(netlib_retry_options_new_recommended()));
}
inline result<void> retry_options::check() const {
    netlib_error *err = nullptr;
    netlib_status status_c = netlib_retry_options_check(handle(), &err);
    return detail::finish<false>(status_c, err);
}
inline retry_options &retry_options::total(std::int32_t count) noexcept {
    netlib_retry_options_set_total(handle(), count);
    return *this;
}
inline retry_options &retry_options::total_counts_redirects(bool counts) noexcept {
    netlib_retry_options_set_total_counts_redirects(handle(), counts);
    return *this;
}
inline retry_options &retry_options::connect(std::int32_t count) noexcept {
    netlib_retry_options_set_connect(handle(), count);
    return *this;
}
inline retry_options &retry_options::read(std::int32_t count) noexcept {
    netlib_retry_options_set_read(handle(), count);
    return *this;
}
inline retry_options &retry_options::redirect(std::int32_t count) noexcept {
    netlib_retry_options_set_redirect(handle(), count);
    return *this;
}
inline retry_options &retry_options::status(std::int32_t count) noexcept {
    netlib_retry_options_set_status(handle(), count);
    return *this;
}
inline retry_options &retry_options::other(std::int32_t count) noexcept {
    netlib_retry_options_set_other(handle(), count);
    return *this;
}
inline retry_options &retry_options::allowed_methods(const texts &methods) noexcept {
    netlib_retry_options_set_allowed_methods(handle(), methods.data(), methods.size());
    return *this;
}
inline retry_options &retry_options::allow_any_method() noexcept {
    netlib_retry_options_allow_any_method(handle());
    return *this;
}
inline retry_options &retry_options::any_method_if_stale(bool allow) noexcept {
    netlib_retry_options_set_any_method_if_stale(handle(), allow);
    return *this;
}
inline retry_options &retry_options::status_forcelist(span<const std::int32_t> codes) noexcept {
    netlib_retry_options_set_status_forcelist(handle(), codes.data(), codes.size());
    return *this;
}
inline retry_options &retry_options::backoff_factor(netlib::seconds seconds) noexcept {
    netlib_retry_options_set_backoff_factor(handle(), seconds.count());
    return *this;
}
inline retry_options &retry_options::backoff_max(netlib::seconds seconds) noexcept {
    netlib_retry_options_set_backoff_max(handle(), seconds.count());
    return *this;
}
inline retry_options &retry_options::backoff_jitter(netlib::seconds seconds) noexcept {
    netlib_retry_options_set_backoff_jitter(handle(), seconds.count());
    return *this;
}
inline retry_options &retry_options::retry_after_max(netlib::seconds seconds) noexcept {
    netlib_retry_options_set_retry_after_max(handle(), seconds.count());
    return *this;
}
inline retry_options &retry_options::raise_on_redirect(bool raise) noexcept {
    netlib_retry_options_set_raise_on_redirect(handle(), raise);
    return *this;
}
inline retry_options &retry_options::raise_on_status(bool raise) noexcept {
    netlib_retry_options_set_raise_on_status(handle(), raise);
    return *this;
}
inline retry_options &retry_options::respect_retry_after_header(bool respect) noexcept {
    netlib_retry_options_set_respect_retry_after_header(handle(), respect);
    return *this;
}
inline retry_options &retry_options::remove_headers_on_redirect(const texts &names) noexcept {
    netlib_retry_options_set_remove_headers_on_redirect(handle(), names.data(), names.size());
    return *this;
}
inline retry_options &retry_options::add_sensitive_headers() noexcept {
    netlib_retry_options_add_sensitive_headers(handle());
    return *this;
}
inline retry_options &retry_options::keep_headers_on_redirect(const texts &names) noexcept {
    netlib_retry_options_set_keep_headers_on_redirect(handle(), names.data(), names.size());
    return *this;
}
inline retry_options &retry_options::keep_any_header_on_redirect() noexcept {
    netlib_retry_options_keep_any_header_on_redirect(handle());
    return *this;
}
inline retry_options &retry_options::redirect_profile(netlib::redirect_profile profile) noexcept {
    netlib_retry_options_set_redirect_profile(handle(), static_cast<enum netlib_redirect_profile>(profile));
    return *this;
}
inline retry_options &retry_options::add_history(const c_text &method, const c_text &url,
    optional_ref<netlib::error> error, std::int32_t status, const c_text &redirect_location) noexcept {
    netlib_retry_options_add_history(handle(), method.c_str(), url.c_str(), error.handle(), status,
        redirect_location.c_str());
    return *this;
}
template <class WallClock> inline retry_options &retry_options::wall_clock(WallClock clock) {
    using Held = std::tuple<WallClock>;
    netlib_wall_clock_fn clock_c = nullptr;
    if constexpr (!std::is_null_pointer_v<WallClock>) clock_c = callbacks::wall_clock<Held, 0>;
    Held *held = new Held(std::move(clock));
    netlib_retry_options_set_wall_clock(handle(), clock_c, held, detail::free_held<Held>);
    return *this;
}
template <class Sleep> inline retry_options &retry_options::sleep(Sleep sleep) {
    using Held = std::tuple<Sleep>;
    netlib_sleep_fn sleep_c = nullptr;
    if constexpr (!std::is_null_pointer_v<Sleep>) sleep_c = callbacks::sleep<Held, 0>;
    Held *held = new Held(std::move(sleep));
    netlib_retry_options_set_sleep(handle(), sleep_c, held, detail::free_held<Held>);
    return *this;
}
template <class Random> inline retry_options &retry_options::random(Random random) {
    using Held = std::tuple<Random>;
    netlib_random_fn random_c = nullptr;
    if constexpr (!std::is_null_pointer_v<Random>) random_c = callbacks::random<Held, 0>;
    Held *held = new Held(std::move(random));
    netlib_retry_options_set_random(handle(), random_c, held, detail::free_held<Held>);
    return *this;
}
inline retry_options &retry_options::jitter_kind(netlib::jitter_kind kind) noexcept {
    netlib_retry_options_set_jitter_kind(handle(), static_cast<enum netlib_jitter_kind>(kind));
    return *this;
}
inline retry_options &retry_options::retry_after_statuses(span<const std::int32_t> codes) noexcept {
    netlib_retry_options_set_retry_after_statuses(handle(), codes.data(), codes.size());
    return *this;
}
inline retry_options &retry_options::obey_any_retry_after() noexcept {
    netlib_retry_options_obey_any_retry_after(handle());
    return *this;
}
inline retry_options &retry_options::long_retry_after(netlib::long_retry_after over_max) noexcept {
    netlib_retry_options_set_long_retry_after(handle(), static_cast<enum netlib_long_retry_after>(over_max));
    return *this;
}
inline retry_options &retry_options::ignore_malformed_retry_after(bool ignore) noexcept {
    netlib_retry_options_set_ignore_malformed_retry_after(handle(), ignore);
    return *this;
}
inline retry_options &retry_options::throttling(seconds base, span<const std::int32_t> statuses) noexcept {
    netlib_retry_options_set_throttling(handle(), base.count(), statuses.data(), statuses.size());
    return *this;
}
inline retry_options &retry_options::retry_after_clamp(seconds more) noexcept {
    netlib_retry_options_set_retry_after_clamp(handle(), more.count());
    return *this;
}
inline retry_options &retry_options::pushback_header(const c_text &name, pushback kind) noexcept {
    netlib_retry_options_set_pushback_header(handle(), name.c_str(), static_cast<enum netlib_pushback>(kind));
    return *this;
}
inline retry_options &retry_options::budget(optional_ref<retry_budget> budget, const c_text &key) noexcept {
    netlib_retry_options_set_budget(handle(), budget.handle(), key.c_str());
    return *this;
}
inline retry_options &retry_options::method_whitelist(const texts &methods) noexcept {
    netlib_retry_options_set_method_whitelist(handle(), methods.data(), methods.size());
    return *this;
}
inline netlib::action decision::action() const noexcept {
    return static_cast<netlib::action>(netlib_decision_action(handle()));
}
inline borrowed<netlib::retry> decision::retry() const & noexcept {
    return borrowed<netlib::retry>(netlib_decision_retry(handle()));
}
inline netlib::counter decision::counter() const noexcept {
    return static_cast<netlib::counter>(netlib_decision_counter(handle()));
}
inline bool decision::throttled() const noexcept {
    return netlib_decision_throttled(handle()) != 0;
}
inline seconds decision::delay() const noexcept {
    return seconds(netlib_decision_delay(handle()));
}
inline netlib::delay_reason decision::delay_reason() const noexcept {
    return static_cast<netlib::delay_reason>(netlib_decision_delay_reason(handle()));
}
inline seconds decision::delay_uncapped() const noexcept {
    return seconds(netlib_decision_delay_uncapped(handle()));
}
inline result<void> decision::sleep(optional_ref<netlib::limit> limit) const {
    netlib_error *err = nullptr;
    netlib_status status_c = netlib_decision_sleep(handle(), limit.handle(), &err);
    return detail::finish<true>(status_c, err);
}
inline borrowed<netlib::url> decision::url() const & noexcept {
    return borrowed<netlib::url>(netlib_decision_url(handle()));
}
inline text decision::method() const & noexcept {
    std::size_t len = 0;
    auto *data = netlib_decision_method(handle(), &len);
    return text(data, len);
}
inline bool decision::resend_body() const noexcept {
    return netlib_decision_resend_body(handle()) != 0;
}
inline bool decision::drops_header(const c_text &name) const noexcept {
    return netlib_decision_drops_header(handle(), name.c_str()) != 0;
}
inline std::size_t decision::dropped_header_count() const noexcept {
    return netlib_decision_dropped_header_count(handle());
}
inline text decision::dropped_header(std::size_t index) const & noexcept {
    std::size_t len = 0;
    auto *data = netlib_decision_dropped_header(handle(), index, &len);
    return text(data, len);
}
inline result<netlib::headers> decision::headers(const netlib::headers &request_headers) const {
    netlib_headers *next_headers = nullptr;
    netlib_error *err = nullptr;
    netlib_status status_c = netlib_decision_headers(handle(), request_headers.handle(), &next_headers, &err);
    return detail::finish<false>(status_c, err, netlib::headers(next_headers));
}
inline borrowed<error> decision::denied() const & noexcept {
    return borrowed<error>(netlib_decision_denied(handle()));
}
inline netlib::range<decision, text> decision::dropped_headers() const & noexcept {
    return {*this, dropped_header_count(), [](const decision &self, std::size_t index) {
        return self.dropped_header(index);
    }};
}
inline result<store> store::file(const c_text &path, std::size_t slots) {
    netlib_store *store = nullptr;
    netlib_error *err = nullptr;
    netlib_status status_c = netlib_store_file(path.c_str(), slots, &store, &err);
    return detail::finish<false>(status_c, err, netlib::store(store));
}
template <class StoreSwap> inline result<store> store::make(StoreSwap swap, seconds timeout) {
    using Held = std::tuple<StoreSwap>;
    netlib_store_swap_fn swap_c = nullptr;
    if constexpr (!std::is_null_pointer_v<StoreSwap>) swap_c = callbacks::store_swap<Held, 0>;
    netlib_store *store = nullptr;
    netlib_error *err = nullptr;
    Held *held = new Held(std::move(swap));
    netlib_status status_c = netlib_store_new(swap_c, timeout.count(), held, detail::free_held<Held>, &store, &err);
    return detail::finish<false>(status_c, err, netlib::store(store));
}
inline result<retry_budget> retry_budget::make(optional_ref<retry_budget_options> options) {
    netlib_retry_budget *budget = nullptr;
    netlib_error *err = nullptr;
    netlib_status status_c = netlib_retry_budget_new(options.handle(), &budget, &err);
    return detail::finish<false>(status_c, err, retry_budget(budget));
}
#if NETLIB_HPP_THROWS
inline retry_budget::retry_budget(optional_ref<retry_budget_options> options)
    : retry_budget(make(options)) {}
#endif
inline result<std::uint64_t> retry_budget::ask(std::string_view key, budget_kind kind) const {
    std::uint64_t lease = 0;
    netlib_error *err = nullptr;
    netlib_status status_c = netlib_retry_budget_ask(handle(), key.data(), key.size(),
        static_cast<enum netlib_budget_kind>(kind), &lease, &err);
    return detail::finish<true>(status_c, err, lease);
}
inline void retry_budget::report(std::uint64_t lease, netlib::report outcome) const {
    netlib_retry_budget_report(handle(), lease, static_cast<enum netlib_report>(outcome));
    detail::rethrow();
}
inline double retry_budget::left(std::string_view key) const noexcept {
    return netlib_retry_budget_left(handle(), key.data(), key.size());
}
inline result<void> retry_budget_options::check() const {
    netlib_error *err = nullptr;
    netlib_status status_c = netlib_retry_budget_options_check(handle(), &err);
    return detail::finish<false>(status_c, err);
}
inline retry_budget_options &retry_budget_options::preset(budget_preset preset) noexcept {
    netlib_retry_budget_options_set_preset(handle(), static_cast<enum netlib_budget_preset>(preset));
    return *this;
}
inline retry_budget_options &retry_budget_options::tokens(double capacity, double transient_cost,
    double throttling_cost, double gain) noexcept {
    netlib_retry_budget_options_set_tokens(handle(), capacity, transient_cost, throttling_cost, gain);
    return *this;
}
inline retry_budget_options &retry_budget_options::failure_tokens(double capacity, double gain,
    double floor) noexcept {
    netlib_retry_budget_options_set_failure_tokens(handle(), capacity, gain, floor);
    return *this;
}
inline retry_budget_options &retry_budget_options::window(double ratio, double least_per_second,
    netlib::seconds seconds) noexcept {
    netlib_retry_budget_options_set_window(handle(), ratio, least_per_second, seconds.count());
    return *this;
}
inline retry_budget_options &retry_budget_options::in_flight(double ratio, std::int32_t least) noexcept {
    netlib_retry_budget_options_set_in_flight(handle(), ratio, least);
    return *this;
}
inline retry_budget_options &retry_budget_options::lease_time(netlib::seconds seconds) noexcept {
    netlib_retry_budget_options_set_lease_time(handle(), seconds.count());
    return *this;
}
inline retry_budget_options &retry_budget_options::max_keys(std::int32_t max_keys) noexcept {
    netlib_retry_budget_options_set_max_keys(handle(), max_keys);
    return *this;
}
inline retry_budget_options &retry_budget_options::store(optional_ref<netlib::store> store,
    netlib::unavailable unavailable) noexcept {
    netlib_retry_budget_options_set_store(handle(), store.handle(),
        static_cast<enum netlib_unavailable>(unavailable));
    return *this;
}
template <class Clock> inline retry_budget_options &retry_budget_options::clock(Clock clock) {
    using Held = std::tuple<Clock>;
    netlib_clock_fn clock_c = nullptr;
    if constexpr (!std::is_null_pointer_v<Clock>) clock_c = callbacks::clock<Held, 0>;
    Held *held = new Held(std::move(clock));
    netlib_retry_budget_options_set_clock(handle(), clock_c, held, detail::free_held<Held>);
    return *this;
}
inline result<breaker> breaker::make(optional_ref<breaker_options> options) {
    netlib_breaker *breaker = nullptr;
    netlib_error *err = nullptr;
    netlib_status status_c = netlib_breaker_new(options.handle(), &breaker, &err);
    return detail::finish<false>(status_c, err, netlib::breaker(breaker));
}
#if NETLIB_HPP_THROWS
inline breaker::breaker(optional_ref<breaker_options> options)
    : breaker(make(options)) {}
#endif
inline result<breaker::ask_result> breaker::ask(std::string_view key) const {
    std::uint64_t permit = 0;
    double seconds = 0.0;
    netlib_error *err = nullptr;
    netlib_status status_c = netlib_breaker_ask(handle(), key.data(), key.size(), &permit, &seconds, &err);
    return detail::finish<true>(status_c, err, ask_result{permit, netlib::seconds(seconds)});
}
inline void breaker::report(std::uint64_t permit, netlib::report outcome) const {
    netlib_breaker_report(handle(), permit, static_cast<enum netlib_report>(outcome));
    detail::rethrow();
}
inline result<circuit_state> breaker::state(std::string_view key) const {
    enum netlib_circuit_state state = {};
    netlib_error *err = nullptr;
    netlib_status status_c = netlib_breaker_state(handle(), key.data(), key.size(), &state, &err);
    return detail::finish<true>(status_c, err, static_cast<circuit_state>(state));
}
inline result<void> breaker_options::check() const {
    netlib_error *err = nullptr;
    netlib_status status_c = netlib_breaker_options_check(handle(), &err);
    return detail::finish<false>(status_c, err);
}
inline breaker_options &breaker_options::ratio(double ratio, std::int32_t minimum, seconds window, seconds open_time,
    std::int32_t probes) noexcept {
    netlib_breaker_options_set_ratio(handle(), ratio, minimum, window.count(), open_time.count(), probes);
    return *this;
}
inline breaker_options &breaker_options::consecutive(std::int32_t failures, seconds open_time, seconds open_time_max,
    double max_open_percent) noexcept {
    netlib_breaker_options_set_consecutive(handle(), failures, open_time.count(), open_time_max.count(),
        max_open_percent);
    return *this;
}
inline breaker_options &breaker_options::adaptive(double multiplier, std::int32_t minimum, seconds window,
    double max_probability) noexcept {
    netlib_breaker_options_set_adaptive(handle(), multiplier, minimum, window.count(), max_probability);
    return *this;
}
inline breaker_options &breaker_options::permit_time(netlib::seconds seconds) noexcept {
    netlib_breaker_options_set_permit_time(handle(), seconds.count());
    return *this;
}
inline breaker_options &breaker_options::max_keys(std::int32_t max_keys) noexcept {
    netlib_breaker_options_set_max_keys(handle(), max_keys);
    return *this;
}
template <class Clock> inline breaker_options &breaker_options::clock(Clock clock) {
    using Held = std::tuple<Clock>;
    netlib_clock_fn clock_c = nullptr;
    if constexpr (!std::is_null_pointer_v<Clock>) clock_c = callbacks::clock<Held, 0>;
    Held *held = new Held(std::move(clock));
    netlib_breaker_options_set_clock(handle(), clock_c, held, detail::free_held<Held>);
    return *this;
}
template <class Random> inline breaker_options &breaker_options::random(Random random) {
    using Held = std::tuple<Random>;
    netlib_random_fn random_c = nullptr;
    if constexpr (!std::is_null_pointer_v<Random>) random_c = callbacks::random<Held, 0>;
    Held *held = new Held(std::move(random));
    netlib_breaker_options_set_random(handle(), random_c, held, detail::free_held<Held>);
    return *this;
}
inline result<hedge> hedge::make(optional_ref<hedge_options> options) {
    netlib_hedge *hedge = nullptr;
    netlib_error *err = nullptr;
    netlib_status status_c = netlib_hedge_new(options.handle(), &hedge, &err);
    return detail::finish<false>(status_c, err, netlib::hedge(hedge));
}
#if NETLIB_HPP_THROWS
inline hedge::hedge(optional_ref<hedge_options> options)
    : hedge(make(options)) {}
#endif
inline seconds hedge::delay(std::string_view key) const noexcept {
    return seconds(netlib_hedge_delay(handle(), key.data(), key.size()));
}
inline result<hedge_plan> hedge::start(std::string_view key, const c_text &method) const {
    netlib_hedge_plan *plan = nullptr;
    netlib_error *err = nullptr;
    netlib_status status_c = netlib_hedge_start(handle(), key.data(), key.size(), method.c_str(), &plan, &err);
    return detail::finish<true>(status_c, err, hedge_plan(plan));
}
inline result<void> hedge_options::check() const {
    netlib_error *err = nullptr;
    netlib_status status_c = netlib_hedge_options_check(handle(), &err);
    return detail::finish<false>(status_c, err);
}
inline hedge_options &hedge_options::delay(netlib::seconds seconds) noexcept {
    netlib_hedge_options_set_delay(handle(), seconds.count());
    return *this;
}
inline hedge_options &hedge_options::percentile(double percentile, std::int32_t minimum_samples) noexcept {
    netlib_hedge_options_set_percentile(handle(), percentile, minimum_samples);
    return *this;
}
inline hedge_options &hedge_options::max_attempts(std::int32_t max_attempts) noexcept {
    netlib_hedge_options_set_max_attempts(handle(), max_attempts);
    return *this;
}
inline hedge_options &hedge_options::allowed_methods(const texts &methods) noexcept {
    netlib_hedge_options_set_allowed_methods(handle(), methods.data(), methods.size());
    return *this;
}
inline hedge_options &hedge_options::budget(optional_ref<retry_budget> budget) noexcept {
    netlib_hedge_options_set_budget(handle(), budget.handle());
    return *this;
}
inline hedge_options &hedge_options::max_keys(std::int32_t max_keys) noexcept {
    netlib_hedge_options_set_max_keys(handle(), max_keys);
    return *this;
}
inline seconds hedge_plan::timer() const noexcept {
    return seconds(netlib_hedge_plan_timer(handle()));
}
inline std::int32_t hedge_plan::attempts() const noexcept {
    return netlib_hedge_plan_attempts(handle());
}
inline borrowed<error> hedge_plan::denied() const & noexcept {
    return borrowed<error>(netlib_hedge_plan_denied(handle()));
}
inline result<hedge_action> hedge_plan::step(hedge_event event, std::int32_t attempt, netlib::seconds seconds) {
    enum netlib_hedge_action action = {};
    netlib_error *err = nullptr;
    netlib_status status_c = netlib_hedge_plan_step(handle(), static_cast<enum netlib_hedge_event>(event), attempt,
        seconds.count(), &action, &err);
    return detail::finish<true>(status_c, err, static_cast<hedge_action>(action));
}
inline result<hedge_action> hedge_plan::pushback(std::int32_t attempt, netlib::seconds wait,
    netlib::seconds seconds) {
    enum netlib_hedge_action action = {};
    netlib_error *err = nullptr;
    netlib_status status_c = netlib_hedge_plan_pushback(handle(), attempt, wait.count(), seconds.count(), &action,
        &err);
    return detail::finish<true>(status_c, err, static_cast<hedge_action>(action));
}
inline result<rate> rate::make(optional_ref<rate_options> options) {
    netlib_rate *rate = nullptr;
    netlib_error *err = nullptr;
    netlib_status status_c = netlib_rate_new(options.handle(), &rate, &err);
    return detail::finish<false>(status_c, err, netlib::rate(rate));
}
#if NETLIB_HPP_THROWS
inline rate::rate(optional_ref<rate_options> options)
    : rate(make(options)) {}
#endif
inline result<progress<seconds>> rate::take(std::string_view key, double n) const {
    double wait = 0.0;
    netlib_error *err = nullptr;
    netlib_status status_c = netlib_rate_take(handle(), key.data(), key.size(), n, &wait, &err);
    return detail::finish_progress<true>(status_c, err, seconds(wait));
}
inline result<void> rate::report(std::string_view key, netlib::report outcome) const {
    netlib_error *err = nullptr;
    netlib_status status_c = netlib_rate_report(handle(), key.data(), key.size(),
        static_cast<enum netlib_report>(outcome), &err);
    return detail::finish<true>(status_c, err);
}
inline result<void> rate_options::check() const {
    netlib_error *err = nullptr;
    netlib_status status_c = netlib_rate_options_check(handle(), &err);
    return detail::finish<false>(status_c, err);
}
inline rate_options &rate_options::limit(double per_second, double burst) noexcept {
    netlib_rate_options_set_limit(handle(), per_second, burst);
    return *this;
}
inline rate_options &rate_options::adaptive() noexcept {
    netlib_rate_options_set_adaptive(handle());
    return *this;
}
inline rate_options &rate_options::max_keys(std::int32_t max_keys) noexcept {
    netlib_rate_options_set_max_keys(handle(), max_keys);
    return *this;
}
inline rate_options &rate_options::store(optional_ref<netlib::store> store,
    netlib::unavailable unavailable) noexcept {
    netlib_rate_options_set_store(handle(), store.handle(), static_cast<enum netlib_unavailable>(unavailable));
    return *this;
}
template <class Clock> inline rate_options &rate_options::clock(Clock clock) {
    using Held = std::tuple<Clock>;
    netlib_clock_fn clock_c = nullptr;
    if constexpr (!std::is_null_pointer_v<Clock>) clock_c = callbacks::clock<Held, 0>;
    Held *held = new Held(std::move(clock));
    netlib_rate_options_set_clock(handle(), clock_c, held, detail::free_held<Held>);
    return *this;
}
inline result<headers> headers::make(span<const netlib_header_field> fields) {
    netlib_headers *headers = nullptr;
    netlib_error *err = nullptr;
    netlib_status status_c = netlib_headers_new(fields.data(), fields.size(), &headers, &err);
    return detail::finish<false>(status_c, err, netlib::headers(headers));
}
#if NETLIB_HPP_THROWS
inline headers::headers(span<const netlib_header_field> fields)
    : headers(make(fields)) {}
#endif
inline headers_options headers::to_options() const {
    return headers_options(detail::checked(netlib_headers_to_options(handle())));
}
inline result<headers> headers::with(const c_text &name, const c_text &value) const {
    netlib_headers *changed = nullptr;
    netlib_error *err = nullptr;
    netlib_status status_c = netlib_headers_with(handle(), name.c_str(), value.c_str(), &changed, &err);
    return detail::finish<false>(status_c, err, netlib::headers(changed));
}
inline std::size_t headers::count() const noexcept {
    return netlib_headers_count(handle());
}
inline text headers::name(std::size_t index) const & noexcept {
    std::size_t len = 0;
    auto *data = netlib_headers_name(handle(), index, &len);
    return text(data, len);
}
inline text headers::value(std::size_t index) const & noexcept {
    std::size_t len = 0;
    auto *data = netlib_headers_value(handle(), index, &len);
    return text(data, len);
}
inline text headers::get(const c_text &name) const & noexcept {
    std::size_t len = 0;
    auto *data = netlib_headers_get(handle(), name.c_str(), &len);
    return text(data, len);
}
inline std::size_t headers::get_count(const c_text &name) const noexcept {
    return netlib_headers_get_count(handle(), name.c_str());
}
inline text headers::get_at(const c_text &name, std::size_t n) const & noexcept {
    std::size_t len = 0;
    auto *data = netlib_headers_get_at(handle(), name.c_str(), n, &len);
    return text(data, len);
}
inline text headers::to_wire() const & noexcept {
    std::size_t len = 0;
    auto *data = netlib_headers_to_wire(handle(), &len);
    return text(data, len);
}
inline netlib::range<headers, headers::item> headers::items() const & noexcept {
    return {*this, count(), [](const headers &self, std::size_t index) {
        return headers::item{self.name(index), self.value(index)};
    }};
}
inline result<void> headers_options::check() const {
    netlib_error *err = nullptr;
    netlib_status status_c = netlib_headers_options_check(handle(), &err);
    return detail::finish<false>(status_c, err);
}
inline headers_options &headers_options::keep_alive(bool keep_alive) noexcept {
    netlib_headers_options_set_keep_alive(handle(), keep_alive);
    return *this;
}
inline headers_options &headers_options::accept_encoding(const c_text &value) noexcept {
    netlib_headers_options_set_accept_encoding(handle(), value.c_str());
    return *this;
}
inline headers_options &headers_options::enable_accept_encoding(bool enable) noexcept {
    netlib_headers_options_enable_accept_encoding(handle(), enable);
    return *this;
}
inline headers_options &headers_options::add_accept_encoding(const c_text &coding) noexcept {
    netlib_headers_options_add_accept_encoding(handle(), coding.c_str());
    return *this;
}
inline headers_options &headers_options::add_supported_coding(const c_text &coding) noexcept {
    netlib_headers_options_add_supported_coding(handle(), coding.c_str());
    return *this;
}
inline headers_options &headers_options::user_agent(const c_text &user_agent) noexcept {
    netlib_headers_options_set_user_agent(handle(), user_agent.c_str());
    return *this;
}
inline headers_options &headers_options::basic_auth(const c_text &credentials) noexcept {
    netlib_headers_options_set_basic_auth(handle(), detail::credentials(credentials));
    return *this;
}
inline headers_options &headers_options::proxy_basic_auth(const c_text &credentials) noexcept {
    netlib_headers_options_set_proxy_basic_auth(handle(), detail::credentials(credentials));
    return *this;
}
inline headers_options &headers_options::disable_cache(bool disable_cache) noexcept {
    netlib_headers_options_set_disable_cache(handle(), disable_cache);
    return *this;
}
inline headers_options &headers_options::add_header(const c_text &name, const c_text &value) noexcept {
    netlib_headers_options_add_header(handle(), name.c_str(), value.c_str());
    return *this;
}
inline result<request> request::make(const c_text &method, const netlib::url &url,
    optional_ref<netlib::headers> headers, request_form form) {
    netlib_request *request = nullptr;
    netlib_error *err = nullptr;
    netlib_status status_c = netlib_request_new(method.c_str(), url.handle(), headers.handle(),
        static_cast<enum netlib_request_form>(form), &request, &err);
    return detail::finish<false>(status_c, err, netlib::request(request));
}
#if NETLIB_HPP_THROWS
inline request::request(const c_text &method, const netlib::url &url, optional_ref<netlib::headers> headers,
    request_form form)
    : request(make(method, url, headers, form)) {}
#endif
inline text request::to_wire() const & noexcept {
    std::size_t len = 0;
    auto *data = netlib_request_to_wire(handle(), &len);
    return text(data, len);
}
inline result<attempts> attempts::make(const netlib::retry &retry, const c_text &method, const netlib::url &url,
    optional_ref<netlib::headers> headers, bool has_body, optional_ref<netlib::limit> limit) {
    netlib_attempts *attempts = nullptr;
    netlib_error *err = nullptr;
    netlib_status status_c = netlib_attempts_new(retry.handle(), method.c_str(), url.handle(), headers.handle(),
        has_body, limit.handle(), &attempts, &err);
    return detail::finish<false>(status_c, err, netlib::attempts(attempts));
}
#if NETLIB_HPP_THROWS
inline attempts::attempts(const netlib::retry &retry, const c_text &method, const netlib::url &url,
    optional_ref<netlib::headers> headers, bool has_body, optional_ref<netlib::limit> limit)
    : attempts(make(retry, method, url, headers, has_body, limit)) {}
#endif
inline text attempts::method() const & noexcept {
    std::size_t len = 0;
    auto *data = netlib_attempts_method(handle(), &len);
    return text(data, len);
}
inline borrowed<netlib::url> attempts::url() const & noexcept {
    return borrowed<netlib::url>(netlib_attempts_url(handle()));
}
inline borrowed<netlib::headers> attempts::headers() const & noexcept {
    return borrowed<netlib::headers>(netlib_attempts_headers(handle()));
}
inline bool attempts::sends_body() const noexcept {
    return netlib_attempts_sends_body(handle()) != 0;
}
inline borrowed<netlib::limit> attempts::limit() const & noexcept {
    return borrowed<netlib::limit>(netlib_attempts_limit(handle()));
}
inline result<netlib::request> attempts::request(request_form form) const {
    netlib_request *request = nullptr;
    netlib_error *err = nullptr;
    netlib_status status_c = netlib_attempts_request(handle(), static_cast<enum netlib_request_form>(form), &request,
        &err);
    return detail::finish<false>(status_c, err, netlib::request(request));
}
inline result<void> attempts::set_header(const c_text &name, const c_text &value) {
    netlib_error *err = nullptr;
    netlib_status status_c = netlib_attempts_set_header(handle(), name.c_str(), value.c_str(), &err);
    return detail::finish<false>(status_c, err);
}
inline void attempts::reset_failures() noexcept {
    netlib_attempts_reset_failures(handle());
}
inline borrowed<netlib::decision> attempts::decision() const & noexcept {
    return borrowed<netlib::decision>(netlib_attempts_decision(handle()));
}
inline result<status> attempts::next(optional_ref<netlib::response> response, optional_ref<netlib::error> error) {
    netlib_error *err = nullptr;
    netlib_status status_c = netlib_attempts_next(handle(), response.handle(), error.handle(), &err);
    return detail::finish_progress<true>(status_c, err);
}
inline result<status> attempts::decide(optional_ref<netlib::response> response, optional_ref<netlib::error> error) {
    netlib_error *err = nullptr;
    netlib_status status_c = netlib_attempts_decide(handle(), response.handle(), error.handle(), &err);
    return detail::finish_progress<true>(status_c, err);
}
inline result<response> response::make(const c_text &request_method, std::int32_t status,
    const netlib::headers &headers) {
    netlib_response *response = nullptr;
    netlib_error *err = nullptr;
    netlib_status status_c = netlib_response_new(request_method.c_str(), status, headers.handle(), &response, &err);
    return detail::finish<false>(status_c, err, netlib::response(response));
}
#if NETLIB_HPP_THROWS
inline response::response(const c_text &request_method, std::int32_t status, const netlib::headers &headers)
    : response(make(request_method, status, headers)) {}
#endif
inline result<progress<response::parse_result>> response::parse(const c_text &request_method, std::string_view head,
    std::uint64_t *state) {
    netlib_response *response = nullptr;
    std::size_t head_len = 0;
    netlib_error *err = nullptr;
    netlib_status status_c = netlib_response_parse(request_method.c_str(), head.data(), head.size(), state,
        &response, &head_len, &err);
    return detail::finish_progress<false>(status_c, err, parse_result{netlib::response(response), head_len});
}
inline result<progress<response::parse_final_result>> response::parse_final(const c_text &request_method,
    std::string_view head, std::uint64_t *state) {
    netlib_response *response = nullptr;
    std::size_t head_len = 0;
    netlib_error *err = nullptr;
    netlib_status status_c = netlib_response_parse_final(request_method.c_str(), head.data(), head.size(), state,
        &response, &head_len, &err);
    return detail::finish_progress<false>(status_c, err, parse_final_result{netlib::response(response), head_len});
}
inline std::int32_t response::status() const noexcept {
    return netlib_response_status(handle());
}
inline borrowed<netlib::headers> response::headers() const & noexcept {
    return borrowed<netlib::headers>(netlib_response_headers(handle()));
}
inline text response::request_method() const & noexcept {
    std::size_t len = 0;
    auto *data = netlib_response_request_method(handle(), &len);
    return text(data, len);
}
inline text response::reason() const & noexcept {
    std::size_t len = 0;
    auto *data = netlib_response_reason(handle(), &len);
    return text(data, len);
}
inline std::int32_t response::minor_version() const noexcept {
    return netlib_response_minor_version(handle());
}
inline text response::redirect_location() const & noexcept {
    std::size_t len = 0;
    auto *data = netlib_response_redirect_location(handle(), &len);
    return text(data, len);
}
inline result<response::framing_result> response::framing() const {
    enum netlib_body_framing framing = {};
    std::int64_t length = 0;
    netlib_error *err = nullptr;
    netlib_status status_c = netlib_response_framing(handle(), &framing, &length, &err);
    return detail::finish<false>(status_c, err, framing_result{static_cast<body_framing>(framing), length});
}
inline result<void> response::check_tunnel() const {
    netlib_error *err = nullptr;
    netlib_status status_c = netlib_response_check_tunnel(handle(), &err);
    return detail::finish<false>(status_c, err);
}
inline bool response::keeps_alive(optional_ref<body_decoder> decoder) const noexcept {
    return netlib_response_keeps_alive(handle(), decoder.handle()) != 0;
}
inline result<response::content_range_result> response::content_range() const {
    std::int64_t first = 0;
    std::int64_t last = 0;
    std::int64_t total = 0;
    netlib_error *err = nullptr;
    netlib_status status_c = netlib_response_content_range(handle(), &first, &last, &total, &err);
    return detail::finish<false>(status_c, err, content_range_result{first, last, total});
}
inline text response::range_validator() const & noexcept {
    std::size_t len = 0;
    auto *data = netlib_response_range_validator(handle(), &len);
    return text(data, len);
}
inline bool response::resumes(const response &earlier, std::int64_t offset) const noexcept {
    return netlib_response_resumes(handle(), earlier.handle(), offset) != 0;
}
inline result<body_decoder> body_decoder::make(const netlib::response &response) {
    netlib_body_decoder *decoder = nullptr;
    netlib_error *err = nullptr;
    netlib_status status_c = netlib_body_decoder_new(response.handle(), &decoder, &err);
    return detail::finish<false>(status_c, err, body_decoder(decoder));
}
#if NETLIB_HPP_THROWS
inline body_decoder::body_decoder(const netlib::response &response)
    : body_decoder(make(response)) {}
#endif
inline result<void> body_decoder::set_limits(std::size_t max_size_line, std::size_t max_trailer,
    std::size_t max_trailer_fields) {
    netlib_error *err = nullptr;
    netlib_status status_c = netlib_body_decoder_set_limits(handle(), max_size_line, max_trailer, max_trailer_fields,
        &err);
    return detail::finish<false>(status_c, err);
}
inline result<void> body_decoder::set_max_size(std::int64_t max_size) {
    netlib_error *err = nullptr;
    netlib_status status_c = netlib_body_decoder_set_max_size(handle(), max_size, &err);
    return detail::finish<false>(status_c, err);
}
inline result<void> body_decoder::set_allow_bare_lf(bool allow) {
    netlib_error *err = nullptr;
    netlib_status status_c = netlib_body_decoder_set_allow_bare_lf(handle(), allow, &err);
    return detail::finish<false>(status_c, err);
}
inline result<progress<body_decoder::decode_result>> body_decoder::decode(span<const std::uint8_t> data) & {
    std::size_t consumed = 0;
    const uint8_t *body = nullptr;
    std::size_t body_len = 0;
    netlib_error *err = nullptr;
    netlib_status status_c = netlib_body_decoder_decode(handle(), data.data(), data.size(), &consumed, &body,
        &body_len, &err);
    return detail::finish_progress<false>(status_c, err, decode_result{consumed, span<const std::uint8_t>(body,
        body_len)});
}
inline result<void> body_decoder::end() {
    netlib_error *err = nullptr;
    netlib_status status_c = netlib_body_decoder_end(handle(), &err);
    return detail::finish<false>(status_c, err);
}
inline bool body_decoder::is_done() const noexcept {
    return netlib_body_decoder_is_done(handle()) != 0;
}
inline borrowed<headers> body_decoder::trailers() const & noexcept {
    return borrowed<headers>(netlib_body_decoder_trailers(handle()));
}
inline std::int64_t body_decoder::bytes_decoded() const noexcept {
    return netlib_body_decoder_bytes_decoded(handle());
}
inline std::int64_t body_decoder::bytes_left() const noexcept {
    return netlib_body_decoder_bytes_left(handle());
}
inline result<body> body::from_memory(span<const std::uint8_t> data) {
    netlib_body *body = nullptr;
    netlib_error *err = nullptr;
    netlib_status status_c = netlib_body_from_memory(data.data(), data.size(), &body, &err);
    return detail::finish<false>(status_c, err, netlib::body(body));
}
inline result<body> body::from_fd(int fd) {
    netlib_body *body = nullptr;
    netlib_error *err = nullptr;
    netlib_status status_c = netlib_body_from_fd(fd, &body, &err);
    return detail::finish<false>(status_c, err, netlib::body(body));
}
template <class BodyRead, class BodyTell, class BodySeek,
    class BodyIsClosed> inline result<body> body::make(BodyRead read, BodyTell tell, BodySeek seek,
    BodyIsClosed is_closed) {
    using Held = std::tuple<BodyRead, BodyTell, BodySeek, BodyIsClosed>;
    netlib_body_read_fn read_c = nullptr;
    if constexpr (!std::is_null_pointer_v<BodyRead>) read_c = callbacks::body_read<Held, 0>;
    netlib_body_tell_fn tell_c = nullptr;
    if constexpr (!std::is_null_pointer_v<BodyTell>) tell_c = callbacks::body_tell<Held, 1>;
    netlib_body_seek_fn seek_c = nullptr;
    if constexpr (!std::is_null_pointer_v<BodySeek>) seek_c = callbacks::body_seek<Held, 2>;
    netlib_body_is_closed_fn is_closed_c = nullptr;
    if constexpr (!std::is_null_pointer_v<BodyIsClosed>) is_closed_c = callbacks::body_is_closed<Held, 3>;
    netlib_body *body = nullptr;
    netlib_error *err = nullptr;
    Held *held = new Held(std::move(read), std::move(tell), std::move(seek), std::move(is_closed));
    netlib_status status_c = netlib_body_new(read_c, tell_c, seek_c, is_closed_c, held, detail::free_held<Held>,
        &body, &err);
    return detail::finish<false>(status_c, err, netlib::body(body));
}
inline void body::set_limit(optional_ref<netlib::limit> limit) noexcept {
    netlib_body_set_limit(handle(), limit.handle());
}
inline result<progress<std::size_t>> body::read(span<std::uint8_t> buf) {
    std::size_t n = 0;
    netlib_error *err = nullptr;
    netlib_status status_c = netlib_body_read(handle(), buf.data(), buf.size(), &n, &err);
    return detail::finish_progress<true>(status_c, err, n);
}
inline result<std::int64_t> body::length() {
    std::int64_t length = 0;
    netlib_error *err = nullptr;
    netlib_status status_c = netlib_body_length(handle(), &length, &err);
    return detail::finish<false>(status_c, err, length);
}
inline result<void> connect_options::check() const {
    netlib_error *err = nullptr;
    netlib_status status_c = netlib_connect_options_check(handle(), &err);
    return detail::finish<false>(status_c, err);
}
inline connect_options &connect_options::timeout(seconds timeout) noexcept {
    netlib_connect_options_set_timeout(handle(), timeout.count());
    return *this;
}
inline connect_options &connect_options::use_timeout(const netlib::timeout &timeout) {
    netlib_connect_options_use_timeout(handle(), timeout.handle());
    detail::rethrow();
    return *this;
}
inline connect_options &connect_options::address_family(netlib::address_family family) noexcept {
    netlib_connect_options_set_address_family(handle(), static_cast<enum netlib_address_family>(family));
    return *this;
}
inline connect_options &connect_options::source_address(const c_text &host, std::int32_t port) noexcept {
    netlib_connect_options_set_source_address(handle(), host.c_str(), port);
    return *this;
}
inline connect_options &connect_options::interface(const c_text &name) noexcept {
    netlib_connect_options_set_interface(handle(), name.c_str());
    return *this;
}
inline connect_options &connect_options::no_delay(bool enable) noexcept {
    netlib_connect_options_set_no_delay(handle(), enable);
    return *this;
}
inline connect_options &connect_options::keepalive(seconds idle, seconds interval, std::int32_t count) noexcept {
    netlib_connect_options_set_keepalive(handle(), idle.count(), interval.count(), count);
    return *this;
}
inline connect_options &connect_options::user_timeout(netlib::seconds seconds) noexcept {
    netlib_connect_options_set_user_timeout(handle(), seconds.count());
    return *this;
}
inline connect_options &connect_options::add_socket_option(std::int32_t level, std::int32_t name,
    span<const std::uint8_t> value) noexcept {
    netlib_connect_options_add_socket_option(handle(), level, name, value.data(), value.size());
    return *this;
}
inline connect_options &connect_options::refuse_addresses(address_class classes) noexcept {
    netlib_connect_options_refuse_addresses(handle(), static_cast<std::int32_t>(classes));
    return *this;
}
template <class Address> inline connect_options &connect_options::address_callback(Address callback) {
    using Held = std::tuple<Address>;
    netlib_address_fn callback_c = nullptr;
    if constexpr (!std::is_null_pointer_v<Address>) callback_c = callbacks::address<Held, 0>;
    Held *held = new Held(std::move(callback));
    netlib_connect_options_set_address_callback(handle(), callback_c, held, detail::free_held<Held>);
    return *this;
}
template <class Resolve> inline connect_options &connect_options::resolve_callback(Resolve resolve) {
    using Held = std::tuple<Resolve>;
    netlib_resolve_fn resolve_c = nullptr;
    if constexpr (!std::is_null_pointer_v<Resolve>) resolve_c = callbacks::resolve<Held, 0>;
    Held *held = new Held(std::move(resolve));
    netlib_connect_options_set_resolve_callback(handle(), resolve_c, held, detail::free_held<Held>);
    return *this;
}
inline connect_options &connect_options::attempt_delay(netlib::seconds seconds) noexcept {
    netlib_connect_options_set_attempt_delay(handle(), seconds.count());
    return *this;
}
inline connect_options &connect_options::supply_addresses(bool enable) noexcept {
    netlib_connect_options_set_supply_addresses(handle(), enable);
    return *this;
}
inline result<void> addresses::add(span<const std::uint8_t> address) {
    netlib_error *err = nullptr;
    netlib_status status_c = netlib_addresses_add(handle(), address.data(), address.size(), &err);
    return detail::finish<false>(status_c, err);
}
inline std::size_t addresses::count() const noexcept {
    return netlib_addresses_count(handle());
}
inline result<connect> connect::make(const c_text &host, std::int32_t port, optional_ref<connect_options> options) {
    netlib_connect *connect = nullptr;
    netlib_error *err = nullptr;
    netlib_status status_c = netlib_connect_new(host.c_str(), port, options.handle(), &connect, &err);
    return detail::finish<false>(status_c, err, netlib::connect(connect));
}
#if NETLIB_HPP_THROWS
inline connect::connect(const c_text &host, std::int32_t port, optional_ref<connect_options> options)
    : connect(make(host, port, options)) {}
#endif
inline result<connect> connect::new_addresses(const c_text &host, std::int32_t port,
    const netlib::addresses &addresses, optional_ref<connect_options> options) {
    netlib_connect *connect = nullptr;
    netlib_error *err = nullptr;
    netlib_status status_c = netlib_connect_new_addresses(host.c_str(), port, addresses.handle(), options.handle(),
        &connect, &err);
    return detail::finish<false>(status_c, err, netlib::connect(connect));
}
inline result<void> connect::set_limit(optional_ref<netlib::limit> limit) {
    netlib_error *err = nullptr;
    netlib_status status_c = netlib_connect_set_limit(handle(), limit.handle(), &err);
    return detail::finish<false>(status_c, err);
}
inline result<progress<descriptor>> connect::step() {
    int fd = -1;
    netlib_error *err = nullptr;
    netlib_status status_c = netlib_connect_step(handle(), &fd, &err);
    return detail::finish_progress<true>(status_c, err, descriptor(fd));
}
inline result<void> connect::supply_addresses(const netlib::addresses &addresses) {
    netlib_error *err = nullptr;
    netlib_status status_c = netlib_connect_supply_addresses(handle(), addresses.handle(), &err);
    return detail::finish<false>(status_c, err);
}
inline result<void> connect::supply_error(const netlib::error &error) {
    netlib_error *err = nullptr;
    netlib_status status_c = netlib_connect_supply_error(handle(), error.handle(), &err);
    return detail::finish<false>(status_c, err);
}
inline result<descriptor> connect::run(optional_ref<netlib::limit> limit) {
    int fd = -1;
    netlib_error *err = nullptr;
    netlib_status status_c = netlib_connect_run(handle(), limit.handle(), &fd, &err);
    return detail::finish<true>(status_c, err, descriptor(fd));
}
inline std::size_t connect::wait_count() const noexcept {
    return netlib_connect_wait_count(handle());
}
inline int connect::wait_fd(std::size_t index) const noexcept {
    return netlib_connect_wait_fd(handle(), index);
}
inline std::int32_t connect::wait_events(std::size_t index) const noexcept {
    return netlib_connect_wait_events(handle(), index);
}
inline seconds connect::wait_seconds() const noexcept {
    return seconds(netlib_connect_wait_seconds(handle()));
}
inline std::size_t connect::attempt_count() const noexcept {
    return netlib_connect_attempt_count(handle());
}
inline std::int32_t connect::winner() const noexcept {
    return netlib_connect_winner(handle());
}
inline text connect::attempt_address(std::size_t index) const & noexcept {
    std::size_t len = 0;
    auto *data = netlib_connect_attempt_address(handle(), index, &len);
    return text(data, len);
}
inline std::int32_t connect::attempt_port(std::size_t index) const noexcept {
    return netlib_connect_attempt_port(handle(), index);
}
inline seconds connect::attempt_start(std::size_t index) const noexcept {
    return seconds(netlib_connect_attempt_start(handle(), index));
}
inline seconds connect::attempt_end(std::size_t index) const noexcept {
    return seconds(netlib_connect_attempt_end(handle(), index));
}
inline status connect::attempt_status(std::size_t index) const noexcept {
    return static_cast<status>(netlib_connect_attempt_status(handle(), index));
}
inline std::int32_t connect::attempt_errno(std::size_t index) const noexcept {
    return netlib_connect_attempt_errno(handle(), index);
}
inline result<connect> connect::new_unix(std::string_view path, optional_ref<connect_options> options) {
    netlib_connect *connect = nullptr;
    netlib_error *err = nullptr;
    netlib_status status_c = netlib_connect_new_unix(path.data(), path.size(), options.handle(), &connect, &err);
    return detail::finish<false>(status_c, err, netlib::connect(connect));
}
inline netlib::range<connect, connect::wait_item> connect::waits() const & noexcept {
    return {*this, wait_count(), [](const connect &self, std::size_t index) {
        return connect::wait_item{self.wait_fd(index), self.wait_events(index)};
    }};
}
inline netlib::range<connect, connect::attempt_item> connect::attempts() const & noexcept {
    return {*this, attempt_count(), [](const connect &self, std::size_t index) {
        return connect::attempt_item{self.attempt_address(index), self.attempt_port(index),
            self.attempt_start(index), self.attempt_end(index), self.attempt_status(index),
            self.attempt_errno(index)};
    }};
}
inline result<throughput> throughput::make(std::size_t bytes, netlib::seconds seconds) {
    netlib_throughput *throughput = nullptr;
    netlib_error *err = nullptr;
    netlib_status status_c = netlib_throughput_new(bytes, seconds.count(), &throughput, &err);
    return detail::finish<false>(status_c, err, netlib::throughput(throughput));
}
#if NETLIB_HPP_THROWS
inline throughput::throughput(std::size_t bytes, netlib::seconds seconds)
    : throughput(make(bytes, seconds)) {}
#endif
inline result<status> throughput::wait_for_read(int fd, seconds timeout, optional_ref<netlib::limit> limit) {
    netlib_error *err = nullptr;
    netlib_status status_c = netlib_throughput_wait_for_read(handle(), fd, timeout.count(), limit.handle(), &err);
    return detail::finish_progress<true>(status_c, err);
}
inline void throughput::add(std::size_t bytes) noexcept {
    netlib_throughput_add(handle(), bytes);
}
inline result<stream> stream::new_fd(int fd) {
    netlib_stream *stream = nullptr;
    netlib_error *err = nullptr;
    netlib_status status_c = netlib_stream_new_fd(fd, &stream, &err);
    return detail::finish<false>(status_c, err, netlib::stream(stream));
}
template <class StreamRead, class StreamWrite> inline result<stream> stream::new_callbacks(StreamRead read_fn,
    StreamWrite write_fn) {
    using Held = std::tuple<StreamRead, StreamWrite>;
    netlib_stream_read_fn read_fn_c = nullptr;
    if constexpr (!std::is_null_pointer_v<StreamRead>) read_fn_c = callbacks::stream_read<Held, 0>;
    netlib_stream_write_fn write_fn_c = nullptr;
    if constexpr (!std::is_null_pointer_v<StreamWrite>) write_fn_c = callbacks::stream_write<Held, 1>;
    netlib_stream *stream = nullptr;
    netlib_error *err = nullptr;
    Held *held = new Held(std::move(read_fn), std::move(write_fn));
    netlib_status status_c = netlib_stream_new_callbacks(read_fn_c, write_fn_c, held, detail::free_held<Held>,
        &stream, &err);
    return detail::finish<false>(status_c, err, netlib::stream(stream));
}
inline void stream::set_limit(optional_ref<netlib::limit> limit) noexcept {
    netlib_stream_set_limit(handle(), limit.handle());
}
inline result<void> stream::set_read_timeout(netlib::seconds seconds) {
    netlib_error *err = nullptr;
    netlib_status status_c = netlib_stream_set_read_timeout(handle(), seconds.count(), &err);
    return detail::finish<false>(status_c, err);
}
inline result<void> stream::use_timeout(const netlib::timeout &timeout) {
    netlib_error *err = nullptr;
    netlib_status status_c = netlib_stream_use_timeout(handle(), timeout.handle(), &err);
    return detail::finish<true>(status_c, err);
}
inline result<void> stream::set_write_timeout(netlib::seconds seconds) {
    netlib_error *err = nullptr;
    netlib_status status_c = netlib_stream_set_write_timeout(handle(), seconds.count(), &err);
    return detail::finish<false>(status_c, err);
}
inline result<void> stream::set_minimum_throughput(std::size_t bytes, netlib::seconds seconds) {
    netlib_error *err = nullptr;
    netlib_status status_c = netlib_stream_set_minimum_throughput(handle(), bytes, seconds.count(), &err);
    return detail::finish<false>(status_c, err);
}
inline result<void> stream::set_blocking(bool blocking) {
    netlib_error *err = nullptr;
    netlib_status status_c = netlib_stream_set_blocking(handle(), blocking, &err);
    return detail::finish<false>(status_c, err);
}
inline result<progress<std::size_t>> stream::read(span<std::uint8_t> buf) {
    std::size_t n = 0;
    netlib_error *err = nullptr;
    netlib_status status_c = netlib_stream_read(handle(), buf.data(), buf.size(), &n, &err);
    return detail::finish_progress<true>(status_c, err, n);
}
inline std::size_t stream::pending() const noexcept {
    return netlib_stream_pending(handle());
}
inline result<stream::is_dropped_result> stream::is_dropped() {
    std::int32_t dropped = 0;
    netlib_status why = NETLIB_OK;
    netlib_error *err = nullptr;
    netlib_status status_c = netlib_stream_is_dropped(handle(), &dropped, &why, &err);
    return detail::finish<true>(status_c, err, is_dropped_result{dropped != 0, static_cast<status>(why)});
}
inline result<progress<std::size_t>> stream::write(span<const std::uint8_t> buf) {
    std::size_t n = 0;
    netlib_error *err = nullptr;
    netlib_status status_c = netlib_stream_write(handle(), buf.data(), buf.size(), &n, &err);
    return detail::finish_progress<true>(status_c, err, n);
}
inline result<progress<std::size_t>> stream::writev(span<const netlib_slice> slices) {
    std::size_t n = 0;
    netlib_error *err = nullptr;
    netlib_status status_c = netlib_stream_writev(handle(), slices.data(), slices.size(), &n, &err);
    return detail::finish_progress<true>(status_c, err, n);
}
inline result<status> stream::shutdown() {
    netlib_error *err = nullptr;
    netlib_status status_c = netlib_stream_shutdown(handle(), &err);
    return detail::finish_progress<true>(status_c, err);
}
inline result<status> stream::shutdown_both() {
    netlib_error *err = nullptr;
    netlib_status status_c = netlib_stream_shutdown_both(handle(), &err);
    return detail::finish_progress<true>(status_c, err);
}
inline result<progress<stream>> stream::connect(const netlib::url &url, optional_ref<tls_context> context,
    optional_ref<connect_options> options, optional_ref<netlib::limit> limit) {
    netlib_stream *stream = nullptr;
    netlib_error *err = nullptr;
    netlib_status status_c = netlib_stream_connect(url.handle(), context.handle(), options.handle(), limit.handle(),
        &stream, &err);
    return detail::finish_progress<true>(status_c, err, netlib::stream(stream));
}
inline int stream::fd() const noexcept {
    return netlib_stream_fd(handle());
}
inline result<progress<response>> stream::read_response(const c_text &request_method) {
    netlib_response *response = nullptr;
    netlib_error *err = nullptr;
    netlib_status status_c = netlib_stream_read_response(handle(), request_method.c_str(), &response, &err);
    return detail::finish_progress<true>(status_c, err, netlib::response(response));
}
inline result<progress<response>> stream::read_next_response(const c_text &request_method) {
    netlib_response *response = nullptr;
    netlib_error *err = nullptr;
    netlib_status status_c = netlib_stream_read_next_response(handle(), request_method.c_str(), &response, &err);
    return detail::finish_progress<true>(status_c, err, netlib::response(response));
}
inline result<progress<std::size_t>> stream::read_body(body_decoder &decoder, span<std::uint8_t> buf) {
    std::size_t n = 0;
    netlib_error *err = nullptr;
    netlib_status status_c = netlib_stream_read_body(handle(), decoder.handle(), buf.data(), buf.size(), &n, &err);
    return detail::finish_progress<true>(status_c, err, n);
}
inline result<progress<bytes>> stream::read_whole_body(body_decoder &decoder, std::size_t max_size) {
    netlib_bytes *body = nullptr;
    netlib_error *err = nullptr;
    netlib_status status_c = netlib_stream_read_whole_body(handle(), decoder.handle(), max_size, &body, &err);
    return detail::finish_progress<true>(status_c, err, bytes(body));
}
inline result<status> stream::discard_body(body_decoder &decoder, std::size_t max_size, netlib::seconds seconds) {
    netlib_error *err = nullptr;
    netlib_status status_c = netlib_stream_discard_body(handle(), decoder.handle(), max_size, seconds.count(), &err);
    return detail::finish_progress<true>(status_c, err);
}
inline result<status> stream::handshake() {
    netlib_error *err = nullptr;
    netlib_status status_c = netlib_stream_handshake(handle(), &err);
    return detail::finish_progress<true>(status_c, err);
}
inline std::size_t stream::peer_certificate_count() const noexcept {
    return netlib_stream_peer_certificate_count(handle());
}
inline span<const std::uint8_t> stream::peer_certificate(std::size_t index) const & noexcept {
    std::size_t len = 0;
    auto *data = netlib_stream_peer_certificate(handle(), index, &len);
    return span<const std::uint8_t>(data, len);
}
inline text stream::alpn_protocol() const & noexcept {
    std::size_t len = 0;
    auto *data = netlib_stream_alpn_protocol(handle(), &len);
    return text(data, len);
}
inline text stream::server_name() const & noexcept {
    std::size_t len = 0;
    auto *data = netlib_stream_server_name(handle(), &len);
    return text(data, len);
}
inline netlib::tls_version stream::tls_version() const noexcept {
    return static_cast<netlib::tls_version>(netlib_stream_tls_version(handle()));
}
inline text stream::cipher_suite() const & noexcept {
    std::size_t len = 0;
    auto *data = netlib_stream_cipher_suite(handle(), &len);
    return text(data, len);
}
inline std::int32_t stream::cipher_suite_bits() const noexcept {
    return netlib_stream_cipher_suite_bits(handle());
}
inline text stream::key_exchange_group() const & noexcept {
    std::size_t len = 0;
    auto *data = netlib_stream_key_exchange_group(handle(), &len);
    return text(data, len);
}
inline bool stream::is_resumed() const noexcept {
    return netlib_stream_is_resumed(handle()) != 0;
}
inline result<tls_session> stream::take_session() {
    netlib_tls_session *session = nullptr;
    netlib_error *err = nullptr;
    netlib_status status_c = netlib_stream_take_session(handle(), &session, &err);
    return detail::finish<false>(status_c, err, tls_session(session));
}
inline result<void> stream::set_session(optional_ref<tls_session> session) {
    netlib_error *err = nullptr;
    netlib_status status_c = netlib_stream_set_session(handle(), session.handle(), &err);
    return detail::finish<false>(status_c, err);
}
inline result<progress<std::size_t>> stream::write_early_data(span<const std::uint8_t> buf) {
    std::size_t n = 0;
    netlib_error *err = nullptr;
    netlib_status status_c = netlib_stream_write_early_data(handle(), buf.data(), buf.size(), &n, &err);
    return detail::finish_progress<true>(status_c, err, n);
}
inline netlib::early_data_status stream::early_data_status() const noexcept {
    return static_cast<netlib::early_data_status>(netlib_stream_early_data_status(handle()));
}
inline std::size_t stream::early_data_left() const noexcept {
    return netlib_stream_early_data_left(handle());
}
inline std::size_t stream::early_data_written() const noexcept {
    return netlib_stream_early_data_written(handle());
}
inline netlib::ech_status stream::ech_status() const noexcept {
    return static_cast<netlib::ech_status>(netlib_stream_ech_status(handle()));
}
inline text stream::cipher_suite_openssl_name() const & noexcept {
    std::size_t len = 0;
    auto *data = netlib_stream_cipher_suite_openssl_name(handle(), &len);
    return text(data, len);
}
inline netlib::range<stream, span<const std::uint8_t>> stream::peer_certificates() const & noexcept {
    return {*this, peer_certificate_count(), [](const stream &self, std::size_t index) {
        return self.peer_certificate(index);
    }};
}
inline result<tls_context> tls_context::make(optional_ref<tls_options> options) {
    netlib_tls_context *context = nullptr;
    netlib_error *err = nullptr;
    netlib_status status_c = netlib_tls_context_new(options.handle(), &context, &err);
    return detail::finish<false>(status_c, err, tls_context(context));
}
#if NETLIB_HPP_THROWS
inline tls_context::tls_context(optional_ref<tls_options> options)
    : tls_context(make(options)) {}
#endif
inline std::size_t tls_context::session_count() const noexcept {
    return netlib_tls_context_session_count(handle());
}
inline void tls_context::forget_sessions() const noexcept {
    netlib_tls_context_forget_sessions(handle());
}
inline bool tls_context::early_data() const noexcept {
    return netlib_tls_context_early_data(handle()) != 0;
}
inline result<tls_context> tls_context::with_ech(span<const std::uint8_t> config_list) const {
    netlib_tls_context *with_ech = nullptr;
    netlib_error *err = nullptr;
    netlib_status status_c = netlib_tls_context_with_ech(handle(), config_list.data(), config_list.size(), &with_ech,
        &err);
    return detail::finish<false>(status_c, err, tls_context(with_ech));
}
inline span<const std::uint8_t> tls_context::ech_config_list() const & noexcept {
    std::size_t len = 0;
    auto *data = netlib_tls_context_ech_config_list(handle(), &len);
    return span<const std::uint8_t>(data, len);
}
inline text tls_context::ech_public_name() const & noexcept {
    std::size_t len = 0;
    auto *data = netlib_tls_context_ech_public_name(handle(), &len);
    return text(data, len);
}
inline std::int32_t tls_context::ech_grease() const noexcept {
    return netlib_tls_context_ech_grease(handle());
}
inline result<void> tls_context::verify_chain(span<const std::uint8_t> chain, netlib::purpose purpose,
    const c_text &name, std::optional<seconds> time) const {
    double time_value = time ? time->count() : 0.0;
    netlib_error *err = nullptr;
    netlib_status status_c = netlib_tls_context_verify_chain(handle(), chain.data(), chain.size(),
        static_cast<enum netlib_purpose>(purpose), name.c_str(), time ? &time_value : nullptr, &err);
    return detail::finish<true>(status_c, err);
}
inline tls_options tls_context::to_options() const {
    return tls_options(detail::checked(netlib_tls_context_to_options(handle())));
}
inline std::size_t tls_context::trust_anchor_count() const noexcept {
    return netlib_tls_context_trust_anchor_count(handle());
}
inline span<const std::uint8_t> tls_context::trust_anchor(std::size_t index) const & noexcept {
    std::size_t len = 0;
    auto *data = netlib_tls_context_trust_anchor(handle(), index, &len);
    return span<const std::uint8_t>(data, len);
}
inline trust_kind tls_context::trust_kinds() const noexcept {
    return static_cast<trust_kind>(netlib_tls_context_trust_kinds(handle()));
}
inline std::size_t tls_context::trust_source_count() const noexcept {
    return netlib_tls_context_trust_source_count(handle());
}
inline trust_kind tls_context::trust_source_kind(std::size_t index) const noexcept {
    return static_cast<trust_kind>(netlib_tls_context_trust_source_kind(handle(), index));
}
inline text tls_context::trust_source_name(std::size_t index) const & noexcept {
    std::size_t len = 0;
    auto *data = netlib_tls_context_trust_source_name(handle(), index, &len);
    return text(data, len);
}
inline std::size_t tls_context::trust_source_anchor_count(std::size_t index) const noexcept {
    return netlib_tls_context_trust_source_anchor_count(handle(), index);
}
inline std::size_t tls_context::trust_source_skipped_count(std::size_t index) const noexcept {
    return netlib_tls_context_trust_source_skipped_count(handle(), index);
}
inline text tls_context::trust_source_skipped(std::size_t index, std::size_t skipped) const & noexcept {
    std::size_t len = 0;
    auto *data = netlib_tls_context_trust_source_skipped(handle(), index, skipped, &len);
    return text(data, len);
}
inline netlib::verify_mode tls_context::verify_mode() const noexcept {
    return static_cast<netlib::verify_mode>(netlib_tls_context_verify_mode(handle()));
}
inline bool tls_context::check_hostname() const noexcept {
    return netlib_tls_context_check_hostname(handle()) != 0;
}
inline std::size_t tls_context::pin_count() const noexcept {
    return netlib_tls_context_pin_count(handle());
}
inline bool tls_context::pins_replace_chain() const noexcept {
    return netlib_tls_context_pins_replace_chain(handle()) != 0;
}
inline verify_flag tls_context::verify_flags() const noexcept {
    return static_cast<verify_flag>(netlib_tls_context_verify_flags(handle()));
}
inline tls_version tls_context::minimum_version() const noexcept {
    return static_cast<tls_version>(netlib_tls_context_minimum_version(handle()));
}
inline tls_version tls_context::maximum_version() const noexcept {
    return static_cast<tls_version>(netlib_tls_context_maximum_version(handle()));
}
inline std::size_t tls_context::alpn_protocol_count() const noexcept {
    return netlib_tls_context_alpn_protocol_count(handle());
}
inline text tls_context::alpn_protocol(std::size_t index) const & noexcept {
    std::size_t len = 0;
    auto *data = netlib_tls_context_alpn_protocol(handle(), index, &len);
    return text(data, len);
}
inline std::size_t tls_context::cipher_suite_count() const noexcept {
    return netlib_tls_context_cipher_suite_count(handle());
}
inline text tls_context::cipher_suite(std::size_t index) const & noexcept {
    std::size_t len = 0;
    auto *data = netlib_tls_context_cipher_suite(handle(), index, &len);
    return text(data, len);
}
inline text tls_context::unknown_ciphers() const & noexcept {
    std::size_t len = 0;
    auto *data = netlib_tls_context_unknown_ciphers(handle(), &len);
    return text(data, len);
}
inline std::size_t tls_context::key_exchange_group_count() const noexcept {
    return netlib_tls_context_key_exchange_group_count(handle());
}
inline text tls_context::key_exchange_group(std::size_t index) const & noexcept {
    std::size_t len = 0;
    auto *data = netlib_tls_context_key_exchange_group(handle(), index, &len);
    return text(data, len);
}
inline bool tls_context::resumption() const noexcept {
    return netlib_tls_context_resumption(handle()) != 0;
}
inline text tls_context::keylog_file() const & noexcept {
    std::size_t len = 0;
    auto *data = netlib_tls_context_keylog_file(handle(), &len);
    return text(data, len);
}
inline text tls_context::digest() const & noexcept {
    std::size_t len = 0;
    auto *data = netlib_tls_context_digest(handle(), &len);
    return text(data, len);
}
inline ssl_version tls_context::protocol() const noexcept {
    return static_cast<ssl_version>(netlib_tls_context_protocol(handle()));
}
inline bool tls_context::hostname_checks_common_name() const noexcept {
    return netlib_tls_context_hostname_checks_common_name(handle()) != 0;
}
inline bool tls_context::post_handshake_auth() const noexcept {
    return netlib_tls_context_post_handshake_auth(handle()) != 0;
}
inline std::int64_t tls_context::option_bits() const noexcept {
    return netlib_tls_context_option_bits(handle());
}
inline text tls_context::cipher_suite_openssl_name(std::size_t index) const & noexcept {
    std::size_t len = 0;
    auto *data = netlib_tls_context_cipher_suite_openssl_name(handle(), index, &len);
    return text(data, len);
}
inline netlib::range<tls_context, span<const std::uint8_t>> tls_context::trust_anchors() const & noexcept {
    return {*this, trust_anchor_count(), [](const tls_context &self, std::size_t index) {
        return self.trust_anchor(index);
    }};
}
inline netlib::range<tls_context, tls_context::trust_source_item> tls_context::trust_sources() const & noexcept {
    return {*this, trust_source_count(), [](const tls_context &self, std::size_t index) {
        return tls_context::trust_source_item{self.trust_source_kind(index), self.trust_source_name(index),
            self.trust_source_anchor_count(index), self.trust_source_skipped_count(index)};
    }};
}
inline netlib::range<tls_context, text> tls_context::alpn_protocols() const & noexcept {
    return {*this, alpn_protocol_count(), [](const tls_context &self, std::size_t index) {
        return self.alpn_protocol(index);
    }};
}
inline netlib::range<tls_context, tls_context::cipher_suite_item> tls_context::cipher_suites() const & noexcept {
    return {*this, cipher_suite_count(), [](const tls_context &self, std::size_t index) {
        return tls_context::cipher_suite_item{self.cipher_suite(index), self.cipher_suite_openssl_name(index)};
    }};
}
inline netlib::range<tls_context, text> tls_context::key_exchange_groups() const & noexcept {
    return {*this, key_exchange_group_count(), [](const tls_context &self, std::size_t index) {
        return self.key_exchange_group(index);
    }};
}
inline result<void> tls_options::check() const {
    netlib_error *err = nullptr;
    netlib_status status_c = netlib_tls_options_check(handle(), &err);
    return detail::finish<false>(status_c, err);
}
inline tls_options &tls_options::add_ca_file(const c_text &path) noexcept {
    netlib_tls_options_add_ca_file(handle(), path.c_str());
    return *this;
}
inline tls_options &tls_options::add_ca_dir(const c_text &path) noexcept {
    netlib_tls_options_add_ca_dir(handle(), path.c_str());
    return *this;
}
inline tls_options &tls_options::add_ca_data(span<const std::uint8_t> data) noexcept {
    netlib_tls_options_add_ca_data(handle(), data.data(), data.size());
    return *this;
}
inline tls_options &tls_options::system_trust(bool on) noexcept {
    netlib_tls_options_set_system_trust(handle(), on);
    return *this;
}
inline tls_options &tls_options::server_only(bool on) noexcept {
    netlib_tls_options_set_server_only(handle(), on);
    return *this;
}
inline tls_options &tls_options::keep_trust_anchors(bool on) noexcept {
    netlib_tls_options_set_keep_trust_anchors(handle(), on);
    return *this;
}
inline tls_options &tls_options::embedded_trust(bool on) noexcept {
    netlib_tls_options_set_embedded_trust(handle(), on);
    return *this;
}
inline tls_options &tls_options::identity_files(const c_text &chain_path, const c_text &key_path) noexcept {
    netlib_tls_options_set_identity_files(handle(), chain_path.c_str(), key_path.c_str());
    return *this;
}
inline tls_options &tls_options::identity(span<const std::uint8_t> chain, span<const std::uint8_t> key) noexcept {
    netlib_tls_options_set_identity(handle(), chain.data(), chain.size(), key.data(), key.size());
    return *this;
}
inline tls_options &tls_options::key_password(span<const std::uint8_t> password) noexcept {
    netlib_tls_options_set_key_password(handle(), password.data(), password.size());
    return *this;
}
inline tls_options &tls_options::verify_mode(netlib::verify_mode mode) noexcept {
    netlib_tls_options_set_verify_mode(handle(), static_cast<enum netlib_verify_mode>(mode));
    return *this;
}
inline tls_options &tls_options::check_hostname(bool on) noexcept {
    netlib_tls_options_set_check_hostname(handle(), on);
    return *this;
}
inline tls_options &tls_options::add_pin(const c_text &pin) noexcept {
    netlib_tls_options_add_pin(handle(), pin.c_str());
    return *this;
}
inline tls_options &tls_options::pins_replace_chain(bool on) noexcept {
    netlib_tls_options_set_pins_replace_chain(handle(), on);
    return *this;
}
inline tls_options &tls_options::add_crl_file(const c_text &path) noexcept {
    netlib_tls_options_add_crl_file(handle(), path.c_str());
    return *this;
}
inline tls_options &tls_options::add_crl_data(span<const std::uint8_t> data) noexcept {
    netlib_tls_options_add_crl_data(handle(), data.data(), data.size());
    return *this;
}
inline tls_options &tls_options::verify_flags(verify_flag flags) noexcept {
    netlib_tls_options_set_verify_flags(handle(), static_cast<std::int32_t>(flags));
    return *this;
}
template <class WallClock> inline tls_options &tls_options::wall_clock(WallClock clock) {
    using Held = std::tuple<WallClock>;
    netlib_wall_clock_fn clock_c = nullptr;
    if constexpr (!std::is_null_pointer_v<WallClock>) clock_c = callbacks::wall_clock<Held, 0>;
    Held *held = new Held(std::move(clock));
    netlib_tls_options_set_wall_clock(handle(), clock_c, held, detail::free_held<Held>);
    return *this;
}
inline tls_options &tls_options::minimum_version(tls_version version) noexcept {
    netlib_tls_options_set_minimum_version(handle(), static_cast<enum netlib_tls_version>(version));
    return *this;
}
inline tls_options &tls_options::maximum_version(tls_version version) noexcept {
    netlib_tls_options_set_maximum_version(handle(), static_cast<enum netlib_tls_version>(version));
    return *this;
}
inline tls_options &tls_options::add_alpn_protocol(const c_text &protocol) noexcept {
    netlib_tls_options_add_alpn_protocol(handle(), protocol.c_str());
    return *this;
}
inline tls_options &tls_options::resumption(bool on) noexcept {
    netlib_tls_options_set_resumption(handle(), on);
    return *this;
}
inline tls_options &tls_options::session_tickets(bool on) noexcept {
    netlib_tls_options_set_session_tickets(handle(), on);
    return *this;
}
inline tls_options &tls_options::keylog_file(const c_text &path) noexcept {
    netlib_tls_options_set_keylog_file(handle(), path.c_str());
    return *this;
}
inline tls_options &tls_options::use_environment(bool on) noexcept {
    netlib_tls_options_set_use_environment(handle(), on);
    return *this;
}
inline tls_options &tls_options::ciphers(const c_text &ciphers) noexcept {
    netlib_tls_options_set_ciphers(handle(), ciphers.c_str());
    return *this;
}
inline tls_options &tls_options::key_exchange_groups(const c_text &groups) noexcept {
    netlib_tls_options_set_key_exchange_groups(handle(), groups.c_str());
    return *this;
}
template <class TlsServername> inline tls_options &tls_options::servername_callback(TlsServername callback) {
    using Held = std::tuple<TlsServername>;
    netlib_tls_servername_fn callback_c = nullptr;
    if constexpr (!std::is_null_pointer_v<TlsServername>) callback_c = callbacks::tls_servername<Held, 0>;
    Held *held = new Held(std::move(callback));
    netlib_tls_options_set_servername_callback(handle(), callback_c, held, detail::free_held<Held>);
    return *this;
}
inline tls_options &tls_options::early_data(bool on) noexcept {
    netlib_tls_options_set_early_data(handle(), on);
    return *this;
}
inline tls_options &tls_options::ech_config_list(span<const std::uint8_t> config_list) noexcept {
    netlib_tls_options_set_ech_config_list(handle(), config_list.data(), config_list.size());
    return *this;
}
inline tls_options &tls_options::ech_grease(bool on) noexcept {
    netlib_tls_options_set_ech_grease(handle(), on);
    return *this;
}
inline tls_options &tls_options::npn_protocols(const texts &protocols) noexcept {
    netlib_tls_options_set_npn_protocols(handle(), protocols.data(), protocols.size());
    return *this;
}
inline tls_options &tls_options::hostname_checks_common_name(bool on) noexcept {
    netlib_tls_options_set_hostname_checks_common_name(handle(), on);
    return *this;
}
inline tls_options &tls_options::post_handshake_auth(bool on) noexcept {
    netlib_tls_options_set_post_handshake_auth(handle(), on);
    return *this;
}
inline tls_options &tls_options::option_bits(std::int64_t bits) noexcept {
    netlib_tls_options_set_option_bits(handle(), bits);
    return *this;
}
inline tls_options &tls_options::ssl_version(netlib::ssl_version version) noexcept {
    netlib_tls_options_set_ssl_version(handle(), static_cast<enum netlib_ssl_version>(version));
    return *this;
}
inline result<tls_engine> tls_engine::new_client(const tls_context &context, const c_text &server_hostname) {
    netlib_tls_engine *engine = nullptr;
    netlib_error *err = nullptr;
    netlib_status status_c = netlib_tls_engine_new_client(context.handle(), server_hostname.c_str(), &engine, &err);
    return detail::finish<false>(status_c, err, tls_engine(engine));
}
inline result<tls_engine> tls_engine::new_server(const tls_context &context) {
    netlib_tls_engine *engine = nullptr;
    netlib_error *err = nullptr;
    netlib_status status_c = netlib_tls_engine_new_server(context.handle(), &engine, &err);
    return detail::finish<false>(status_c, err, tls_engine(engine));
}
inline result<std::size_t> tls_engine::feed(span<const std::uint8_t> data) {
    std::size_t n = 0;
    netlib_error *err = nullptr;
    netlib_status status_c = netlib_tls_engine_feed(handle(), data.data(), data.size(), &n, &err);
    return detail::finish<false>(status_c, err, n);
}
inline void tls_engine::feed_eof() noexcept {
    netlib_tls_engine_feed_eof(handle());
}
inline result<std::size_t> tls_engine::drain(span<std::uint8_t> buf) {
    std::size_t n = 0;
    netlib_error *err = nullptr;
    netlib_status status_c = netlib_tls_engine_drain(handle(), buf.data(), buf.size(), &n, &err);
    return detail::finish<false>(status_c, err, n);
}
inline std::size_t tls_engine::output_pending() const noexcept {
    return netlib_tls_engine_output_pending(handle());
}
inline result<status> tls_engine::handshake() {
    netlib_error *err = nullptr;
    netlib_status status_c = netlib_tls_engine_handshake(handle(), &err);
    return detail::finish_progress<true>(status_c, err);
}
inline result<progress<std::size_t>> tls_engine::read(span<std::uint8_t> buf) {
    std::size_t n = 0;
    netlib_error *err = nullptr;
    netlib_status status_c = netlib_tls_engine_read(handle(), buf.data(), buf.size(), &n, &err);
    return detail::finish_progress<true>(status_c, err, n);
}
inline std::size_t tls_engine::pending() noexcept {
    return netlib_tls_engine_pending(handle());
}
inline result<progress<std::size_t>> tls_engine::write(span<const std::uint8_t> buf) {
    std::size_t n = 0;
    netlib_error *err = nullptr;
    netlib_status status_c = netlib_tls_engine_write(handle(), buf.data(), buf.size(), &n, &err);
    return detail::finish_progress<true>(status_c, err, n);
}
inline result<void> tls_engine::shutdown() {
    netlib_error *err = nullptr;
    netlib_status status_c = netlib_tls_engine_shutdown(handle(), &err);
    return detail::finish<false>(status_c, err);
}
inline std::size_t tls_engine::peer_certificate_count() const noexcept {
    return netlib_tls_engine_peer_certificate_count(handle());
}
inline span<const std::uint8_t> tls_engine::peer_certificate(std::size_t index) const & noexcept {
    std::size_t len = 0;
    auto *data = netlib_tls_engine_peer_certificate(handle(), index, &len);
    return span<const std::uint8_t>(data, len);
}
inline text tls_engine::alpn_protocol() const & noexcept {
    std::size_t len = 0;
    auto *data = netlib_tls_engine_alpn_protocol(handle(), &len);
    return text(data, len);
}
inline text tls_engine::server_name() const & noexcept {
    std::size_t len = 0;
    auto *data = netlib_tls_engine_server_name(handle(), &len);
    return text(data, len);
}
inline tls_version tls_engine::version() const noexcept {
    return static_cast<tls_version>(netlib_tls_engine_version(handle()));
}
inline text tls_engine::cipher_suite() const & noexcept {
    std::size_t len = 0;
    auto *data = netlib_tls_engine_cipher_suite(handle(), &len);
    return text(data, len);
}
inline std::int32_t tls_engine::cipher_suite_bits() const noexcept {
    return netlib_tls_engine_cipher_suite_bits(handle());
}
inline text tls_engine::key_exchange_group() const & noexcept {
    std::size_t len = 0;
    auto *data = netlib_tls_engine_key_exchange_group(handle(), &len);
    return text(data, len);
}
inline bool tls_engine::is_resumed() const noexcept {
    return netlib_tls_engine_is_resumed(handle()) != 0;
}
inline result<tls_session> tls_engine::take_session() {
    netlib_tls_session *session = nullptr;
    netlib_error *err = nullptr;
    netlib_status status_c = netlib_tls_engine_take_session(handle(), &session, &err);
    return detail::finish<false>(status_c, err, tls_session(session));
}
inline result<void> tls_engine::set_session(optional_ref<tls_session> session) {
    netlib_error *err = nullptr;
    netlib_status status_c = netlib_tls_engine_set_session(handle(), session.handle(), &err);
    return detail::finish<false>(status_c, err);
}
inline result<progress<std::size_t>> tls_engine::write_early_data(span<const std::uint8_t> buf) {
    std::size_t n = 0;
    netlib_error *err = nullptr;
    netlib_status status_c = netlib_tls_engine_write_early_data(handle(), buf.data(), buf.size(), &n, &err);
    return detail::finish_progress<true>(status_c, err, n);
}
inline netlib::early_data_status tls_engine::early_data_status() const noexcept {
    return static_cast<netlib::early_data_status>(netlib_tls_engine_early_data_status(handle()));
}
inline std::size_t tls_engine::early_data_left() const noexcept {
    return netlib_tls_engine_early_data_left(handle());
}
inline std::size_t tls_engine::early_data_written() const noexcept {
    return netlib_tls_engine_early_data_written(handle());
}
inline netlib::ech_status tls_engine::ech_status() const noexcept {
    return static_cast<netlib::ech_status>(netlib_tls_engine_ech_status(handle()));
}
inline text tls_engine::cipher_suite_openssl_name() const & noexcept {
    std::size_t len = 0;
    auto *data = netlib_tls_engine_cipher_suite_openssl_name(handle(), &len);
    return text(data, len);
}
inline netlib::range<tls_engine, span<const std::uint8_t>> tls_engine::peer_certificates() const & noexcept {
    return {*this, peer_certificate_count(), [](const tls_engine &self, std::size_t index) {
        return self.peer_certificate(index);
    }};
}
inline text tls_session::server_name() const & noexcept {
    std::size_t len = 0;
    auto *data = netlib_tls_session_server_name(handle(), &len);
    return text(data, len);
}
inline tls_version tls_session::version() const noexcept {
    return static_cast<tls_version>(netlib_tls_session_version(handle()));
}
inline std::int64_t tls_session::time() const noexcept {
    return netlib_tls_session_time(handle());
}
inline bool tls_session::is_resumable() const noexcept {
    return netlib_tls_session_is_resumable(handle()) != 0;
}
inline result<certificate> certificate::parse(span<const std::uint8_t> data) {
    netlib_certificate *certificate = nullptr;
    netlib_error *err = nullptr;
    netlib_status status_c = netlib_certificate_parse(data.data(), data.size(), &certificate, &err);
    return detail::finish<false>(status_c, err, netlib::certificate(certificate));
}
inline text certificate::subject() const & noexcept {
    std::size_t len = 0;
    auto *data = netlib_certificate_subject(handle(), &len);
    return text(data, len);
}
inline text certificate::issuer() const & noexcept {
    std::size_t len = 0;
    auto *data = netlib_certificate_issuer(handle(), &len);
    return text(data, len);
}
inline std::size_t certificate::attribute_count(distinguished_name name) const noexcept {
    return netlib_certificate_attribute_count(handle(), static_cast<enum netlib_distinguished_name>(name));
}
inline text certificate::attribute_oid(distinguished_name name, std::size_t index) const & noexcept {
    std::size_t len = 0;
    auto *data = netlib_certificate_attribute_oid(handle(), static_cast<enum netlib_distinguished_name>(name), index,
        &len);
    return text(data, len);
}
inline text certificate::attribute_short_name(distinguished_name name, std::size_t index) const & noexcept {
    std::size_t len = 0;
    auto *data = netlib_certificate_attribute_short_name(handle(), static_cast<enum netlib_distinguished_name>(name),
        index, &len);
    return text(data, len);
}
inline text certificate::attribute_value(distinguished_name name, std::size_t index) const & noexcept {
    std::size_t len = 0;
    auto *data = netlib_certificate_attribute_value(handle(), static_cast<enum netlib_distinguished_name>(name),
        index, &len);
    return text(data, len);
}
inline std::int32_t certificate::attribute_rdn(distinguished_name name, std::size_t index) const noexcept {
    return netlib_certificate_attribute_rdn(handle(), static_cast<enum netlib_distinguished_name>(name), index);
}
inline text certificate::serial() const & noexcept {
    std::size_t len = 0;
    auto *data = netlib_certificate_serial(handle(), &len);
    return text(data, len);
}
inline std::int32_t certificate::version() const noexcept {
    return netlib_certificate_version(handle());
}
inline seconds certificate::not_before() const noexcept {
    return seconds(netlib_certificate_not_before(handle()));
}
inline seconds certificate::not_after() const noexcept {
    return seconds(netlib_certificate_not_after(handle()));
}
inline text certificate::not_before_text() const & noexcept {
    std::size_t len = 0;
    auto *data = netlib_certificate_not_before_text(handle(), &len);
    return text(data, len);
}
inline text certificate::not_after_text() const & noexcept {
    std::size_t len = 0;
    auto *data = netlib_certificate_not_after_text(handle(), &len);
    return text(data, len);
}
inline std::size_t certificate::name_count() const noexcept {
    return netlib_certificate_name_count(handle());
}
inline text certificate::name(std::size_t index) const & noexcept {
    std::size_t len = 0;
    auto *data = netlib_certificate_name(handle(), index, &len);
    return text(data, len);
}
inline certificate_name_kind certificate::name_kind(std::size_t index) const noexcept {
    return static_cast<certificate_name_kind>(netlib_certificate_name_kind(handle(), index));
}
inline text certificate::public_key_algorithm() const & noexcept {
    std::size_t len = 0;
    auto *data = netlib_certificate_public_key_algorithm(handle(), &len);
    return text(data, len);
}
inline text certificate::public_key_curve() const & noexcept {
    std::size_t len = 0;
    auto *data = netlib_certificate_public_key_curve(handle(), &len);
    return text(data, len);
}
inline std::size_t certificate::public_key_bits() const noexcept {
    return netlib_certificate_public_key_bits(handle());
}
inline text certificate::signature_algorithm() const & noexcept {
    std::size_t len = 0;
    auto *data = netlib_certificate_signature_algorithm(handle(), &len);
    return text(data, len);
}
inline bool certificate::is_ca() const noexcept {
    return netlib_certificate_is_ca(handle()) != 0;
}
inline bool certificate::is_self_issued() const noexcept {
    return netlib_certificate_is_self_issued(handle()) != 0;
}
inline span<const std::uint8_t> certificate::der() const & noexcept {
    std::size_t len = 0;
    auto *data = netlib_certificate_der(handle(), &len);
    return span<const std::uint8_t>(data, len);
}
inline text certificate::fingerprint() const & noexcept {
    std::size_t len = 0;
    auto *data = netlib_certificate_fingerprint(handle(), &len);
    return text(data, len);
}
inline text certificate::public_key_pin() const & noexcept {
    std::size_t len = 0;
    auto *data = netlib_certificate_public_key_pin(handle(), &len);
    return text(data, len);
}
inline netlib::range<certificate, certificate::name_item> certificate::names() const & noexcept {
    return {*this, name_count(), [](const certificate &self, std::size_t index) {
        return certificate::name_item{self.name(index), self.name_kind(index)};
    }};
}
inline std::size_t nts() noexcept {
    return netlib_nts();
}
inline text version() noexcept {
    return text(netlib_version());
}
inline std::int32_t version_number() noexcept {
    return netlib_version_number();
}
inline text status_name(netlib::status status) noexcept {
    return text(netlib_status_name(static_cast<netlib_status>(status)));
}
inline text status_text(netlib::status status) noexcept {
    return text(netlib_status_text(static_cast<netlib_status>(status)));
}
inline class_ status_class(netlib::status status) noexcept {
    return static_cast<class_>(netlib_status_class(static_cast<netlib_status>(status)));
}
inline retry_kind status_retry_kind(netlib::status status) noexcept {
    return static_cast<retry_kind>(netlib_status_retry_kind(static_cast<netlib_status>(status)));
}
inline result<netlib::url> parse_url(std::string_view url) {
    netlib_url *out = nullptr;
    netlib_error *err = nullptr;
    netlib_status status_c = netlib_parse_url(url.data(), url.size(), &out, &err);
    return detail::finish<false>(status_c, err, netlib::url(out));
}
inline result<netlib::url> parse_url_strict(std::string_view url) {
    netlib_url *out = nullptr;
    netlib_error *err = nullptr;
    netlib_status status_c = netlib_parse_url_strict(url.data(), url.size(), &out, &err);
    return detail::finish<false>(status_c, err, netlib::url(out));
}
inline result<bytes> percent_encode(url_component component, span<const std::uint8_t> data) {
    netlib_bytes *text = nullptr;
    netlib_error *err = nullptr;
    netlib_status status_c = netlib_percent_encode(static_cast<enum netlib_url_component>(component), data.data(),
        data.size(), &text, &err);
    return detail::finish<false>(status_c, err, bytes(text));
}
inline result<bytes> percent_decode(url_component component, std::string_view text) {
    netlib_bytes *data = nullptr;
    netlib_error *err = nullptr;
    netlib_status status_c = netlib_percent_decode(static_cast<enum netlib_url_component>(component), text.data(),
        text.size(), &data, &err);
    return detail::finish<false>(status_c, err, bytes(data));
}
inline result<bool> no_proxy_match(const c_text &list, optional_ref<netlib::url> url) {
    return detail::unless_refused(list, netlib_no_proxy_match(list.c_str(), url.handle()) != 0);
}
inline result<url_readings> url_compare_readers(std::string_view text) {
    netlib_url_readings *readings = nullptr;
    netlib_error *err = nullptr;
    netlib_status status_c = netlib_url_compare_readers(text.data(), text.size(), &readings, &err);
    return detail::finish<false>(status_c, err, url_readings(readings));
}
inline seconds timeout_none() noexcept {
    return seconds(netlib_timeout_none());
}
inline result<void> set_default_timeout(netlib::seconds seconds) {
    netlib_error *err = nullptr;
    netlib_status status_c = netlib_set_default_timeout(seconds.count(), &err);
    return detail::finish<false>(status_c, err);
}
inline seconds default_timeout() noexcept {
    return seconds(netlib_default_timeout());
}
inline span<const char *const> retry_default_allowed_methods() noexcept {
    std::size_t count = 0;
    auto *data = netlib_retry_default_allowed_methods(&count);
    return span<const char *const>(data, count);
}
inline span<const char *const> retry_default_remove_headers_on_redirect() noexcept {
    std::size_t count = 0;
    auto *data = netlib_retry_default_remove_headers_on_redirect(&count);
    return span<const char *const>(data, count);
}
inline span<const char *const> sensitive_headers() noexcept {
    std::size_t count = 0;
    auto *data = netlib_sensitive_headers(&count);
    return span<const char *const>(data, count);
}
inline span<const std::int32_t> retry_after_status_codes() noexcept {
    std::size_t count = 0;
    auto *data = netlib_retry_after_status_codes(&count);
    return span<const std::int32_t>(data, count);
}
inline span<const std::int32_t> redirect_status_codes() noexcept {
    std::size_t count = 0;
    auto *data = netlib_redirect_status_codes(&count);
    return span<const std::int32_t>(data, count);
}
inline seconds retry_default_backoff_max() noexcept {
    return seconds(netlib_retry_default_backoff_max());
}
inline result<headers> make_headers(optional_ref<headers_options> options) {
    netlib_headers *headers = nullptr;
    netlib_error *err = nullptr;
    netlib_status status_c = netlib_make_headers(options.handle(), &headers, &err);
    return detail::finish<false>(status_c, err, netlib::headers(headers));
}
inline bool is_response_to_head(optional_ref<netlib::response> response) noexcept {
    return netlib_is_response_to_head(response.handle()) != 0;
}
inline result<std::int64_t> set_file_position(netlib::body &body, std::int64_t pos) {
    std::int64_t out_pos = 0;
    netlib_error *err = nullptr;
    netlib_status status_c = netlib_set_file_position(body.handle(), pos, &out_pos, &err);
    return detail::finish<true>(status_c, err, out_pos);
}
inline result<void> rewind_body(netlib::body &body, std::int64_t pos) {
    netlib_error *err = nullptr;
    netlib_status status_c = netlib_rewind_body(body.handle(), pos, &err);
    return detail::finish<true>(status_c, err);
}
inline result<span<const std::uint8_t>> chunk_encode(span<std::uint8_t> buf, std::size_t data_len) {
    const uint8_t *chunk = nullptr;
    std::size_t chunk_len = 0;
    netlib_error *err = nullptr;
    netlib_status status_c = netlib_chunk_encode(buf.data(), buf.size(), data_len, &chunk, &chunk_len, &err);
    return detail::finish<false>(status_c, err, span<const std::uint8_t>(chunk, chunk_len));
}
inline result<std::size_t> chunk_encode_last(optional_ref<headers> trailers, span<std::uint8_t> buf) {
    std::size_t len = 0;
    netlib_error *err = nullptr;
    netlib_status status_c = netlib_chunk_encode_last(trailers.handle(), buf.data(), buf.size(), &len, &err);
    return detail::finish<false>(status_c, err, len);
}
inline result<descriptor> create_connection(const c_text &host, std::int32_t port,
    optional_ref<connect_options> options, optional_ref<netlib::limit> limit) {
    int fd = -1;
    netlib_error *err = nullptr;
    netlib_status status_c = netlib_create_connection(host.c_str(), port, options.handle(), limit.handle(), &fd,
        &err);
    return detail::finish<true>(status_c, err, descriptor(fd));
}
inline result<address_class> classify_address(span<const std::uint8_t> address) {
    std::int32_t classes = 0;
    netlib_error *err = nullptr;
    netlib_status status_c = netlib_classify_address(address.data(), address.size(), &classes, &err);
    return detail::finish<false>(status_c, err, static_cast<address_class>(classes));
}
inline result<address_class> classify_address_text(const c_text &text) {
    std::int32_t classes = 0;
    netlib_error *err = nullptr;
    netlib_status status_c = netlib_classify_address_text(text.c_str(), &classes, &err);
    return detail::finish<false>(status_c, err, static_cast<address_class>(classes));
}
inline text address_class_name(address_class classes) noexcept {
    return text(netlib_address_class_name(static_cast<std::int32_t>(classes)));
}
inline result<descriptor> create_unix_connection(std::string_view path, optional_ref<connect_options> options,
    optional_ref<netlib::limit> limit) {
    int fd = -1;
    netlib_error *err = nullptr;
    netlib_status status_c = netlib_create_unix_connection(path.data(), path.size(), options.handle(),
        limit.handle(), &fd, &err);
    return detail::finish<true>(status_c, err, descriptor(fd));
}
inline result<progress<std::int32_t>> wait(int fd, std::int32_t events, seconds timeout,
    optional_ref<netlib::limit> limit) {
    std::int32_t ready = 0;
    netlib_error *err = nullptr;
    netlib_status status_c = netlib_wait(fd, events, timeout.count(), limit.handle(), &ready, &err);
    return detail::finish_progress<true>(status_c, err, ready);
}
inline result<status> wait_for_read(int fd, seconds timeout, optional_ref<netlib::limit> limit) {
    netlib_error *err = nullptr;
    netlib_status status_c = netlib_wait_for_read(fd, timeout.count(), limit.handle(), &err);
    return detail::finish_progress<true>(status_c, err);
}
inline result<status> wait_for_write(int fd, seconds timeout, optional_ref<netlib::limit> limit) {
    netlib_error *err = nullptr;
    netlib_status status_c = netlib_wait_for_write(fd, timeout.count(), limit.handle(), &err);
    return detail::finish_progress<true>(status_c, err);
}
inline result<bool> is_connection_dropped(int fd) {
    std::int32_t dropped = 0;
    netlib_error *err = nullptr;
    netlib_status status_c = netlib_is_connection_dropped(fd, &dropped, &err);
    return detail::finish<false>(status_c, err, dropped != 0);
}
inline result<stream> tls_wrap_fd(const tls_context &context, int fd, const c_text &server_hostname) {
    netlib_stream *stream = nullptr;
    netlib_error *err = nullptr;
    netlib_status status_c = netlib_tls_wrap_fd(context.handle(), fd, server_hostname.c_str(), &stream, &err);
    return detail::finish<false>(status_c, err, netlib::stream(stream));
}
inline result<stream> tls_accept_fd(const tls_context &context, int fd) {
    netlib_stream *stream = nullptr;
    netlib_error *err = nullptr;
    netlib_status status_c = netlib_tls_accept_fd(context.handle(), fd, &stream, &err);
    return detail::finish<false>(status_c, err, netlib::stream(stream));
}
inline result<stream> tls_wrap_stream(const tls_context &context, stream &outer, const c_text &server_hostname) {
    netlib_stream *stream = nullptr;
    netlib_error *err = nullptr;
    netlib_status status_c = netlib_tls_wrap_stream(context.handle(), outer.handle(), server_hostname.c_str(),
        &stream, &err);
    return detail::finish<false>(status_c, err, netlib::stream(stream));
}
inline result<stream> tls_accept_stream(const tls_context &context, stream &outer) {
    netlib_stream *stream = nullptr;
    netlib_error *err = nullptr;
    netlib_status status_c = netlib_tls_accept_stream(context.handle(), outer.handle(), &stream, &err);
    return detail::finish<false>(status_c, err, netlib::stream(stream));
}
template <class StreamRead, class StreamWrite> inline result<stream> tls_wrap_callbacks(const tls_context &context,
    const c_text &server_hostname, StreamRead read_fn, StreamWrite write_fn) {
    using Held = std::tuple<StreamRead, StreamWrite>;
    netlib_stream_read_fn read_fn_c = nullptr;
    if constexpr (!std::is_null_pointer_v<StreamRead>) read_fn_c = callbacks::stream_read<Held, 0>;
    netlib_stream_write_fn write_fn_c = nullptr;
    if constexpr (!std::is_null_pointer_v<StreamWrite>) write_fn_c = callbacks::stream_write<Held, 1>;
    netlib_stream *stream = nullptr;
    netlib_error *err = nullptr;
    Held *held = new Held(std::move(read_fn), std::move(write_fn));
    netlib_status status_c = netlib_tls_wrap_callbacks(context.handle(), server_hostname.c_str(), read_fn_c,
        write_fn_c, held, detail::free_held<Held>, &stream, &err);
    return detail::finish<false>(status_c, err, netlib::stream(stream));
}
template <class StreamRead, class StreamWrite> inline result<stream> tls_accept_callbacks(const tls_context &context,
    StreamRead read_fn, StreamWrite write_fn) {
    using Held = std::tuple<StreamRead, StreamWrite>;
    netlib_stream_read_fn read_fn_c = nullptr;
    if constexpr (!std::is_null_pointer_v<StreamRead>) read_fn_c = callbacks::stream_read<Held, 0>;
    netlib_stream_write_fn write_fn_c = nullptr;
    if constexpr (!std::is_null_pointer_v<StreamWrite>) write_fn_c = callbacks::stream_write<Held, 1>;
    netlib_stream *stream = nullptr;
    netlib_error *err = nullptr;
    Held *held = new Held(std::move(read_fn), std::move(write_fn));
    netlib_status status_c = netlib_tls_accept_callbacks(context.handle(), read_fn_c, write_fn_c, held,
        detail::free_held<Held>, &stream, &err);
    return detail::finish<false>(status_c, err, netlib::stream(stream));
}
inline result<void> connection_key(const netlib::url &url, optional_ref<netlib::url> proxy,
    optional_ref<tls_context> context, optional_ref<netlib::connect_options> connect_options,
    span<const netlib_slice> slices, span<std::uint8_t> key) {
    netlib_error *err = nullptr;
    netlib_status status_c = netlib_connection_key(url.handle(), proxy.handle(), context.handle(),
        connect_options.handle(), slices.data(), slices.size(), reinterpret_cast<char *>(key.data()), key.size(),
        &err);
    return detail::finish<false>(status_c, err);
}
inline result<void> assert_header_parsing(std::string_view block) {
    netlib_error *err = nullptr;
    netlib_status status_c = netlib_assert_header_parsing(block.data(), block.size(), &err);
    return detail::finish<false>(status_c, err);
}
inline result<bool> is_fp_closed(netlib::body &body) {
    std::int32_t closed = 0;
    netlib_error *err = nullptr;
    netlib_status status_c = netlib_is_fp_closed(body.handle(), &closed, &err);
    return detail::finish<true>(status_c, err, closed != 0);
}
inline std::int32_t allowed_gai_family() noexcept {
    return netlib_allowed_gai_family();
}
inline seconds current_time() noexcept {
    return seconds(netlib_current_time());
}
inline result<void> assert_fingerprint(span<const std::uint8_t> cert, const c_text &fingerprint) {
    netlib_error *err = nullptr;
    netlib_status status_c = netlib_assert_fingerprint(cert.data(), cert.size(), fingerprint.c_str(), &err);
    return detail::finish<false>(status_c, err);
}
inline result<progress<stream>> ssl_wrap_socket(int fd, optional_ref<netlib::tls_options> tls_options,
    optional_ref<tls_context> context, const c_text &server_hostname, optional_ref<netlib::limit> limit) {
    netlib_stream *stream = nullptr;
    netlib_error *err = nullptr;
    netlib_status status_c = netlib_ssl_wrap_socket(fd, tls_options.handle(), context.handle(),
        server_hostname.c_str(), limit.handle(), &stream, &err);
    return detail::finish_progress<true>(status_c, err, netlib::stream(stream));
}
inline result<std::int32_t> resolve_cert_reqs(const c_text &candidate) {
    std::int32_t number = 0;
    netlib_error *err = nullptr;
    netlib_status status_c = netlib_resolve_cert_reqs(candidate.c_str(), &number, &err);
    return detail::finish<false>(status_c, err, number);
}
inline result<std::int32_t> resolve_ssl_version(const c_text &candidate) {
    std::int32_t number = 0;
    netlib_error *err = nullptr;
    netlib_status status_c = netlib_resolve_ssl_version(candidate.c_str(), &number, &err);
    return detail::finish<false>(status_c, err, number);
}
inline span<const char *const> retry_default_method_whitelist() noexcept {
    std::size_t count = 0;
    auto *data = netlib_retry_default_method_whitelist(&count);
    return span<const char *const>(data, count);
}
inline span<const char *const> retry_default_redirect_headers_blacklist() noexcept {
    std::size_t count = 0;
    auto *data = netlib_retry_default_redirect_headers_blacklist(&count);
    return span<const char *const>(data, count);
}
inline seconds backoff_max() noexcept {
    return seconds(netlib_backoff_max());
}
inline result<netlib::url> get_host(std::string_view url) {
    netlib_url *out = nullptr;
    netlib_error *err = nullptr;
    netlib_status status_c = netlib_get_host(url.data(), url.size(), &out, &err);
    return detail::finish<false>(status_c, err, netlib::url(out));
}
inline result<split_first_result> split_first(std::string_view text, const texts &delimiters) {
    std::size_t before_end = 0;
    std::size_t after_start = 0;
    std::int64_t delimiter = 0;
    netlib_error *err = nullptr;
    netlib_status status_c = netlib_split_first(text.data(), text.size(), delimiters.data(), delimiters.size(),
        &before_end, &after_start, &delimiter, &err);
    return detail::finish<false>(status_c, err, split_first_result{before_end, after_start, delimiter});
}
inline const char *error::what() const noexcept {
    const char *text = netlib_error_message(handle(), nullptr);
    return text != nullptr ? text : "netlib::error without a handle";
}

} // namespace NETLIB_HPP_MODE
} // namespace netlib

#if defined(__GNUC__) || defined(__clang__)
#pragma GCC diagnostic pop
#endif
#undef NETLIB_HPP_MODE
#undef NETLIB_HPP_THROWS
#endif
#endif
