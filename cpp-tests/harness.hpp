/* What the C++ tests share: checks that are counted, and the last line of the output. */
#ifndef HARNESS_HPP
#define HARNESS_HPP

#include <netlib.hpp>

#include <iostream>
#include <sstream>
#include <string>

inline int checks_passed, checks_failed;

inline void check_at(bool ok, const char *what, const char *file, int line) {
    ok ? ++checks_passed : ++checks_failed;
    if (!ok) std::cout << file << ':' << line << ": " << what << '\n';
}

template <class T> std::string shown(const T &value) {
    std::ostringstream out;
    if constexpr (std::is_enum_v<T>) {
        out << static_cast<std::int64_t>(value);
    } else {
        out << value;
    }
    return out.str();
}

template <class Got, class Wanted>
void equal_at(const Got &got, const Wanted &wanted, const char *what, const char *file, int line) {
    bool ok = got == wanted;
    ok ? ++checks_passed : ++checks_failed;
    if (!ok)
        std::cout << file << ':' << line << ": " << what << " is " << shown(got) << ", not " << shown(wanted) << '\n';
}

#define CHECK(condition) check_at(static_cast<bool>(condition), #condition, __FILE__, __LINE__)
#define EQUAL(got, wanted) equal_at(got, wanted, #got, __FILE__, __LINE__)

#ifndef FAILS
/** Checks that an expression throws a netlib::error with the given status and a message with the given part. */
#define FAILS(expression, wanted, part) \
    do { \
        bool thrown = false; \
        try { \
            (void)(expression); \
        } catch (const netlib::error &error) { \
            thrown = true; \
            EQUAL(error.status(), wanted); \
            if (std::string(error.what()).find(part) == std::string::npos) \
                EQUAL(std::string_view(error.what()), part); \
        } \
        check_at(thrown, #expression " throws", __FILE__, __LINE__); \
    } while (false)
#endif

inline int finish(const char *name) {
    std::cout << name << ": " << checks_passed << " passed, " << checks_failed << " failed\n";
    return checks_failed != 0;
}

#endif
