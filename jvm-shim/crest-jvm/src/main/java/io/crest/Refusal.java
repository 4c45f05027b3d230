// SPDX-License-Identifier: Apache-2.0
package io.crest;

/** The exceptions for a metric that the library refuses: what, which, why, and what to do. */
final class Refusal {
    private Refusal() {}

    /**
     * Throws unless the instrument can be used: it exists, or a limit is exhausted and it records
     * nowhere.
     */
    static void check(Kind kind, String name, Status status) {
        if (status == Status.OK || status == Status.LIMIT || status == Status.NO_MEMORY) return;
        String message =
                "cannot make " + kind.text + " \"" + name + "\": " + status.text() + "; "
                        + advice(status);
        switch (status) {
            case INVALID_ARGUMENT:
            case INVALID_NAME:
            case INVALID_LABEL:
            case INVALID_TEXT:
                throw new IllegalArgumentException(message);
            default:
                throw new CrestException(status, message);
        }
    }

    private static String advice(Status status) {
        switch (status) {
            case INVALID_ARGUMENT:
                return "settings and their ranges are those that io.crest.Metric names, and the"
                        + " description has at most 1000 bytes";
            case INVALID_NAME:
                return "names are letters, digits and _ in words joined by . and -, begin with a"
                        + " letter, have at most 200 bytes, and are none that Prometheus or Crest"
                        + " itself export";
            case INVALID_LABEL:
                return "label keys are 1 to 8, each another one, of letters, digits and _, at most"
                        + " 100 bytes, and not le, quantile, outcome, job or instance";
            case INVALID_TEXT:
                return "texts are valid Unicode without NUL";
            case TYPE_CLASH:
                return "use that metric, or take another name";
            case NAME_CLASH:
                return "take a name that differs from it in more than unit and ending; the log"
                        + " names both";
            case SPLIT_NAME:
                return "use the name that is there, which the log names, or switch strict off";
            case ABI_MISMATCH:
                return "take the jar and the native library from one version of Crest";
            default:
                return "the log may say more";
        }
    }
}
