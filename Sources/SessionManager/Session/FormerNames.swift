// SPDX-License-Identifier: Apache-2.0

public import SessionCore

// Names that programs bring along from elsewhere: the compiler says what they are called here, and changes them when asked to.

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

/// AFNetworking's name of ``SessionCore/PropertyListRequestSerializer``.
@available(*, unavailable, renamed: "PropertyListRequestSerializer")
public typealias AFPropertyListRequestSerializer = PropertyListRequestSerializer

/// AFNetworking's name of ``SessionCore/HTTPResponseSerializer``.
@available(*, unavailable, renamed: "HTTPResponseSerializer")
public typealias AFHTTPResponseSerializer = HTTPResponseSerializer

/// AFNetworking's name of ``SessionCore/JSONResponseSerializer``.
@available(*, unavailable, renamed: "JSONResponseSerializer")
public typealias AFJSONResponseSerializer = JSONResponseSerializer

/// AFNetworking's name of ``SessionCore/PropertyListResponseSerializer``.
@available(*, unavailable, renamed: "PropertyListResponseSerializer")
public typealias AFPropertyListResponseSerializer = PropertyListResponseSerializer

/// AFNetworking's name of ``SessionCore/ImageResponseSerializer``.
@available(*, unavailable, renamed: "ImageResponseSerializer")
public typealias AFImageResponseSerializer = ImageResponseSerializer

/// AFNetworking's name of ``SessionCore/CompoundResponseSerializer``.
@available(*, unavailable, renamed: "CompoundResponseSerializer")
public typealias AFCompoundResponseSerializer = CompoundResponseSerializer

/// AFNetworking's name of ``ActivityIndicator``.
@available(*, unavailable, renamed: "ActivityIndicator")
public typealias AFNetworkActivityIndicatorManager = ActivityIndicator

/// AFNetworking's name of ``AssetDownloader`` with images.
@available(*, unavailable, renamed: "AssetDownloader")
public typealias AFImageDownloader = AssetDownloader<ImageDescription>

/// AFNetworking's name of ``AutoPurgingCache`` with images.
@available(*, unavailable, renamed: "AutoPurgingCache")
public typealias AFAutoPurgingImageCache = AutoPurgingCache<ImageDescription>

/// AFNetworking's name of ``AssetReceipt``.
@available(*, unavailable, renamed: "AssetReceipt")
public typealias AFImageDownloadReceipt = AssetReceipt

/// Alamofire's name of ``RequestCompressor``.
@available(*, unavailable, renamed: "RequestCompressor")
public typealias DeflateRequestCompressor = RequestCompressor

/// Alamofire's name of ``SessionCore/SessionError``.
@available(*, unavailable, renamed: "SessionError")
public typealias AFError = SessionError
