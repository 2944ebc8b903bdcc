// SPDX-License-Identifier: Apache-2.0

// Members that programs bring along from AFNetworking: the compiler says what is there instead.

extension ActivityIndicator {
    /// AFNetworking's only one.
    @available(*, unavailable, message: "there is no shared one: make an ActivityIndicator and keep it")
    public static func shared() -> ActivityIndicator? { nil }
}

extension AssetDownloader {
    /// AFNetworking's only one.
    @available(*, unavailable, message: "there is no shared one: make an AssetDownloader and keep it")
    public static func defaultInstance() -> AssetDownloader? { nil }
}
