# SPDX-License-Identifier: Apache-2.0
#
# What other build systems ask of this one, so that its lists stay the only ones: CMakeLists.txt and
# meson.build run `make -s print-core_src` and the like, and read words.

print-%: ; @printf '%s\n' '$(subst ','\'',$(strip $($*)))'
