"""A webhook's other end: keeps every body in FILE, one a line, answers with the status in
FILE.status (200), and says its port first."""

import http.server
import os
import sys

path = sys.argv[1]


class Receiver(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        status = 200
        if os.path.exists(path + ".status"):
            with open(path + ".status", encoding="ascii") as f:
                status = int(f.read())
        if status == 200:
            with open(path, "ab") as f:
                f.write(body + b"\n")
        self.send_response(status)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *args):
        pass


server = http.server.HTTPServer(("127.0.0.1", 0), Receiver)
print(server.server_port, flush=True)
server.serve_forever()
