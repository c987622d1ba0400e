/* Tests that redirects have none of the vulnerabilities that other libraries had. docs/reference/incidents.md lists the
 * vulnerabilities with their tests. */
#include "retry_makers.h"

enum { MANY = 64 };

/* Returns options that retry 503 for every method, without a limit on the counts. */
static netlib_retry_options *options_without_limit(int32_t profile) {
    static const int32_t codes[] = {503};
    netlib_retry_options *options = netlib_retry_options_new();
    netlib_retry_options_set_total(options, NETLIB_NONE);
    netlib_retry_options_allow_any_method(options);
    netlib_retry_options_set_status_forcelist(options, codes, 1);
    netlib_retry_options_set_redirect_profile(options, profile);
    return options;
}

static netlib_status decide(const netlib_retry *retry, const char *method, const char *url, int status,
                            const char *location, netlib_decision **decision, netlib_error **err) {
    char fields[256] = "";
    netlib_url *parsed = url_of(url);
    if (location != NULL) snprintf(fields, sizeof fields, "Location: %s\r\n", location);
    netlib_response *response = response_of(status, fields);
    netlib_status outcome = netlib_retry_decide(retry, method, parsed, response, NULL, NULL, decision, err);
    netlib_response_free(response);
    netlib_url_free(parsed);
    return outcome;
}

static bool drops(const netlib_decision *decision, const char *name) {
    return netlib_decision_drops_header(decision, name);
}

/* Checks the kept headers against `expected`, which has their names, each followed by a space. netlib_decision_headers
 * and netlib_decision_drops_header must agree. */
static void check_kept(const char *expected, const netlib_decision *decision, const netlib_headers *request) {
    netlib_error *err = NULL;
    netlib_headers *next = NULL;
    char kept[2048] = "";
    char not_dropped[2048] = "";
    CHECK_OK(netlib_decision_headers(decision, request, &next, &err));
    for (size_t i = 0; i < netlib_headers_count(next); i++)
        strcat(strcat(kept, netlib_headers_name(next, i, NULL)), " ");
    for (size_t i = 0; i < netlib_headers_count(request); i++) {
        const char *name = netlib_headers_name(request, i, NULL);
        if (!drops(decision, name)) strcat(strcat(not_dropped, name), " ");
    }
    CHECK_STR(expected, kept);
    CHECK_STR(expected, not_dropped);
    netlib_headers_free(next);
}

/* Writes the name in lower case, upper case, with capitalized words, or with alternating case. */
static const char *cased(char *into, const char *name, int casing) {
    bool first = true;
    size_t i = 0;
    for (; name[i] != '\0'; i++) {
        char lower = name[i] >= 'A' && name[i] <= 'Z' ? (char)(name[i] + 32) : name[i];
        char upper = lower >= 'a' && lower <= 'z' ? (char)(lower - 32) : lower;
        const char in_casing[] = {lower, upper, first ? upper : lower, i % 2 == 0 ? lower : upper};
        into[i] = in_casing[casing];
        first = name[i] == '-';
    }
    into[i] = '\0';
    return into;
}

static void redirects_to_other_origins_drop_sensitive_headers_in_any_letter_case(void) {
    static const struct {
        const char *from, *location;
        bool leaves;
    } pairs[] = {
        {"http://a.test/", "/x", false},
        {"http://a.test/", "http://A.TEST:80/x", false},
        {"http://a.test/", "//a.test/x", false},
        {"http://a.test/", "http://me:pw@a.test/", false},
        {"http://a.test/", "http://%61.test/", false},
        {"http://b\xc3\xbc"
         "cher.test/",
         "http://XN--BCHER-KVA.test/", false},
        {"https://a.test/", "https://a.test:443/", false},
        {"http://a.test/", "http://a.test:8080/", true},
        {"http://a.test:8080/", "http://a.test/", true},
        {"http://a.test/", "https://a.test/", true},
        {"http://a.test:443/", "https://a.test:443/", true},
        {"http://a.test/", "http://x.a.test/", true},
        {"http://x.a.test/", "http://a.test/", true},
        {"http://a.test/", "//b.test/", true},
        {"http://a.test/", "http://a.test.b.test/", true},
        {"http://a.test/", "http://a.test./", true},
        {"http://a.test/", "http://a.test@b.test/", true},
        {"http://a.test/", "http://b.test#@a.test/", true},
        {"http://127.0.0.1/", "http://[::1]/", true},
    };
    static const char *const names[] = {"authorization", "cookie", "proxy-authorization", "x-api-key"};
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        for (int casing = 0; casing < 4; casing++) {
            for (int profile = NETLIB_REDIRECT_URLLIB3; profile <= NETLIB_REDIRECT_SAFE; profile++) {
                netlib_error *err = NULL;
                netlib_decision *decision = NULL;
                char cases[4][32];
                const char *request_names[] = {cased(cases[0], names[0], casing),
                                               cased(cases[1], names[1], casing),
                                               cased(cases[2], names[2], casing),
                                               cased(cases[3], names[3], casing),
                                               "Accept",
                                               "Authorization",
                                               "COOKIE"};
                char all[256] = "";
                for (size_t n = 0; n < 7; n++) strcat(strcat(all, request_names[n]), " ");
                netlib_headers *request = headers_of(request_names, 7);
                netlib_retry_options *options = options_without_limit(profile);
                if (profile == NETLIB_REDIRECT_URLLIB3) netlib_retry_options_add_sensitive_headers(options);
                netlib_retry *retry = retry_of(options);
                CHECK_OK(decide(retry, "GET", pairs[i].from, 302, pairs[i].location, &decision, &err));
                check_kept(pairs[i].leaves ? "Accept " : all, decision, request);
                netlib_decision_free(decision);
                netlib_retry_free(retry);
                netlib_headers_free(request);
            }
        }
    }
    /* With the default options, Authorization is dropped and Cookie is kept. */
    static const char *const usual[] = {"AUTHORIZATION", "Cookie"};
    netlib_headers *request = headers_of(usual, 2);
    netlib_retry *retry = retry_of(netlib_retry_options_new());
    netlib_error *err = NULL;
    netlib_decision *decision = NULL;
    CHECK_OK(decide(retry, "GET", "http://a.test/", 302, "http://b.test/", &decision, &err));
    check_kept("Cookie ", decision, request);
    netlib_decision_free(decision);
    netlib_retry_free(retry);
    netlib_headers_free(request);
}

static void dropped_headers_stay_dropped_for_the_rest_of_the_redirect_chain(void) {
    static const struct {
        const char *url, *location, *kept; /* NULL location: a 503 that is retried */
    } chains[][4] = {
        {{"http://a/", "http://b/", "Accept "},
         {"http://b/", "/x", "Accept "},
         {"http://b/x", "/y", "Accept "},
         {"http://b/y", "http://b:80/", "Accept "}},
        {{"http://a/", "http://b/", "Accept "},
         {"http://b/", "http://a/", "Accept "},
         {"http://a/", "/x", "Accept "},
         {"http://a/x", NULL, "Accept "}},
        {{"http://a/", "http://x.a/", "Accept "},
         {"http://x.a/", NULL, "Accept "},
         {"http://x.a/", "http://a/", "Accept "},
         {"http://a/", "http://x.a/", "Accept "}},
        {{"http://a/", "https://a/", "Accept "},
         {"https://a/", NULL, "Accept "},
         {"https://a/", "/", "Accept "},
         {"https://a/", "https://b/", "Accept "}},
        {{"http://a/", NULL, "Authorization Accept "},
         {"http://a/", "/x", "Authorization Accept "},
         {"http://a/x", "http://b/", "Accept "},
         {"http://b/", "http://a/", "Accept "}},
    };
    static const char *const names[] = {"Authorization", "Accept"};
    /* The caller continues with the decision's Retry, with a clone of that Retry, or with a Retry created from its
     * options. */
    for (int way = 0; way < 3; way++) {
        for (size_t c = 0; c < sizeof chains / sizeof chains[0]; c++) {
            for (int profile = NETLIB_REDIRECT_URLLIB3; profile <= NETLIB_REDIRECT_SAFE; profile++) {
                netlib_headers *request = headers_of(names, 2);
                netlib_retry *first = retry_of(options_without_limit(profile));
                netlib_retry *retry = netlib_retry_clone(first);
                for (size_t hop = 0; hop < 4; hop++) {
                    netlib_error *err = NULL;
                    netlib_decision *decision = NULL;
                    int status = chains[c][hop].location == NULL ? 503 : 302;
                    CHECK_OK(
                        decide(retry, "GET", chains[c][hop].url, status, chains[c][hop].location, &decision, &err));
                    check_kept(chains[c][hop].kept, decision, request);
                    netlib_retry_free(retry);
                    const netlib_retry *next = netlib_decision_retry(decision);
                    retry = way == 2 ? retry_of(netlib_retry_to_options(next)) : netlib_retry_clone(next);
                    if (way == 1) {
                        netlib_retry *clone = netlib_retry_clone(retry);
                        netlib_retry_free(retry);
                        retry = clone;
                    }
                    netlib_decision_free(decision);
                }
                /* The first Retry is unchanged, so another request with this Retry keeps all headers. */
                netlib_error *err = NULL;
                netlib_decision *decision = NULL;
                CHECK_OK(decide(first, "GET", "http://a/", 302, "/x", &decision, &err));
                check_kept("Authorization Accept ", decision, request);
                netlib_decision_free(decision);
                netlib_retry_free(first);
                netlib_retry_free(retry);
                netlib_headers_free(request);
            }
        }
    }
}

/* Headers in which popular services expect their API keys. */
static const char *const key_headers[] = {
    "X-API-Key",
    "Api-Key",
    "ApiKey",
    "X-Api-Token",
    "X-Api-Secret",
    "X-Auth-Token",
    "X-Auth-Key",
    "X-Access-Token",
    "X-Session-Token",
    "X-Client-Secret",
    "X-CSRF-Token",
    "X-Amz-Security-Token",
    "X-Goog-Api-Key",
    "Ocp-Apim-Subscription-Key",
    "X-GitHub-Token",
    "PRIVATE-TOKEN",
    "JOB-TOKEN",
    "X-Vault-Token",
    "X-Consul-Token",
    "X-Shopify-Access-Token",
    "X-Functions-Key",
    "DD-API-KEY",
    "DD-APPLICATION-KEY",
    "X-RapidAPI-Key",
    "X-Postmark-Server-Token",
    "X-Honeycomb-Team",
    "Circle-Token",
    "xi-api-key",
    "X-Algolia-API-Key",
    "X-Hasura-Admin-Secret",
    "X-NuGet-ApiKey",
    "X-Figma-Token",
    "X-CMC_PRO_API_KEY",
    "X-MBX-APIKEY",
};

static void redirects_to_other_origins_drop_known_api_key_headers(void) {
    const size_t count = sizeof key_headers / sizeof key_headers[0];
    static const char *const listed[] = {"aCCept", "X-Trace"};
    const char *names[MANY];
    CHECK(count >= 20 && count + 4 <= MANY);
    memcpy(names, key_headers, sizeof key_headers);
    names[count] = "Accept";
    names[count + 1] = "X-Brand-New-Key";
    names[count + 2] = "x-trace";
    names[count + 3] = "Host";
    netlib_headers *request = headers_of(names, count + 4);
    for (int mode = 0; mode < 5; mode++) {
        netlib_error *err = NULL;
        netlib_decision *decision = NULL;
        netlib_retry_options *options =
            options_without_limit(mode == 1 ? NETLIB_REDIRECT_SAFE : NETLIB_REDIRECT_URLLIB3);
        const char *kept = "Accept X-Brand-New-Key x-trace Host ";
        if (mode == 0) netlib_retry_options_add_sensitive_headers(options);
        if (mode == 1) kept = "Accept X-Brand-New-Key x-trace ";
        if (mode == 2) netlib_retry_options_set_keep_headers_on_redirect(options, listed, 2), kept = "Accept x-trace ";
        if (mode == 3) netlib_retry_options_set_keep_headers_on_redirect(options, NULL, 0), kept = "";
        if (mode == 4) {
            netlib_retry_options_set_keep_headers_on_redirect(options, key_headers, count);
            netlib_retry_options_add_sensitive_headers(options), kept = "";
        }
        netlib_retry *retry = retry_of(options);
        CHECK_OK(decide(retry, "GET", "https://api.test/", 307, "https://evil.test/", &decision, &err));
        check_kept(kept, decision, request);
        netlib_decision_free(decision);
        netlib_retry_free(retry);
    }
    netlib_headers_free(request);
}

static void only_listed_headers_are_kept_on_redirects_to_other_origins(void) {
    static const char *const listed[] = {"X-Trace", "ACCEPT", "accept", "Authorization"};
    static const char *const names[] = {"Accept", "Authorization", "X-TRACE", "Content-Type", "Host", "X-Other"};
    static const char *const bad[] = {"Accept", "a b"};
    netlib_error *err = NULL;
    netlib_retry *retry = retry_of(netlib_retry_options_new());
    CHECK(netlib_retry_keeps_any_header(retry));
    CHECK(netlib_retry_keeps_any_header(NULL));
    CHECK_INT(0, (long long)netlib_retry_kept_header_count(retry));
    CHECK_STR(NULL, netlib_retry_kept_header(retry, 0, NULL));
    netlib_retry_free(retry);

    netlib_retry_options *options = options_without_limit(NETLIB_REDIRECT_URLLIB3);
    netlib_retry_options_set_keep_headers_on_redirect(options, listed, 4);
    netlib_retry *made = retry_of(options);
    retry = retry_of(netlib_retry_to_options(made));
    netlib_retry_free(made);
    size_t len = 0;
    CHECK(!netlib_retry_keeps_any_header(retry));
    CHECK_INT(3, (long long)netlib_retry_kept_header_count(retry));
    CHECK_STR("accept", netlib_retry_kept_header(retry, 0, NULL));
    CHECK_STR("authorization", netlib_retry_kept_header(retry, 1, NULL));
    CHECK_STR("x-trace", netlib_retry_kept_header(retry, 2, &len));
    CHECK_INT(7, (long long)len);
    CHECK_STR(NULL, netlib_retry_kept_header(retry, 3, NULL));

    /* A redirect to the same origin keeps all headers. After a redirect to another origin, only the headers in the
     * policy's list of headers to keep are sent for the rest of the chain of redirects. A header in
     * remove_headers_on_redirect is dropped even if the list of headers to keep contains it. */
    netlib_headers *request = headers_of(names, 6);
    static const struct {
        const char *url, *location, *kept;
    } hops[] = {
        {"http://a/", "/x", "Accept Authorization X-TRACE Content-Type Host X-Other "},
        {"http://a/x", "http://b/", "Accept X-TRACE "},
        {"http://b/", "/y", "Accept X-TRACE "},
        {"http://b/y", "http://a/", "Accept X-TRACE "},
    };
    for (size_t i = 0; i < sizeof hops / sizeof hops[0]; i++) {
        netlib_decision *decision = NULL;
        CHECK_OK(decide(retry, "PUT", hops[i].url, 308, hops[i].location, &decision, &err));
        check_kept(hops[i].kept, decision, request);
        CHECK(netlib_decision_resend_body(decision));
        netlib_retry_free(retry);
        retry = netlib_retry_clone(netlib_decision_retry(decision));
        netlib_decision_free(decision);
    }
    options = netlib_retry_to_options(retry);
    netlib_retry_free(retry);
    netlib_retry_options_keep_any_header_on_redirect(options);
    retry = retry_of(options);
    CHECK(netlib_retry_keeps_any_header(retry));
    netlib_decision *decision = NULL;
    CHECK_OK(decide(retry, "PUT", "http://a/", 308, "/", &decision, &err));
    check_kept("Accept X-TRACE Content-Type Host X-Other ", decision, request);
    CHECK_INT(1, netlib_decision_drops_header(decision, NULL));
    netlib_decision_free(decision);
    netlib_retry_free(retry);
    netlib_headers_free(request);

    options = netlib_retry_options_new();
    netlib_retry_options_set_keep_headers_on_redirect(options, bad, 2);
    CHECK_STATUS(NETLIB_INVALID_ARGUMENT, netlib_retry_new(options, &retry, &err));
    netlib_retry_options_free(options);
    netlib_retry_options_keep_any_header_on_redirect(NULL);
}

/* Only the redirect count and the total determine whether a 302 is followed. */
static void the_total_and_redirect_counts_determine_whether_a_302_is_followed(void) {
    enum { FOLLOWED, RETURNED, RAISED };
    static const struct {
        int32_t total, redirect;
        int when_raising, when_not;
    } rows[] = {
        {NETLIB_NONE, NETLIB_NONE, FOLLOWED, FOLLOWED},
        {NETLIB_NONE, NETLIB_RETRY_DISABLED, RETURNED, RETURNED},
        {NETLIB_NONE, 0, RAISED, RETURNED},
        {NETLIB_NONE, 1, FOLLOWED, FOLLOWED},
        {NETLIB_NONE, -1, RAISED, RETURNED},
        {NETLIB_RETRY_DISABLED, NETLIB_NONE, RETURNED, RETURNED},
        {NETLIB_RETRY_DISABLED, NETLIB_RETRY_DISABLED, RETURNED, RETURNED},
        {NETLIB_RETRY_DISABLED, 0, RETURNED, RETURNED},
        {NETLIB_RETRY_DISABLED, 5, RETURNED, RETURNED},
        {0, NETLIB_NONE, RAISED, RETURNED},
        {0, NETLIB_RETRY_DISABLED, RETURNED, RETURNED},
        {0, 0, RAISED, RETURNED},
        {0, 5, RAISED, RETURNED},
        {1, NETLIB_NONE, FOLLOWED, FOLLOWED},
        {1, NETLIB_RETRY_DISABLED, RETURNED, RETURNED},
        {1, 0, RAISED, RETURNED},
        {1, 1, FOLLOWED, FOLLOWED},
        {10, 0, RAISED, RETURNED},
        {10, NETLIB_RETRY_DISABLED, RETURNED, RETURNED},
        {10, 5, FOLLOWED, FOLLOWED},
        {-1, NETLIB_NONE, RAISED, RETURNED},
        {-1, NETLIB_RETRY_DISABLED, RETURNED, RETURNED},
    };
    for (size_t i = 0; i < 4 * sizeof rows / sizeof rows[0]; i++) {
        netlib_error *err = NULL;
        netlib_decision *decision = NULL;
        bool raise = i % 2 == 0;
        netlib_retry_options *options = netlib_retry_options_new();
        netlib_retry_options_set_total(options, rows[i / 4].total);
        netlib_retry_options_set_redirect(options, rows[i / 4].redirect);
        netlib_retry_options_set_raise_on_redirect(options, raise);
        netlib_retry_options_set_redirect_profile(options,
                                                  i / 2 % 2 == 0 ? NETLIB_REDIRECT_URLLIB3 : NETLIB_REDIRECT_SAFE);
        netlib_retry *retry = retry_of(options);
        int expected = raise ? rows[i / 4].when_raising : rows[i / 4].when_not;
        netlib_status status = decide(retry, "GET", "http://a/", 302, "http://b/", &decision, &err);
        if (expected != RAISED) {
            CHECK_INT(expected == FOLLOWED ? NETLIB_ACTION_REDIRECT : NETLIB_ACTION_RETURN_RESPONSE,
                      netlib_decision_action(decision));
            CHECK_STR(expected == FOLLOWED ? "b" : "a", netlib_url_host(netlib_decision_url(decision), NULL));
            CHECK((netlib_decision_retry(decision) == retry) == (expected == RETURNED));
        }
        CHECK_STATUS(expected == RAISED ? NETLIB_MAX_RETRY : NETLIB_OK, status);
        netlib_decision_free(decision);
        netlib_retry_free(retry);
    }
    /* In netlib_retry_from_int, the total and the argument `redirect` determine whether a 302 is followed. */
    static const struct {
        int32_t count, redirect;
        int32_t action;
    } old[] = {
        {5, 0, NETLIB_ACTION_RETURN_RESPONSE},
        {5, 1, NETLIB_ACTION_REDIRECT},
        {0, 0, NETLIB_ACTION_RETURN_RESPONSE},
        {NETLIB_RETRY_DISABLED, 1, NETLIB_ACTION_RETURN_RESPONSE},
        {NETLIB_RETRY_DISABLED, 0, NETLIB_ACTION_RETURN_RESPONSE},
        {NETLIB_NONE, 1, NETLIB_ACTION_REDIRECT},
    };
    for (size_t i = 0; i < sizeof old / sizeof old[0]; i++) {
        netlib_error *err = NULL;
        netlib_retry *retry = NULL;
        netlib_decision *decision = NULL;
        CHECK_OK(netlib_retry_from_int(old[i].count, old[i].redirect, NULL, &retry, &err));
        CHECK_OK(decide(retry, "GET", "http://a/", 302, "http://b/", &decision, &err));
        CHECK_INT(old[i].action, netlib_decision_action(decision));
        netlib_decision_free(decision);
        netlib_retry_free(retry);
    }
}

/* RFC 9110 section 15.4: a 303 changes the method to GET, except for HEAD. 307 and 308 keep the method. 301 and 302 may
 * change POST to GET; only the SAFE profile does so. If the method changes, the body and the headers that describe the
 * body are dropped. */
static void redirects_change_method_body_and_headers_as_in_rfc_9110(void) {
    static const char *const names[] = {"content-LENGTH",
                                        "Content-Type",
                                        "Content-Encoding",
                                        "Content-Language",
                                        "Content-Location",
                                        "Transfer-Encoding",
                                        "Digest",
                                        "Content-Digest",
                                        "Repr-Digest",
                                        "Last-Modified",
                                        "Expect",
                                        "Trailer",
                                        "Accept"};
    static const char *const methods[] = {"GET",     "HEAD",  "POST", "PUT",  "PATCH", "DELETE",
                                          "OPTIONS", "TRACE", "post", "head", "REPORT"};
    static const int statuses[] = {301, 302, 303, 307, 308};
    /* The method of the next request after a 303, and after a 301 or 302 with the SAFE profile, in the order of
     * `methods`. */
    static const char *const on_303[] = {"GET", "HEAD", "GET", "GET", "GET", "GET", "GET", "GET", "GET", "head", "GET"};
    static const char *const safely[] = {"GET",     "HEAD",  "GET", "PUT",  "PATCH", "DELETE",
                                         "OPTIONS", "TRACE", "GET", "head", "REPORT"};
    netlib_headers *request = headers_of(names, 13);
    char all[256] = "";
    for (size_t n = 0; n < 13; n++) strcat(strcat(all, names[n]), " ");
    for (int profile = NETLIB_REDIRECT_URLLIB3; profile <= NETLIB_REDIRECT_SAFE; profile++) {
        for (size_t m = 0; m < sizeof methods / sizeof methods[0]; m++) {
            for (size_t s = 0; s < sizeof statuses / sizeof statuses[0]; s++) {
                netlib_error *err = NULL;
                netlib_decision *decision = NULL;
                const char *next = methods[m];
                if (statuses[s] == 303) next = on_303[m];
                if (statuses[s] < 303 && profile == NETLIB_REDIRECT_SAFE) next = safely[m];
                bool body = statuses[s] != 303 && strcmp(next, methods[m]) == 0;
                netlib_retry *retry = retry_of(options_without_limit(profile));
                CHECK_OK(decide(retry, methods[m], "http://a/", statuses[s], "/b", &decision, &err));
                CHECK_STR(next, netlib_decision_method(decision, NULL));
                CHECK(netlib_decision_resend_body(decision) == body);
                check_kept(body ? all : "Accept ", decision, request);
                /* A later redirect does not restore the dropped headers. */
                netlib_decision *later = NULL;
                CHECK_OK(decide(netlib_decision_retry(decision), next, "http://a/b", 307, "/c", &later, &err));
                CHECK(netlib_decision_resend_body(later) == body);
                check_kept(body ? all : "Accept ", later, request);
                netlib_decision_free(later);
                netlib_decision_free(decision);
                netlib_retry_free(retry);
            }
        }
    }
    netlib_headers_free(request);
}

static void the_safe_profile_refuses_http_after_https_at_any_hop(void) {
    static const struct {
        const char *url, *location;
        netlib_status safe, reference;
    } chains[][3] = {
        {{"http://a/", "https://a/", NETLIB_OK, NETLIB_OK},
         {"https://a/", "https://b/", NETLIB_OK, NETLIB_OK},
         {"https://b/", "http://b/", NETLIB_UNSAFE_REDIRECT, NETLIB_OK}},
        {{"http://a/", "https://a/", NETLIB_OK, NETLIB_OK},
         {"https://a/", NULL, NETLIB_OK, NETLIB_OK},
         {"https://a/", "http://a/", NETLIB_UNSAFE_REDIRECT, NETLIB_OK}},
        {{"https://a/", "HTTP://a/", NETLIB_UNSAFE_REDIRECT, NETLIB_OK},
         {"http://a/", "https://a/", NETLIB_OK, NETLIB_OK},
         {"https://a/", "http://a:443/", NETLIB_UNSAFE_REDIRECT, NETLIB_OK}},
        {{"https://a/", "//b/", NETLIB_OK, NETLIB_OK},
         {"https://b/", "ftp://b/", NETLIB_UNSAFE_REDIRECT, NETLIB_OK},
         {"https://b/", "gopher://b/", NETLIB_UNSAFE_REDIRECT, NETLIB_OK}},
        {{"http://a/", "ws://a/", NETLIB_UNSAFE_REDIRECT, NETLIB_OK},
         {"http://a/", "file:///etc/passwd", NETLIB_INVALID_URL, NETLIB_INVALID_URL},
         {"http://a/", "data:text/plain,x", NETLIB_INVALID_URL, NETLIB_INVALID_URL}},
        {{"http://a/", "file://a/etc/passwd", NETLIB_UNSAFE_REDIRECT, NETLIB_OK},
         {"http://a/", "javascript:alert(1)", NETLIB_INVALID_URL, NETLIB_INVALID_URL},
         {"http://a/", "unix://a/run/x.sock", NETLIB_UNSAFE_REDIRECT, NETLIB_OK}},
    };
    for (size_t c = 0; c < sizeof chains / sizeof chains[0]; c++) {
        for (int profile = NETLIB_REDIRECT_URLLIB3; profile <= NETLIB_REDIRECT_SAFE; profile++) {
            netlib_retry *retry = retry_of(options_without_limit(profile));
            for (size_t hop = 0; hop < 3; hop++) {
                netlib_error *err = NULL;
                netlib_decision *decision = NULL;
                int status = chains[c][hop].location == NULL ? 503 : 302;
                netlib_status expected =
                    profile == NETLIB_REDIRECT_SAFE ? chains[c][hop].safe : chains[c][hop].reference;
                CHECK_STATUS(expected, decide(retry, "GET", chains[c][hop].url, status, chains[c][hop].location,
                                              &decision, &err));
                if (decision != NULL) {
                    netlib_retry_free(retry);
                    retry = netlib_retry_clone(netlib_decision_retry(decision));
                }
                CHECK((decision != NULL) == (expected == NETLIB_OK));
                netlib_decision_free(decision);
            }
            netlib_retry_free(retry);
        }
    }
}

/* RFC 9110 section 10.2.2: if the Location has no fragment, the next URL has the fragment of the request URL. A
 * fragment is not part of the request target. */
static void redirects_without_a_fragment_inherit_the_fragment_of_the_request_url(void) {
    static const struct {
        const char *from, *location, *url, *target;
    } rows[] = {
        {"http://a/x#f", "/y", "http://a/y#f", "/y"},   {"http://a/x#f", "https://b/z?q", "https://b/z?q#f", "/z?q"},
        {"http://a/x#f", "/y#g", "http://a/y#g", "/y"}, {"http://a/x#f", "/y#", "http://a/y#", "/y"},
        {"http://a/x#", "/y", "http://a/y#", "/y"},     {"http://a/x", "/y", "http://a/y", "/y"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        netlib_error *err = NULL;
        netlib_decision *decision = NULL;
        netlib_retry *retry = retry_of(options_without_limit(NETLIB_REDIRECT_SAFE));
        CHECK_OK(decide(retry, "GET", rows[i].from, 302, rows[i].location, &decision, &err));
        CHECK_STR(rows[i].url, netlib_url_to_string(netlib_decision_url(decision), NULL));
        CHECK_STR(rows[i].target, netlib_url_request_uri(netlib_decision_url(decision), NULL));
        netlib_decision_free(decision);
        netlib_retry_free(retry);
        /* netlib_url_resolve inherits no fragment from the base URL (RFC 3986 section 5.2.2). */
        netlib_url *base = NULL, *next = NULL;
        CHECK_OK(netlib_parse_url(rows[i].from, NETLIB_NTS, &base, &err));
        CHECK_OK(netlib_url_resolve(base, rows[i].location, NETLIB_NTS, &next, &err));
        CHECK_STR(strchr(rows[i].location, '#') != NULL ? strchr(rows[i].location, '#') + 1 : NULL,
                  netlib_url_fragment(next, NULL));
        netlib_url_free(base);
        netlib_url_free(next);
    }
}

int main(void) {
    redirects_without_a_fragment_inherit_the_fragment_of_the_request_url();
    redirects_to_other_origins_drop_sensitive_headers_in_any_letter_case();
    dropped_headers_stay_dropped_for_the_rest_of_the_redirect_chain();
    redirects_to_other_origins_drop_known_api_key_headers();
    only_listed_headers_are_kept_on_redirects_to_other_origins();
    the_total_and_redirect_counts_determine_whether_a_302_is_followed();
    redirects_change_method_body_and_headers_as_in_rfc_9110();
    the_safe_profile_refuses_http_after_https_at_any_hop();
    return report("retry_redirect");
}
