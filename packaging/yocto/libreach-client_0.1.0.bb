# SPDX-License-Identifier: Apache-2.0
SUMMARY = "Asks the service of Reach for the network's status, from C"
LICENSE = "Apache-2.0"
LIC_FILES_CHKSUM = "file://LICENSE;md5=3b83ef96387f14655fc854ddc3c6bd57"

# As in reach_0.1.0.bb; both come from one clone.
REACH_REPOSITORY ??= "git://${@os.path.abspath(d.getVar('THISDIR') + '/../..')};protocol=file;branch=main"
SRCREV ??= "${AUTOREV}"
SRC_URI = "${REACH_REPOSITORY}"

S = "${WORKDIR}/git"

# No Swift: a C compiler and libc. CC, CFLAGS and LDFLAGS come from the environment.
EXTRA_OEMAKE = "-C ${S}/Clients/reach-client BUILD=${B}/client PREFIX=${prefix} LIBDIR=${libdir} INCLUDEDIR=${includedir} MANDIR=${mandir}"

do_compile() {
    oe_runmake
}

do_install() {
    oe_runmake install DESTDIR=${D}
}
