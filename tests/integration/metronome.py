"""Asks for a page, waits for the delay, asks again, until it is ended: ADDRESS PORT SECONDS."""
import socket
import sys
import time

with socket.create_connection((sys.argv[1], int(sys.argv[2]))) as connection:
    while True:
        connection.sendall(b"GET /0 HTTP/1.1\r\nHost: metronome\r\n\r\n")
        if not connection.recv(65536):
            break
        time.sleep(float(sys.argv[3]))  # what it measures by: a wait of this length
