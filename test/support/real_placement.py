"""Serves Debian's real Placement on an empty SQLite database: real_placement.py FOLDER PORT. Any token is an admin's."""
import os
import sys
import wsgiref.simple_server

folder, port = sys.argv[1], int(sys.argv[2])
with open(os.path.join(folder, 'placement.conf'), 'w') as out:
    out.write('\n'.join([
        '[DEFAULT]', 'log_file = %s/log' % folder, 'use_stderr = false',
        '[api]', 'auth_strategy = noauth2',
        '[placement_database]', 'connection = sqlite:///%s/db' % folder, 'sync_on_startup = true',
    ]) + '\n')
os.environ['OS_PLACEMENT_CONFIG_DIR'] = folder
from placement import wsgi  # noqa: E402: it reads the variable above


class Handler(wsgiref.simple_server.WSGIRequestHandler):
    def get_environ(self):
        env = super().get_environ()
        # wsgiref invents text/plain for requests without a body.
        if self.headers.get('content-type') is None:
            env['CONTENT_TYPE'] = ''
        return env

    def log_message(self, *args):
        pass


class Server(wsgiref.simple_server.WSGIServer):
    # One request at a time: on SQLite its parallel writes fail. A connection is one request (HTTP/1.0).
    request_queue_size = 64


wsgiref.simple_server.make_server('127.0.0.1', port, wsgi.init_application(), Server, Handler).serve_forever()
