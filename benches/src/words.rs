//! The words from which the URLs of the corpora are built.

pub const WORDS: &[&str] = &[
    "account", "admin", "api", "archive", "article", "assets", "author", "billing", "blog", "browse", "build", "cart",
    "category", "checkout", "client", "cloud", "comment", "commit", "community", "config", "contact", "content",
    "dashboard", "data", "default", "detail", "device", "docs", "download", "edit", "en-us", "event", "export",
    "feed", "file", "forum", "gallery", "group", "guide", "help", "history", "home", "image", "img", "index", "info",
    "issue", "item", "job", "js", "key", "language", "latest", "library", "list", "login", "mail", "main", "manual",
    "map", "media", "message", "model", "network", "news", "object", "offer", "order", "page", "people", "photo",
    "pipeline", "platform", "player", "policy", "post", "preview", "price", "product", "profile", "project", "query",
    "question", "record", "reference", "release", "report", "repository", "result", "review", "rss", "sale",
    "schedule", "search", "security", "service", "session", "settings", "shop", "source", "static", "status", "store",
    "stream", "style", "subscribe", "support", "tag", "team", "template", "test", "thread", "ticket", "topic",
    "track", "tree", "tutorial", "update", "upload", "user", "v1", "v2", "v3", "version", "video", "view", "watch",
    "weather", "web", "wiki",
];

pub const SITES: &[&str] = &[
    "example", "github", "wikipedia", "python", "rust-lang", "mozilla", "debian", "stackexchange", "bbc", "nytimes",
    "amazon", "shop-online24", "my_intranet", "openstreetmap", "gov-services", "university", "cdn-edge", "metrics",
    "kernel", "postgresql", "curl", "sqlite", "archive", "heise", "lemonde", "elpais", "corriere", "asahi",
];

pub const SUBDOMAINS: &[&str] = &[
    "www", "api", "docs", "cdn", "static", "blog", "mail", "dev", "de", "en", "img3", "s3.eu-west-1", "git", "news",
];

pub const TLDS: &[&str] = &[
    "com", "org", "net", "io", "dev", "co.uk", "de", "fr", "jp", "info", "edu", "gov", "com.br",
];

pub const IDN_HOSTS: &[&str] = &[
    "bücher.example", "münchen.de", "www.café-société.fr", "例え.jp", "пример.рф", "παράδειγμα.gr",
    "xn--bcher-kva.example", "한국.kr", "smörgåsbord.se", "Köln.example",
];

pub const EXTENSIONS: &[&str] = &[
    "html", "php", "jpg", "png", "js", "css", "json", "pdf", "xml", "svg", "tar.gz", "txt",
];

pub const KEYS: &[&str] = &[
    "q", "id", "page", "lang", "utm_source", "utm_medium", "utm_campaign", "sort", "limit", "offset", "token", "ref",
    "session", "v", "format", "callback", "start", "size", "filter", "category", "redirect_uri", "ts",
];

pub const ESCAPES: &[&str] = &[
    "%20", "%20", "%20", "%2F", "%3A", "%C3%A9", "%E2%82%AC", "%2C", "%26", "%3D", "%25", "%D0%BF%D1%80", "%28",
    "%c3%bc", "%7E",
];

pub const RAW: &[&str] = &[
    "é", "ü", "日本", "ñ", "я", " ", "\"", "<", ">", "{", "}", "|", "^", "`",
];
