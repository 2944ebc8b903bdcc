// SPDX-License-Identifier: Apache-2.0

/// Media types by the extension of a file's name, those that devices send.
public enum MediaType {
    /// What nothing is known of.
    public static let octetStream = "application/octet-stream"

    /// The type of a file by its name; ``octetStream`` where the extension is not known.
    public static func of(fileName: String) -> String {
        guard let dot = fileName.utf8.lastIndex(of: UInt8(ascii: ".")) else { return octetStream }
        return table[fileName[dot...].dropFirst().lowercased()] ?? octetStream
    }

    private static let table: [String: String] = [
        "7z": "application/x-7z-compressed", "aac": "audio/aac", "apng": "image/apng",
        "avi": "video/x-msvideo",
        "avif": "image/avif", "bin": octetStream, "bmp": "image/bmp", "bz2": "application/x-bzip2",
        "cbor": "application/cbor", "cer": "application/x-x509-ca-cert", "cfg": "text/plain",
        "conf": "text/plain", "crt": "application/x-x509-ca-cert", "css": "text/css", "csv": "text/csv",
        "der": "application/x-x509-ca-cert", "flac": "audio/flac", "gif": "image/gif",
        "gz": "application/gzip",
        "heic": "image/heic", "htm": "text/html", "html": "text/html", "ico": "image/vnd.microsoft.icon",
        "ics": "text/calendar", "ini": "text/plain", "jpeg": "image/jpeg", "jpg": "image/jpeg",
        "js": "text/javascript", "json": "application/json", "jsonl": "application/jsonl", "jxl": "image/jxl",
        "log": "text/plain", "m4a": "audio/mp4", "m4v": "video/mp4", "md": "text/markdown",
        "mjs": "text/javascript", "mkv": "video/x-matroska", "mov": "video/quicktime", "mp3": "audio/mpeg",
        "mp4": "video/mp4", "mpeg": "video/mpeg", "oga": "audio/ogg", "ogg": "audio/ogg", "ogv": "video/ogg",
        "opus": "audio/ogg", "p12": "application/x-pkcs12", "pcap": "application/vnd.tcpdump.pcap",
        "pdf": "application/pdf", "pem": "application/x-pem-file", "plist": "application/x-plist",
        "png": "image/png", "ppm": "image/x-portable-pixmap", "rtf": "application/rtf",
        "sqlite": "application/vnd.sqlite3", "svg": "image/svg+xml", "tar": "application/x-tar",
        "tif": "image/tiff", "tiff": "image/tiff", "toml": "application/toml", "ts": "video/mp2t",
        "tsv": "text/tab-separated-values", "txt": "text/plain", "wasm": "application/wasm",
        "wav": "audio/wav",
        "webm": "video/webm", "webp": "image/webp", "xml": "application/xml", "xz": "application/x-xz",
        "yaml": "application/yaml", "yml": "application/yaml", "zip": "application/zip",
        "zst": "application/zstd",
    ]
}
