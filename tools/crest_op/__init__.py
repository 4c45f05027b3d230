# SPDX-License-Identifier: Apache-2.0
"""One operation as a tree of its spans: crest op. See op_main.py."""
