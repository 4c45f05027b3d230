// SPDX-License-Identifier: Apache-2.0
package io.crest;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * The Java program that tests/jvm/test_jvm_push.py drives: one command a line, and one line for an
 * answer to each. It ends with its standard input.
 */
final class ReportMain {
    static final long[] SIZES = {1, 100, 700, 3_000, 50_000, 1_000_000, 20_000_000};
    static final long[] NANOS = {
        1_000_000, 7_000_000, 300_000_000, 4_000_000_000L, 20_000_000_000L
    };

    private static final Counter EVENTS = Counter.of("java.events", "Things that happened.");
    private static final Counter LATE = Counter.of("java.late", "Things of a shutdown hook.");
    private static final Counter BUSY = Counter.of("java.busy", "What daemon threads count.");
    private static final Family<Counter> KINDS =
            Metric.named("java.kinds").labelled("kind").counter();
    private static final Histogram SIZE = Metric.named("java.size").in(Unit.BYTES).histogram();
    private static final Timer WORK = Timer.of("java.work", "Work.");

    private ReportMain() {}

    public static void main(String[] arguments) throws Exception {
        PrintStream out = new PrintStream(System.out, true, "UTF-8");
        BufferedReader in =
                new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        out.println("ready " + Runtime.version().feature() + " " + Crest.available());
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            String[] words = line.split(" ", 2);
            String rest = words.length > 1 ? words[1] : "";
            if (words[0].equals("return")) return;
            if (words[0].equals("throw")) throw new IllegalStateException("on purpose");
            try {
                out.println("OK " + carryOut(words[0], rest));
            } catch (CrestException e) {
                out.println(e.status() + " " + e.getMessage().replace('\n', ' '));
            }
        }
    }

    private static String carryOut(String command, String rest) throws Exception {
        switch (command) {
            case "start":
                if (rest.isEmpty()) Crest.start();
                else Crest.start(rest);
                return "";
            case "stop":
                Crest.stop(Duration.ofMillis(Long.parseLong(rest)));
                return "";
            case "record":
                return record(rest.split(" "));
            case "busy":
                for (int i = 0; i < Integer.parseInt(rest); i++) daemon(ReportMain::countForEver);
                return "";
            case "late":
                Runtime.getRuntime().addShutdownHook(new Thread(() -> late(rest)));
                return "";
            case "exit":
                System.exit(Integer.parseInt(rest));
                return "";
            case "halt":
                Runtime.getRuntime().halt(Integer.parseInt(rest));
                return "";
            default:
                return "no such command: " + command;
        }
    }

    private static void daemon(Runnable work) {
        Thread thread = new Thread(work);
        thread.setDaemon(true);
        thread.start();
    }

    private static void countForEver() {
        while (true) {
            BUSY.increment();
            SIZE.record(700);
        }
    }

    /** A hook that takes a while before it counts. */
    private static void late(String times) {
        try {
            Thread.sleep(200);
        } catch (InterruptedException e) {
            return;
        }
        LATE.increment(Long.parseLong(times));
    }

    /** Records by so many threads of this kind, each so many times; returns how many threads. */
    private static String record(String[] words) throws Exception {
        int times = Integer.parseInt(words[2]);
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < Integer.parseInt(words[1]); i++) {
            int number = i;
            threads.add(thread(words[0].equals("virtual"), () -> record(number, times)));
        }
        for (Thread thread : threads) thread.join();
        return "" + threads.size();
    }

    private static Thread thread(boolean virtual, Runnable work) throws Exception {
        if (virtual) {
            // there from Java 21 on; this is compiled for Java 11
            return (Thread) Thread.class.getMethod("startVirtualThread", Runnable.class)
                    .invoke(null, work);
        }
        Thread thread = new Thread(work);
        thread.start();
        return thread;
    }

    private static void record(int thread, int times) {
        for (int i = 0; i < times; i++) {
            EVENTS.increment();
            KINDS.with("kind " + (thread + i) % 3 + " \u00e9\u2603\ud83d\ude00").increment(2);
            SIZE.record(SIZES[i % SIZES.length]);
            WORK.record(NANOS[i % NANOS.length], i % 10 == 0 ? Outcome.ERROR : Outcome.OK);
            if (i % 100 == 0) Thread.yield();
        }
    }
}
