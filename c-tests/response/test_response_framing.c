/*
 * Compares netlib's body framing with h11 and llhttp. tests/vectors/framing.py recorded the results of both parsers for
 * mutated Transfer-Encoding and Content-Length fields, methods and statuses. netlib may refuse heads that h11 and
 * llhttp accept. For each head that netlib accepts, the result of each parser must equal netlib's result, or differ
 * from it for one of the reasons in the table.
 */
#define _POSIX_C_SOURCE 200809L
#include "vectors/vectors.h"
#include <strings.h>

/* A response head, and the body framing that netlib finds: "none", "length N", "chunked", "close" or "refused". */
struct head {
    const char *method, *fields;
    int status;
    char netlib[40];
};

/* Returns the value of the next field named `name` at or after `*at`, without surrounding whitespace, or NULL. */
static const char *value_of(const char **at, const char *name, size_t *len) {
    size_t name_len = strlen(name);
    while (**at != '\0') {
        const char *line = *at, *end = line;
        do {
            end += strcspn(end, "\n");
            end += *end == '\n';
        } while (*end == ' ' || *end == '\t');
        *at = end;
        if (strncasecmp(line, name, name_len) != 0 || line[name_len] != ':') continue;
        line += name_len + 1;
        line += strspn(line, " \t\r\n");
        while (end > line && strchr(" \t\r\n", end[-1]) != NULL) end--;
        *len = end > line ? (size_t)(end - line) : 0;
        return line;
    }
    return NULL;
}

/* Returns the number of list elements in all fields named `name`. */
static size_t elements(const struct head *head, const char *name) {
    size_t count = 0, len = 0;
    const char *at = head->fields, *value;
    while ((value = value_of(&at, name, &len)) != NULL) {
        count++;
        for (size_t i = 0; i < len; i++) count += value[i] == ',';
    }
    return count;
}

/* The reasons for which h11 or llhttp finds a different framing from netlib, or refuses the head. Each reason has a
 * function that returns true for the heads to which the reason applies. */

/* Responses to HEAD, and responses with the statuses 1xx, 204 and 304, have no body, even if a field announces one (RFC
 * 9112 section 6.3). h11 and llhttp read the fields first, and llhttp knows only the statuses 100 to 103. */
static bool no_body(const struct head *head) { return strcmp(head->netlib, "none") == 0; }

/* RFC 9112 section 7 allows any token as a transfer coding, but h11 supports only chunked. */
static bool other_codings(const struct head *head) {
    size_t len = 0;
    const char *at = head->fields, *value;
    while ((value = value_of(&at, "Transfer-Encoding", &len)) != NULL) {
        if (len != 7 || strncasecmp(value, "chunked", len) != 0) return true;
    }
    return false;
}

/* RFC 9112 section 6.3: Transfer-Encoding overrides Content-Length. h11 or llhttp may refuse a head with both
 * fields. */
static bool codings_and_length(const struct head *head) {
    return elements(head, "Transfer-Encoding") > 0 && elements(head, "Content-Length") > 0;
}

/* RFC 9110 section 8.6 allows a Content-Length list that repeats one number. llhttp accepts no list, and h11 regards 5
 * and 05 as different numbers. */
static bool one_length_repeated(const struct head *head) { return elements(head, "Content-Length") > 1; }

/* RFC 9110 section 5.6.3 allows spaces and tabs around a value, but llhttp allows only spaces here. */
static bool tab(const struct head *head) { return strchr(head->fields, '\t') != NULL; }

/* A user agent joins folded lines (RFC 9112 section 5.2), but llhttp refuses them. */
static bool folded(const struct head *head) {
    return strstr(head->fields, "\r\n ") != NULL || strstr(head->fields, "\r\n\t") != NULL;
}

/* RFC 9110 section 5.5 allows a recipient to keep control characters other than CR, LF and NUL in a value, but h11 or
 * llhttp may refuse the head. */
static bool control(const struct head *head) {
    for (const char *at = head->fields; *at != '\0'; at++) {
        if ((unsigned char)*at < ' ' && strchr("\t\r\n", *at) == NULL) return true;
    }
    return false;
}

enum { H11 = 1, LLHTTP = 2 };

static const struct {
    const char *name;
    int whose;
    const char *answers; /* NULL: any result */
    bool (*applies)(const struct head *head);
} reasons[] = {
    {"no body, although fields announce one", H11 | LLHTTP, NULL, no_body},
    {"codings other than chunked", H11, "refused", other_codings},
    {"codings override a length", H11 | LLHTTP, "refused", codings_and_length},
    {"one length repeated", H11 | LLHTTP, "refused", one_length_repeated},
    {"folded lines", LLHTTP, "refused", folded},
    {"a tab at the end of a length", LLHTTP, "refused", tab},
    {"a tab at the end of chunked", LLHTTP, "close", tab},
    {"control characters", H11 | LLHTTP, "refused", control},
};
enum { REASONS = sizeof reasons / sizeof reasons[0] };

static void run_netlib(struct head *head) {
    netlib_error *err = NULL;
    netlib_response *response = NULL;
    size_t head_len = 0, room = strlen(head->fields) + 40;
    enum netlib_body_framing framing = NETLIB_BODY_FRAMING_NONE;
    int64_t length = -1;
    char *text = malloc(room);
    if (text == NULL) abort();
    int len = snprintf(text, room, "HTTP/1.1 %d x\r\n%s\r\n", head->status, head->fields);
    netlib_status status = netlib_response_parse(head->method, text, (size_t)len, NULL, &response, &head_len, &err);
    if (status == NETLIB_OK) status = netlib_response_framing(response, &framing, &length, &err);
    if (status != NETLIB_OK) CHECK_INT(NETLIB_PROTOCOL, status);
    static const char *const names[] = {"none", "length", "chunked", "close"};
    snprintf(head->netlib, sizeof head->netlib, "%s", status == NETLIB_OK ? names[framing] : "refused");
    if (status == NETLIB_OK && framing == NETLIB_BODY_FRAMING_LENGTH) {
        snprintf(head->netlib, sizeof head->netlib, "length %lld", (long long)length);
    }
    netlib_error_free(err);
    netlib_response_free(response);
    free(text);
}

static void accepted_framing_differs_from_h11_and_llhttp_only_for_listed_reasons(void) {
    static const char *const parsers[] = {"h11", "llhttp"};
    size_t equal[2] = {0}, stricter[2] = {0}, other[REASONS] = {0};
    vectors_file file = read_vectors("tests/vectors", "parsers", "framing");
    CHECK(file.count > 4000);
    for (size_t i = 0; i < file.count; i++) {
        char *input = file.cases[i].input, *answers = file.cases[i].answer;
        struct head head = {.method = next_word(&input)};
        head.status = atoi(next_word(&input));
        size_t len = 0;
        head.fields = next_text(&input, &len);
        if (strlen(head.fields) != len) continue; /* all parsers refuse NUL: test_response.c */
        run_netlib(&head);
        for (int p = 0; p < 2; p++) {
            const char *answer = next_line(&answers);
            size_t reason = 0;
            if (strcmp(answer, "\\?") == 0) continue;
            if (strcmp(answer, head.netlib) == 0) {
                equal[p]++;
                continue;
            }
            if (strcmp(head.netlib, "refused") == 0) {
                stricter[p]++;
                continue;
            }
            while (reason < REASONS &&
                   !((reasons[reason].whose & (p + 1)) != 0 &&
                     (reasons[reason].answers == NULL || strcmp(reasons[reason].answers, answer) == 0) &&
                     reasons[reason].applies(&head))) {
                reason++;
            }
            CHECK(reason < REASONS);
            if (reason < REASONS) other[reason]++;
            if (reason == REASONS) {
                printf("%s %d %s: netlib %s, %s %s\n", head.method, head.status, head.fields, head.netlib, parsers[p],
                       answer);
            }
        }
    }
    for (int p = 0; p < 2; p++) {
        printf("%s: %zu equal, %zu refused by netlib alone\n", parsers[p], equal[p], stricter[p]);
        CHECK(equal[p] > 1000 && stricter[p] > 0);
    }
    for (size_t i = 0; i < REASONS; i++) {
        printf("%s: %zu\n", reasons[i].name, other[i]);
        CHECK(other[i] > 0);
    }
    free_vectors(&file);
}

int main(void) {
    accepted_framing_differs_from_h11_and_llhttp_only_for_listed_reasons();
    return report("response_framing");
}
