# SPDX-License-Identifier: Apache-2.0
SUMMARY = "Tells whether the network can be reached, and if not, what is missing"
LICENSE = "Apache-2.0"
LIC_FILES_CHKSUM = "file://LICENSE;md5=3b83ef96387f14655fc854ddc3c6bd57"

# Where Reach comes from: the clone that this recipe lies in, at the commit of its branch main, unless the layer or local.conf says
# otherwise. A recipe that was copied into a layer has to: REACH_REPOSITORY and SRCREV_reach.
REACH_REPOSITORY ??= "git://${@os.path.abspath(d.getVar('THISDIR') + '/../..')};protocol=file;branch=main"
SRCREV_reach ??= "${AUTOREV}"

# The packages, at the versions that Package.swift asks for at least (packaging/yocto/check compares them), fetched by bitbake and not by
# the package manager, so that do_compile needs no network.
VERSION_argument-parser = "1.8.2"
VERSION_http-types = "1.8.0"
VERSION_log = "1.16.2"
SRC_URI = " \
    ${REACH_REPOSITORY};name=reach \
    git://github.com/apple/swift-argument-parser.git;protocol=https;nobranch=1;tag=${VERSION_argument-parser};name=argument-parser;destsuffix=packages/swift-argument-parser \
    git://github.com/apple/swift-http-types.git;protocol=https;nobranch=1;tag=${VERSION_http-types};name=http-types;destsuffix=packages/swift-http-types \
    git://github.com/apple/swift-log.git;protocol=https;nobranch=1;tag=${VERSION_log};name=log;destsuffix=packages/swift-log \
"
SRCREV_FORMAT = "reach"

S = "${WORKDIR}/git"

# The Swift compiler and its runtime for the target come from meta-swift, which builds into ${B}.
inherit swift pkgconfig systemd useradd bash-completion qemu

# pkg-config finds libnl in the sysroot; of libcurl and zlib only the headers are used. They and SQLite are opened when needed.
DEPENDS += "libnl curl zlib qemu-native"
RDEPENDS:${PN} += "libnl libnl-route"
RRECOMMENDS:${PN} += "libcurl libsqlite3 ca-certificates"
RSUGGESTS:${PN} += "libidn2 zlib brotli"

# The package manager takes the fetched packages for those of GitHub, at the commits that were fetched, and resolves nothing anew.
EXTRA_OESWIFT = "--product reach --disable-automatic-resolution"
do_pin_packages() {
    cd ${S}
    separator=""
    printf '{ "version": 3, "pins": [' >Package.resolved
    for pin in argument-parser=${VERSION_argument-parser} http-types=${VERSION_http-types} log=${VERSION_log}; do
        package=swift-${pin%%=*}
        clone=${WORKDIR}/packages/$package
        swift package config set-mirror --original https://github.com/apple/$package --mirror file://$clone
        printf '%s { "identity": "%s", "kind": "remoteSourceControl", "location": "https://github.com/apple/%s",' "$separator" $package $package
        printf ' "state": { "revision": "%s", "version": "%s" } }' "$(git -C $clone rev-parse HEAD)" ${pin#*=}
        separator=,
    done >>Package.resolved
    printf ' ] }\n' >>Package.resolved
}
addtask pin_packages after do_configure before do_compile

# The program itself writes its completions and the sample of its configuration.
REACH_RUN = "${@qemu_wrapper_cmdline(d, d.getVar('STAGING_DIR_HOST'), [d.expand('${STAGING_DIR_HOST}${libdir}'), d.expand('${STAGING_DIR_HOST}${base_libdir}'), d.expand('${STAGING_DIR_HOST}${libdir}/swift/linux')])}"

do_install() {
    install -D -m 755 ${B}/release/reach ${D}${bindir}/reach
    for unit in reach.service reach.socket reach-wait-online.service reach-wait-online@.service; do
        install -D -m 644 ${S}/packaging/systemd/$unit ${D}${systemd_system_unitdir}/$unit
    done
    for page in ${S}/packaging/man/*.[1-9]; do
        install -D -m 644 $page ${D}${mandir}/man${page##*.}/${page##*/}
    done
    install -d ${D}${datadir}/bash-completion/completions ${D}${datadir}/zsh/site-functions ${D}${datadir}/fish/vendor_completions.d
    ${REACH_RUN} ${B}/release/reach --generate-completion-script bash | sed '1{/^#!/d}' >${D}${datadir}/bash-completion/completions/reach
    ${REACH_RUN} ${B}/release/reach --generate-completion-script zsh | sed '1{/^#!/d}' >${D}${datadir}/zsh/site-functions/_reach
    ${REACH_RUN} ${B}/release/reach --generate-completion-script fish | sed '1{/^#!/d}' >${D}${datadir}/fish/vendor_completions.d/reach.fish
    install -d -m 755 ${D}${sysconfdir}/reach/hooks.d
    ${REACH_RUN} ${B}/release/reach serve --sample >${D}${sysconfdir}/reach/reach.toml
    install -D -m 644 ${S}/packaging/systemd/reach.default ${D}${sysconfdir}/default/reach
}

SYSTEMD_SERVICE:${PN} = "reach.socket reach.service"
# What packaging/systemd/reach.sysusers says.
USERADD_PACKAGES = "${PN}"
USERADD_PARAM:${PN} = "--system --no-create-home --home-dir /var/lib/reach --shell /bin/false --user-group reach"
CONFFILES:${PN} = "${sysconfdir}/reach/reach.toml ${sysconfdir}/default/reach"
FILES:${PN} += "${systemd_system_unitdir} ${datadir}/zsh ${datadir}/fish"
