// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import HTTPTypes
import SessionCore
import Testing

struct RulesCacheControlTests {
    @Test(
        "numbers: the stricter of two, 0 for nonsense, 2³¹ for more",
        arguments: [
            (["max-age=60"], 60), (["MAX-AGE = \"60\""], 60), (["max-age=60, max-age=30"], 30),
            (["max-age=60", "max-age=90"], 60),
            (["max-age=-1"], 0), (["max-age=1.5"], 0), (["max-age"], 0), (["max-age="], 0),
            (["max-age=x"], 0),
            (["max-age=99999999999999999999"], 1 << 31), (["no-store,, ,max-age=5 ;x, y=\"a,max-age=1\""], 5),
            (["s-maxage=5"], nil),
            ([""], nil), (["=5, max-age=7"], 7), (["\"max-age=1\", max-age=7"], 7),
        ] as [([String], Int64?)])
    func maxAge(_ values: [String], _ expected: Int64?) { #expect(CacheControl(values).maxAge == expected) }

    @Test("every directive is read")
    func directives() {
        let control = CacheControl([
            "No-Store, no-cache=\"set-cookie\", must-revalidate, immutable, only-if-cached, private, unknown=\"x\\\"y\"",
            "stale-while-revalidate=1, stale-if-error=2, min-fresh=3, max-stale=4",
        ])
        #expect(
            control.noStore && control.noCache && control.mustRevalidate && control.isImmutable
                && control.onlyIfCached)
        #expect(control.staleWhileRevalidate == 1)
        #expect(control.staleIfError == 2)
        #expect(control.minFresh == 3)
        #expect(control.maxStale == 4)
        #expect(CacheControl(["max-stale"]).maxStale == .max)
        #expect(CacheControl([]) == CacheControl(["public, private"]))
    }

    @Test("Pragma counts in requests without Cache-Control")
    func pragma() throws {
        var request = try SessionRequest("http://h/")
        try request.setValue("No-Cache", forHeader: "Pragma")
        #expect(CacheControl(request).noCache)
        request.headerFields[.cacheControl] = "max-age=1"
        #expect(!CacheControl(request).noCache)
    }

    @Test("hostile values end")
    func hostile() {
        for piece in ["\"", ",", "=", "a=\"", "max-age=1,", "\u{0}"] {
            _ = CacheControl([String(repeating: piece, count: 200_000)])
        }
    }
}
