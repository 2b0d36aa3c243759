# Runs commands of OpenStack's clients, each in a fork of this process: their modules take five times as long to load as to run.
# A line of JSON in, {"command", "args", "env"}; a line of JSON out, {"code", "stdout", "stderr"}.
import gc
import importlib
import json
import os
import sys
import tempfile
import traceback

COMMANDS = {"openstack": "openstackclient.shell", "baremetal": "ironicclient.shell", "python": None}

# What most commands import when they run; what isn't installed isn't asked for either.
EARLY = [
    *filter(None, COMMANDS.values()),
    "openstack.connection",
    "osc_lib.clientmanager",
    "ironicclient.v1.client",
    "ironicclient.osc.v1.baremetal_node",
    "ironicclient.osc.v1.baremetal_allocation",
    "osc_placement.plugin",
    "osc_placement.resources.resource_provider",
    "blazarclient.osc.plugin",
    "novaclient.v2.client",
    "cinderclient.v3.client",
    "openstackclient.compute.v2.server",
    "keystoneauth1.loading",
    "requests",
]


def run(command, args):
    if COMMANDS[command] is None:
        sys.argv = ["-c", *args[2:]]
        exec(compile(args[1], "<script>", "exec"), {"__name__": "__main__"})
        return 0
    sys.argv = [command, *args]
    return importlib.import_module(COMMANDS[command]).main(args)


def child(request, stdout, stderr):
    os.dup2(stdout.fileno(), 1)
    os.dup2(stderr.fileno(), 2)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.environ.clear()
    os.environ.update(request["env"])
    try:
        code = run(request["command"], request["args"])
    except SystemExit as end:
        code = end.code
    except BaseException:
        traceback.print_exc()
        code = 1
    sys.stdout.flush()
    sys.stderr.flush()
    # Without taking down what the others need.
    os._exit(code if isinstance(code, int) else int(code is not None))


for name in EARLY:
    try:
        importlib.import_module(name)
    except ImportError:
        pass

gc.freeze()

for line in sys.stdin:
    with tempfile.TemporaryFile() as stdout, tempfile.TemporaryFile() as stderr:
        pid = os.fork()
        if pid == 0:
            child(json.loads(line), stdout, stderr)
        _, status = os.waitpid(pid, 0)
        texts = []
        for file in (stdout, stderr):
            file.seek(0)
            texts.append(file.read().decode())
    answer = {"code": os.waitstatus_to_exitcode(status), "stdout": texts[0], "stderr": texts[1]}
    sys.stdout.write(json.dumps(answer) + "\n")
    sys.stdout.flush()
