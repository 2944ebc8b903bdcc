# SPDX-License-Identifier: Apache-2.0
SUMMARY = "Tells whether the network can be reached, and if not, what is missing"
LICENSE = "Apache-2.0"
LIC_FILES_CHKSUM = "file://LICENSE;md5=3b83ef96387f14655fc854ddc3c6bd57"

# The Swift compiler and its target runtime come from meta-swift; the three packages are fetched by bitbake, not by the
# package manager, so that do_compile needs no network.
inherit swift pkgconfig systemd useradd

SRC_URI = " \
    git://example.org/reach.git;protocol=https;branch=main;name=reach \
    git://github.com/apple/swift-argument-parser.git;protocol=https;branch=main;name=argument-parser;destsuffix=packages/swift-argument-parser \
    git://github.com/apple/swift-http-types.git;protocol=https;branch=main;name=http-types;destsuffix=packages/swift-http-types \
    git://github.com/apple/swift-log.git;protocol=https;branch=main;name=log;destsuffix=packages/swift-log \
"
SRCREV_FORMAT = "reach"
SRCREV_reach = "${AUTOREV}"
# The commits of 1.8.2, 1.8.0 and 1.16.2: to be filled in by whoever fetches them.
SRCREV_argument-parser = "INVALID"
SRCREV_http-types = "INVALID"
SRCREV_log = "INVALID"

S = "${WORKDIR}/git"

# pkg-config finds libnl in the sysroot (PKG_CONFIG_SYSROOT_DIR is set by pkgconfig.bbclass).
DEPENDS = "libnl"
RDEPENDS:${PN} = "libnl libnl-route libcurl libsqlite3"
RRECOMMENDS:${PN} = "ca-certificates"

do_configure:prepend() {
    for package in swift-argument-parser swift-http-types swift-log; do
        swift package --package-path ${S} edit "$package" --path "${WORKDIR}/packages/$package" || true
    done
}

EXTRA_OESWIFT = "--product reach --disable-automatic-resolution"

do_install() {
    install -D -m 755 ${B}/reach ${D}${bindir}/reach
    for unit in reach.service reach.socket reach-wait-online.service; do
        install -D -m 644 ${S}/packaging/systemd/$unit ${D}${systemd_system_unitdir}/$unit
    done
    for page in ${S}/packaging/man/*.[1-9]; do
        install -D -m 644 $page ${D}${mandir}/man${page##*.}/${page##*/}
    done
    install -d -m 755 ${D}${sysconfdir}/reach/hooks.d
}

SYSTEMD_SERVICE:${PN} = "reach.socket reach.service"
USERADD_PACKAGES = "${PN}"
USERADD_PARAM:${PN} = "--system --no-create-home --home-dir /var/lib/reach --shell /bin/false --user-group reach"
FILES:${PN} += "${systemd_system_unitdir}"
