// SPDX-License-Identifier: Apache-2.0

public import SessionCore

// Names that programs bring along from elsewhere: the compiler says what they are called here.

/// AFNetworking's name of ``HTTPSessionManager``.
@available(*, unavailable, renamed: "HTTPSessionManager")
public typealias AFHTTPSessionManager = HTTPSessionManager

/// AFNetworking's name of ``URLSessionManager``.
@available(*, unavailable, renamed: "URLSessionManager")
public typealias AFURLSessionManager = URLSessionManager

/// AFNetworking's name of ``SessionCore/SecurityPolicy``.
@available(*, unavailable, renamed: "SecurityPolicy")
public typealias AFSecurityPolicy = SecurityPolicy

/// AFNetworking's name of ``SessionCore/HTTPRequestSerializer``.
@available(*, unavailable, renamed: "HTTPRequestSerializer")
public typealias AFHTTPRequestSerializer = HTTPRequestSerializer

/// AFNetworking's name of ``SessionCore/JSONRequestSerializer``.
@available(*, unavailable, renamed: "JSONRequestSerializer")
public typealias AFJSONRequestSerializer = JSONRequestSerializer

/// AFNetworking's name of a type in the library `SessionManagerExtras`.
@available(*, unavailable, message: "import SessionManagerExtras, and use its PropertyListRequestSerializer")
public typealias AFPropertyListRequestSerializer = HTTPResponseSerializer

/// AFNetworking's name of ``SessionCore/HTTPResponseSerializer``.
@available(*, unavailable, renamed: "HTTPResponseSerializer")
public typealias AFHTTPResponseSerializer = HTTPResponseSerializer

/// AFNetworking's name of ``SessionCore/JSONResponseSerializer``.
@available(*, unavailable, renamed: "JSONResponseSerializer")
public typealias AFJSONResponseSerializer = JSONResponseSerializer

/// AFNetworking's name of a type in the library `SessionManagerExtras`.
@available(*, unavailable, message: "import SessionManagerExtras, and use its PropertyListResponseSerializer")
public typealias AFPropertyListResponseSerializer = HTTPResponseSerializer

/// AFNetworking's name of a type in the library `SessionManagerExtras`.
@available(*, unavailable, message: "import SessionManagerExtras, and use its ImageResponseSerializer")
public typealias AFImageResponseSerializer = HTTPResponseSerializer

/// AFNetworking's name of ``SessionCore/CompoundResponseSerializer``.
@available(*, unavailable, renamed: "CompoundResponseSerializer")
public typealias AFCompoundResponseSerializer = CompoundResponseSerializer

/// AFNetworking's name of a type in the library `SessionManagerExtras`.
@available(*, unavailable, message: "import SessionManagerExtras, and use its ActivityIndicator")
public typealias AFNetworkActivityIndicatorManager = HTTPResponseSerializer

/// AFNetworking's name of a type in the library `SessionManagerExtras`.
@available(*, unavailable, message: "import SessionManagerExtras, and use its AssetDownloader")
public typealias AFImageDownloader = HTTPResponseSerializer

/// AFNetworking's name of a type in the library `SessionManagerExtras`.
@available(*, unavailable, message: "import SessionManagerExtras, and use its AutoPurgingCache")
public typealias AFAutoPurgingImageCache = HTTPResponseSerializer

/// AFNetworking's name of a type in the library `SessionManagerExtras`.
@available(*, unavailable, message: "import SessionManagerExtras, and use its AssetReceipt")
public typealias AFImageDownloadReceipt = HTTPResponseSerializer

/// Alamofire's name of ``RequestCompressor``.
@available(*, unavailable, renamed: "RequestCompressor")
public typealias DeflateRequestCompressor = RequestCompressor

/// Alamofire's name of ``SessionCore/SessionError``.
@available(*, unavailable, renamed: "SessionError")
public typealias AFError = SessionError

/// AFNetworking's name of ``SessionCore/RequestSerializer``.
@available(*, unavailable, renamed: "RequestSerializer")
public typealias AFURLRequestSerialization = RequestSerializer

/// AFNetworking's name of ``SessionCore/ResponseSerializer``.
@available(*, unavailable, renamed: "ResponseSerializer")
public typealias AFURLResponseSerialization = ResponseSerializer

/// AFNetworking's name of ``SessionCore/MultipartFormData``.
@available(*, unavailable, renamed: "MultipartFormData")
public typealias AFMultipartFormData = MultipartFormData

/// AFNetworking's name of ``SessionCore/SecurityPolicy/PinningMode``.
@available(*, unavailable, renamed: "SecurityPolicy.PinningMode")
public typealias AFSSLPinningMode = SecurityPolicy.PinningMode

/// AFNetworking's name of a type in the library `SessionManagerExtras`.
@available(*, unavailable, message: "import SessionManagerExtras, and use its AutoPurgingCache")
public typealias AFImageCache = HTTPResponseSerializer

/// AFNetworking's name of a type in the library `SessionManagerExtras`.
@available(*, unavailable, message: "import SessionManagerExtras, and use its AutoPurgingCache")
public typealias AFImageRequestCache = HTTPResponseSerializer

/// AFNetworking's name of a serializer in the library `SessionManagerXML`.
@available(*, unavailable, message: "import SessionManagerXML, and use its XMLParserResponseSerializer")
public typealias AFXMLParserResponseSerializer = HTTPResponseSerializer

/// AFNetworking's name of a serializer in the library `SessionManagerXML`.
@available(*, unavailable, message: "import SessionManagerXML, and use its XMLDocumentResponseSerializer")
public typealias AFXMLDocumentResponseSerializer = HTTPResponseSerializer

/// AFNetworking's name of what events are there for.
@available(*, unavailable, message: "iterate over `URLSessionManager.events`: .resumed(task)")
public var AFNetworkingTaskDidResumeNotification: String { "" }

/// AFNetworking's name of what events are there for.
@available(*, unavailable, message: "iterate over `URLSessionManager.events`: .suspended(task)")
public var AFNetworkingTaskDidSuspendNotification: String { "" }

/// AFNetworking's name of what events are there for.
@available(*, unavailable, message: "iterate over `URLSessionManager.events`: .completed(task, completion)")
public var AFNetworkingTaskDidCompleteNotification: String { "" }

/// AFNetworking's name of what events are there for.
@available(*, unavailable, message: "iterate over `URLSessionManager.events`: .invalidated(session)")
public var AFURLSessionDidInvalidateNotification: String { "" }

/// AFNetworking's key for the response of an error.
@available(*, unavailable, message: "an error has it itself: `SessionError.response`")
public var AFNetworkingOperationFailingURLResponseErrorKey: String { "" }

/// AFNetworking's key for the content of an error.
@available(*, unavailable, message: "an error has it itself: `SessionError.data`")
public var AFNetworkingOperationFailingURLResponseDataErrorKey: String { "" }

/// AFNetworking's domain of errors of answers.
@available(*, unavailable, message: "ask for `SessionError.code`")
public var AFURLResponseSerializationErrorDomain: String { "" }

/// AFNetworking's domain of errors of requests.
@available(*, unavailable, message: "ask for `SessionError.code`")
public var AFURLRequestSerializationErrorDomain: String { "" }
