/* Prints the body of a URL with libcurl. */
#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
    if (argc != 2) {
        return 2;
    }
    CURL *curl = curl_easy_init();
    if (curl == NULL) {
        return 1;
    }
    curl_easy_setopt(curl, CURLOPT_URL, argv[1]);
    curl_easy_setopt(curl, CURLOPT_FAILONERROR, 1L);
    /* netlib reads this variable itself. */
    curl_easy_setopt(curl, CURLOPT_CAINFO, getenv("SSL_CERT_FILE"));
    CURLcode code = curl_easy_perform(curl);
    if (code != CURLE_OK) {
        fprintf(stderr, "%s\n", curl_easy_strerror(code));
    }
    curl_easy_cleanup(curl);
    return code != CURLE_OK;
}
