//! Lists of methods, statuses and header names that retry policies use.

use std::ffi::CStr;

pub use crate::name_set::IDEMPOTENT_METHODS as DEFAULT_ALLOWED_METHODS;

pub const DEFAULT_REMOVE_HEADERS_ON_REDIRECT: &[&CStr] = &[c"Authorization"];

/// The response statuses for which a Retry-After header is obeyed by default.
pub const RETRY_AFTER_STATUS_CODES: &[i32] = &[413, 429, 503];

/// Request headers that carry credentials.
pub const SENSITIVE_HEADERS: &[&CStr] = &[
    c"Authorization",
    c"Cookie",
    c"Cookie2",
    c"Proxy-Authorization",
    // API keys and tokens under generic names.
    c"Access-Token",
    c"API-Key",
    c"API-Token",
    c"APIKey",
    c"Auth-Token",
    c"X-API-Key",
    c"X-APIKey",
    c"X-API-Secret",
    c"X-API-Token",
    c"X-Auth",
    c"X-Auth-Key",
    c"X-Auth-Token",
    c"X-Authorization",
    c"X-Access-Token",
    c"X-Client-Secret",
    c"X-CSRF-Token",
    c"X-Forwarded-Access-Token",
    c"X-ID-Token",
    c"X-Refresh-Token",
    c"X-Secret-Key",
    c"X-Session-Token",
    c"X-Subject-Token",
    c"X-Token",
    c"X-XSRF-Token",
    // API keys under the names of widely used services.
    c"Circle-Token",
    c"DD-API-Key",
    c"DD-Application-Key",
    c"Deploy-Token",
    c"Job-Token",
    c"Ocp-Apim-Subscription-Key",
    c"Private-Token",
    c"X-Algolia-API-Key",
    c"X-Amz-Security-Token",
    c"X-Appwrite-Key",
    c"X-Cisco-Meraki-API-Key",
    c"X-CMC_PRO_API_KEY",
    c"X-Consul-Token",
    c"X-Figma-Token",
    c"X-Functions-Key",
    c"X-GitHub-Token",
    c"X-Gitlab-Token",
    c"X-Goog-API-Key",
    c"X-Goog-IAM-Authorization-Token",
    c"X-Hasura-Admin-Secret",
    c"X-Honeycomb-Team",
    c"X-Insert-Key",
    c"X-License-Key",
    c"X-MBX-APIKEY",
    c"X-Ms-Authorization-Auxiliary",
    c"X-N8N-API-Key",
    c"X-NuGet-ApiKey",
    c"X-Parse-Master-Key",
    c"X-Parse-REST-API-Key",
    c"X-Plex-Token",
    c"X-Postmark-Server-Token",
    c"X-Query-Key",
    c"X-RapidAPI-Key",
    c"X-Redmine-API-Key",
    c"X-Riot-Token",
    c"X-Shopify-Access-Token",
    c"X-TrackerToken",
    c"X-Vault-Token",
    c"XI-API-Key",
];

/// Request headers that describe the body. A redirect that drops the body drops these headers too (RFC 9110 section
/// 15.4).
pub(super) const CONTENT_HEADERS: &[&CStr] = &[
    c"Content-Digest",
    c"Content-Encoding",
    c"Content-Language",
    c"Content-Length",
    c"Content-Location",
    c"Content-Type",
    c"Digest",
    c"Expect",
    c"Last-Modified",
    c"Repr-Digest",
    c"Trailer",
    c"Transfer-Encoding",
];
