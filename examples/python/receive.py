#!/usr/bin/env python3
"""Receives events, as a channel must, and prints each.

    python3 examples/python/receive.py [path to demo-channel.json] [port]
    npx perennial-server channel set test_demo --callback http://localhost:3000/events
"""

import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from perennial import Channel, UnreadableChannel

PATH = "/events"
MAX_BODY = 1_048_576


def tell(event_type, data):
    """Unknown types are acknowledged too, because later versions may add some."""
    if event_type == "order.status.changed":
        return f"order {data['orderNo']}  {data['orderStatus']}"
    if event_type == "payment.status.changed":
        return f"order {data['orderNo']}  period {data['cycleNo']} {data['paymentStatus']}"
    if event_type == "payment.upcoming":
        # In production notify the user, with redeemUrl for unsubscribing before the debit, unless this came too late.
        return f"order {data['orderNo']}  period {data['cycleNo']} is due {data['expectPayTime']}"
    return "a type that is not known here"


class Receiver(BaseHTTPRequestHandler):
    channel = None
    dealt_with = set()  # in production: 30 days in the database, in the transaction of the event's changes

    def do_POST(self):
        length = self.headers.get("Content-Length", "")
        if self.path != PATH:
            return self.answer(404, "not-found")
        if not length.isdecimal() or int(length) > MAX_BODY:
            return self.answer(400, "length")
        body = self.rfile.read(int(length))
        if not self.channel.verify(PATH, self.headers, body):
            print("refused: not signed by the service, or too old", flush=True)
            return self.answer(401, "signature")
        self.deal(json.loads(body))
        self.answer(200, "0")  # within 5 s: longer work is done afterwards

    def deal(self, event):
        event_id, data = event["eventId"], event["data"]
        if event_id in self.dealt_with:
            return print(f"again     {event_id}, retryNo {event['retryNo']}: it was dealt with", flush=True)
        self.dealt_with.add(event_id)
        about = f"{event['occurredAt']}  {event['eventType']}  {tell(event['eventType'], data)}"
        print(f"event     {event_id}  {about}", flush=True)

    def answer(self, status, code):
        text = json.dumps({"code": code}, separators=(",", ":")).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_):
        pass


if __name__ == "__main__":
    try:
        Receiver.channel = Channel.read(*sys.argv[1:2])
    except UnreadableChannel as reason:
        sys.exit(f"receive: {reason}")
    server = ThreadingHTTPServer(("127.0.0.1", int(sys.argv[2]) if len(sys.argv) > 2 else 3000), Receiver)
    print(f"listening http://localhost:{server.server_port}{PATH}", flush=True)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        pass
