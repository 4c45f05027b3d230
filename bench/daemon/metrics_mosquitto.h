/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What mosquitto.patch counts and times. A message from one client to one other is six records at
 * QoS 0, and three keyed timings more at QoS 1.
 */
#ifndef METRICS_MOSQUITTO_H
#define METRICS_MOSQUITTO_H

/* COUNTER(variable, name, description), and so on. */
#define METRICS(COUNTER, HISTOGRAM, TIMER, SAMPLER)                                                \
    COUNTER(received, "mosquitto.received", "Messages from clients.")                              \
    COUNTER(received_bytes, "mosquitto.received-bytes", "Their payloads.")                         \
    COUNTER(sent, "mosquitto.sent", "Messages to clients.")                                        \
    COUNTER(sent_bytes, "mosquitto.sent-bytes", "Their payloads.")                                 \
    HISTOGRAM(payload_size, "mosquitto.payload-size", "A payload from a client.")                  \
    TIMER(publish_time, "mosquitto.publish", "Handling a message of a client.")                    \
    TIMER(accept_time, "mosquitto.accept", "From a message to its acknowledgement.")               \
    TIMER(stored_time, "mosquitto.stored", "A message in the store.")                              \
    TIMER(delivery_time, "mosquitto.delivery", "From sending to the client's acknowledgement.")

#endif
