# SPDX-License-Identifier: Apache-2.0
"""crest top: a node's figures in a terminal, as they move."""
