// SPDX-License-Identifier: Apache-2.0

import CCurl
import Glibc
import SessionCore

/// One of libcurl's easy handles with its callbacks; used for one transfer after the other, on the loop's
/// thread.
///
/// libcurl gets the callbacks and this object's address once. It calls back only inside
/// `ccurl_multi_action`, `ccurl_multi_remove` and `ccurl_easy_pause`, so while the engine that owns the
/// object runs.
final class EasyHandle {
    /// libcurl's `CURL *`.
    let raw: UnsafeMutableRawPointer
    /// The engine's; not counted, since the engine frees its handles first.
    unowned(unsafe) let turn: EngineTurn
    unowned(unsafe) let sockets: CurlSockets
    let proxies: ProxyRules
    /// The cookies that all handles of the engine share.
    let share: UnsafeMutableRawPointer?
    /// The transfer it carries out now.
    var transfer: Transfer? { didSet { socketFailure = 0 } }
    /// The errno(3) with which the kernel has refused it a socket, which libcurl does not tell; 0 for none.
    var socketFailure: Int32 = 0
    /// The texts of the addresses of its last connection.
    var (remoteText, localText) = ("", "")
    /// The options that are set.
    var options: EasyOptions?
    /// Whether content is to be decoded, where its header fields are those of a request without any of its
    /// own; nil where not.
    var ordinaryFields: Bool?
    /// The length of the lines in ``setHeaderLines(_:)``, and of the caller's cookies.
    var fieldsLength = 0
    /// The size that is set.
    var uploadBufferSize = 0
    /// Whether libcurl is to ask no proxy; nil before the first transfer.
    var isDirect: Bool?
    /// The number of the pool in whose DNS cache it has put the addresses of the configuration last.
    var addressedPool = 0
    /// Whether libcurl keeps what belongs to one server alone, and would use it for the next: the name in a
    /// caller's `Host`, by which it finds cookies (`cookiehost` of `Curl_http_host`, lib/http.c), or realm and
    /// nonce of Digest (`state.digest`, lib/urldata.h).
    var keepsServerState = false
    /// The URL that is set.
    private var address = ""
    /// The same in its parts, which libcurl reads while the transfer lasts.
    private var parts: OpaquePointer?
    /// The header fields that libcurl reads while the transfer lasts.
    private var fields: UnsafeMutablePointer<curl_slist>?
    /// The addresses that libcurl puts into a DNS cache with its next transfer.
    private var addresses: UnsafeMutablePointer<curl_slist>?
    private let errorText: UnsafeMutablePointer<CChar>
    /// Gathers the lines of heads.
    let head: OpaquePointer
    /// What `head` reads the time from.
    private let clock: LoopClock

    init(
        share: UnsafeMutableRawPointer?, turn: EngineTurn, sockets: CurlSockets, proxies: ProxyRules
    ) throws(SessionError) {
        guard
            let head = ccurl_head_make(turn.clock.address, Transfer.headLimit, EasyHandle.onHead)
        else {
            throw SessionError(.outOfResources, "there is no memory for another transfer")
        }
        guard let raw = ccurl_easy_init() else {
            ccurl_head_free(head)
            throw SessionError(.outOfResources, "libcurl has no memory for another transfer")
        }
        self.raw = raw
        self.turn = turn
        self.sockets = sockets
        self.proxies = proxies
        self.share = share
        self.head = head
        clock = turn.clock
        errorText = .allocate(capacity: Int(CURL_ERROR_SIZE))
        errorText.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
        let address = Unmanaged.passUnretained(self).toOpaque()
        set(CURLOPT_PRIVATE, pointer: address)
        set(CURLOPT_ERRORBUFFER, pointer: errorText)
        // Time-outs of the resolver without signals, which a library must not use (libcurl-thread(3)).
        set(CURLOPT_NOSIGNAL, 1)
        set(CURLOPT_PROTOCOLS_STR, "http,https")
        set(CURLOPT_FOLLOWLOCATION, 0)
        set(CURLOPT_TCP_KEEPALIVE, 1)
        if let share { set(CURLOPT_SHARE, pointer: share) }
        set(CURLOPT_WRITEDATA, pointer: address)
        set(CURLOPT_READDATA, pointer: address)
        set(CURLOPT_SEEKDATA, pointer: address)
        ccurl_set_data_function(raw, CURLOPT_WRITEFUNCTION, EasyHandle.onContent)
        _ = ccurl_set_head(raw, head, address)
        ccurl_set_data_function(raw, CURLOPT_READFUNCTION, EasyHandle.onBody)
        ccurl_set_seek_function(raw, EasyHandle.onSeek)
        // A transfer that is given up must not hold up the loop until a name server that cannot be reached
        // has answered.
        set(CURLOPT_QUICK_EXIT, 1)
        set(CURLOPT_OPENSOCKETDATA, pointer: address)
        set(CURLOPT_PREREQDATA, pointer: address)
        _ = ccurl_set_before_function(raw, EasyHandle.onRequest)
        // Sockets outlive the handle.
        let owner = Unmanaged.passUnretained(sockets).toOpaque()
        set(CURLOPT_CLOSESOCKETDATA, pointer: owner)
        ccurl_set_open_function(raw, CurlSockets.onOpen)
        ccurl_set_close_function(raw, CurlSockets.onClose)
    }

    deinit {
        ccurl_easy_cleanup(raw)
        ccurl_head_free(head)
        ccurl_list_free(fields)
        ccurl_list_free(addresses)
        ccurl_url_free(parts)
        errorText.deallocate()
    }

    // MARK: Options

    // Their results are ignored: a known option refuses a value only for lack of memory, and then the
    // transfer fails as well; features that a build may lack are asked of `CurlLibrary`.

    /// Sets the addresses of hosts, as CURLOPT_RESOLVE(3) has them.
    func setAddresses(_ entries: [String]) {
        let list: UnsafeMutablePointer<curl_slist>? = entries.reduce(nil) { list, entry in
            entry.withCString { ccurl_list_append(list, $0) } ?? list
        }
        set(CURLOPT_RESOLVE, pointer: list)
        // Only now libcurl does not read it any more.
        ccurl_list_free(addresses)
        addresses = list
    }

    func set(_ option: CURLoption, _ value: Int) { _ = ccurl_set_long(raw, option, value) }
    func set(_ option: CURLoption, offset: Int64) { _ = ccurl_set_offset(raw, option, offset) }
    func set(_ option: CURLoption, pointer: UnsafeRawPointer?) { _ = ccurl_set_pointer(raw, option, pointer) }
    func set(_ option: CURLoption, _ text: String?) {
        guard let text else {
            _ = ccurl_set_string(raw, option, nil)
            return
        }
        _ = text.withCString { ccurl_set_string(raw, option, $0) }
    }

    /// Sets the URL.
    ///
    /// libcurl takes a text apart for each transfer and puts it together again; parts are copied
    /// (CURLOPT_CURLU(3)). 7.88 forgets the zone of an address as it copies (`curl_url_dup`), so those with a
    /// percent sign before the path stay text.
    func setAddress(_ new: String, origin: String) {
        guard address != new else { return }
        address = new
        set(CURLOPT_URL, new)
        let former = parts
        parts = origin.utf8.contains(UInt8(ascii: "%")) ? nil : new.withCString { ccurl_url_make($0) }
        set(CURLOPT_CURLU, pointer: parts.map { UnsafeRawPointer($0) })
        ccurl_url_free(former)
    }

    /// Replaces the header fields: whole lines, `Name: value`, or `Name:` to leave out one of libcurl's own.
    func setHeaderLines(_ lines: (_ append: (String) -> Void) -> Void) {
        let former = fields
        fieldsLength = 0
        var list: UnsafeMutablePointer<curl_slist>?
        lines { line in
            fieldsLength += line.utf8.count + 2
            // Without memory the list so far stays valid (curl_slist_append(3)).
            if let longer = line.withCString({ ccurl_list_append(list, $0) }) { list = longer }
        }
        guard list != nil || former != nil else { return }
        fields = list
        set(CURLOPT_HTTPHEADER, pointer: list)
        ccurl_list_free(former)
    }

    // MARK: What libcurl knows about the transfer

    /// Whether the head that comes is the proxy's, about the tunnel: the server has not answered yet, or
    /// libcurl has made another connection since for a further round of its own, as with Digest.
    fileprivate var isTunnelling: Bool {
        guard proxies.mayApply, let transfer, transfer.isSecure || transfer.takeover != nil else {
            return false
        }
        if long(CURLINFO_RESPONSE_CODE) == 0 { return true }
        return long(CURLINFO_NUM_CONNECTS) > transfer.heads.tunnelledConnects
            && proxies.proxy(for: transfer.request.url)?.speaksHTTP == true
    }

    func long(_ info: CURLINFO) -> Int {
        var value = 0
        return ccurl_get_long(raw, info, &value) == CURLE_OK ? value : 0
    }

    func offset(_ info: CURLINFO) -> Int64 {
        var value: Int64 = 0
        return ccurl_get_offset(raw, info, &value) == CURLE_OK ? value : 0
    }

    /// The end of the TLS connection that a transfer uses now; nil without TLS, and with another library than
    /// OpenSSL 3.
    var tlsEnding: TLSEnding? {
        guard transfer?.isSecure == true || proxies.mayApply, let session = ccurl_openssl_session(raw)
        else {
            return nil
        }
        return TLSEnding(session)
    }

    /// Whether the connection of the transfer has agreed on HTTP/2; false also without TLS, and with another
    /// library than OpenSSL 3.
    var speaksHTTP2: Bool { ccurl_openssl_session(raw).map { OpenSSL.speaksHTTP2($0) } ?? false }

    /// The descriptor of the connection; -1 for none.
    var activeSocket: Int32 {
        var socket: Int32 = -1
        return ccurl_get_socket(raw, CURLINFO_ACTIVESOCKET, &socket) == CURLE_OK ? socket : -1
    }

    func text(_ info: CURLINFO) -> String? {
        var value: UnsafePointer<CChar>?
        guard ccurl_get_string(raw, info, &value) == CURLE_OK, let value else { return nil }
        return String(cString: value)
    }

    /// libcurl's words about the last failure.
    func message(for code: CURLcode) -> String {
        errorText.pointee == 0 ? String(cString: ccurl_easy_text(code)) : String(cString: errorText)
    }

    func clearMessage() { errorText.pointee = 0 }

    /// The object behind a handle that libcurl hands back.
    static func of(_ raw: UnsafeMutableRawPointer) -> EasyHandle? {
        var address: UnsafeMutableRawPointer?
        guard ccurl_get_pointer(raw, CURLINFO_PRIVATE, &address) == CURLE_OK, let address else { return nil }
        return Unmanaged<EasyHandle>.fromOpaque(address).takeUnretainedValue()
    }
}

extension EasyHandle {
    private static func transfer(_ user: UnsafeMutableRawPointer?) -> Transfer? {
        // The engine that calls libcurl holds the handle meanwhile.
        user.flatMap { Unmanaged<EasyHandle>.fromOpaque($0)._withUnsafeGuaranteedRef { $0.transfer } }
    }

    fileprivate static let onContent: ccurl_data_function = { bytes, size, count, user in
        guard let transfer = EasyHandle.transfer(user) else { return 0 }
        return transfer.received(content: UnsafeRawBufferPointer(start: bytes, count: size &* count))
    }

    fileprivate static let onHead: ccurl_head_function = { user, bytes, count in
        guard let transfer = EasyHandle.transfer(user) else { return false }
        let bytes = UnsafeRawBufferPointer(start: bytes, count: count)
        return transfer.easy?.isTunnelling == true
            ? transfer.received(tunnelHead: bytes) : transfer.received(head: bytes)
    }

    fileprivate static let onBody: ccurl_data_function = { bytes, size, count, user in
        guard let transfer = EasyHandle.transfer(user) else { return Int(CCURL_READ_ABORT) }
        return transfer.fill(UnsafeMutableRawBufferPointer(start: bytes, count: size &* count))
    }

    static let onRequest: ccurl_before_function = { user, _, _, _, _ in
        guard let transfer = EasyHandle.transfer(user) else { return 0 }
        if transfer.slot.opensConnection { transfer.easy?.turn.control?.connected(transfer) }
        return transfer.willSend() ? 0 : 1
    }

    fileprivate static let onSeek: ccurl_seek_function = { user, offset, origin in
        guard let transfer = EasyHandle.transfer(user), origin == SEEK_SET, offset == 0 else {
            return CURL_SEEKFUNC_FAIL
        }
        return transfer.rewindBody() ? CURL_SEEKFUNC_OK : CURL_SEEKFUNC_FAIL
    }
}
