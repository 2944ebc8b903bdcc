// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import SessionCore
import Testing

final class CertificateFilesTests {
    private let directory: String

    init() throws {
        directory = FileManager.default.temporaryDirectory.path() + "/reach-\(UInt64.random(in: 0 ... .max))"
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: directory) }

    private func write(_ content: Data, _ name: String) throws {
        try content.write(to: URL(filePath: "\(directory)/\(name)"))
    }

    @Test("a directory's certificates are pinned whatever form the files have; other files are not looked at")
    func directoryOfCertificates() throws {
        let text = Data(CertificateFixture.pem.utf8)
        for (content, name) in [
            (CertificateFixture.der, "a.cer"), (text, "b.crt"), (CertificateFixture.der, "c.DER"),
            (text + text, "d.pem"),
            (Data("junk".utf8), "README"),
        ] { try write(content, name) }
        let found = try CertificateFiles.certificates(inDirectory: directory)
        #expect(found == Array(repeating: CertificateFixture.der, count: 5))
        let policy = try SecurityPolicy(pinningMode: .certificate, certificatesInDirectory: directory)
        #expect(policy.pinnedCertificates == [CertificateFixture.der] && policy.pinningMode == .certificate)
        let single = try SecurityPolicy(pinningMode: .publicKey, certificatesInFile: "\(directory)/b.crt")
        #expect(single.pinnedCertificates == [CertificateFixture.der])
    }

    @Test("a file that holds no certificate, a broken one or is no file is named in the error")
    func unusable() throws {
        let pem = CertificateFixture.pem
        try write(Data("-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n".utf8), "key.pem")
        try write(
            Data((pem + "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n").utf8), "second.pem")
        try write(Data(), "empty.crt")
        try FileManager.default.createDirectory(
            atPath: "\(directory)/folder.pem", withIntermediateDirectories: false)
        for name in ["key.pem", "second.pem", "empty.crt", "folder.pem", "/dev/zero"] {
            let path = name.hasPrefix("/") ? name : "\(directory)/\(name)"
            let error = #expect(throws: SessionError.self, "\(path)") {
                try CertificateFiles.certificates(inFile: path)
            }
            #expect(error?.code == .cannotOpenFile && error?.message.contains(name) ?? false)
        }
        #expect(throws: SessionError.self) { try CertificateFiles.certificates(inDirectory: directory) }
    }

    @Test("a file or directory that is not there is named in the error")
    func missing() {
        for path in ["\(directory)/none.pem", "\(directory)/none"] {
            #expect {
                try SecurityPolicy(pinningMode: .certificate, certificatesInFile: path)
            } throws: {
                let error = $0 as? SessionError
                return error?.code == .noPermissionsToReadFile && error?.message.contains(path) ?? false
            }
        }
        #expect {
            try SecurityPolicy(pinningMode: .certificate, certificatesInDirectory: "\(directory)/none")
        } throws: {
            ($0 as? SessionError)?.code == .noPermissionsToReadFile
        }
    }
}
