// SPDX-License-Identifier: Apache-2.0
package io.crest

/** See [[io.crest.scala.Words]]. */
package object scala extends io.crest.scala.Words
