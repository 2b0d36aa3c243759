#!/usr/bin/python3
"""Runs Placement's gabbi files against running servers: a job a line on stdin, a report a line on stdout.

A job is {"file": PATH, "url": BASE}; its server must be empty. The report is {"tests": [{name, outcome, message,
request}], "error": why tests are missing}. Each file runs in a forked child: gabbi and the fixtures talk through
environment variables, and a fork spares the second it takes to load gabbi.
"""
import json
import os
import sys
import unittest
import urllib.parse

sys.dont_write_bytecode = True

try:
    from gabbi import handlers
    from gabbi import suitemaker
    from gabbi import utils
    from gabbi.handlers import core
except ImportError:
    sys.exit(2)

import fixtures

MESSAGE_MAX = 2000


class Strings(core.StringResponseHandler):
    """response_strings with /regular expressions/, which gabbi 2.4 (Debian 12) lacks and the files use."""

    def action(self, test, expected, value=None):
        text = str(expected)
        if len(text) > 1 and text.startswith('/') and text.endswith('/'):
            pattern = test.replace_template(text, escape_regex=True)[1:-1]
            test.assertRegex(test.output, pattern)
        else:
            super().action(test, expected, value)


class Result(unittest.TestResult):
    """Keeps the first word on each test: gabbi may report a failure and then a success of the same one."""

    def __init__(self):
        super().__init__()
        self.tests = []

    def startTest(self, test):
        super().startTest(test)
        self.seen = None

    def note(self, outcome, message=None):
        self.seen = self.seen or (outcome, message)

    def addSuccess(self, test):
        self.note('pass')

    def addFailure(self, test, err):
        self.note('fail', ('%s: %s' % (err[0].__name__, err[1]))[:MESSAGE_MAX])

    addError = addFailure

    def addSkip(self, test, reason):
        self.note('skip', reason)

    def addExpectedFailure(self, test, err):
        self.note('pass')

    def addUnexpectedSuccess(self, test):
        self.note('fail', 'passed although marked xfail')

    def stopTest(self, test):
        super().stopTest(test)
        data = test.test_data
        outcome, message = self.seen or ('fail', 'no result')
        request = '%s %s' % (data['method'], getattr(test, 'url', data['url']))
        self.tests.append({'name': data['name'], 'outcome': outcome, 'message': message, 'request': request})


def mount(suite, prefix):
    """The files expect the links of a service mounted at the root; ours has a prefix."""
    for test in suite['tests']:
        paths = test.get('response_json_paths') or {}
        for path, expected in paths.items():
            is_link = path.endswith('.href') and isinstance(expected, str)
            if is_link and expected.startswith('/') and not expected.endswith('/'):
                paths[path] = prefix + expected


def run(job):
    parts = urllib.parse.urlsplit(job['url'])
    prefix = parts.path.rstrip('/')
    suite = utils.load_yaml(yaml_file=job['file'])
    mount(suite, prefix)
    try:
        fixtures.load(suite.get('fixtures') or [], job['url'])
    except Exception as exc:
        return {'tests': [], 'error': 'fixture not loaded: %s: %s' % (type(exc).__name__, exc)}
    folder, name = os.path.split(job['file'])
    tests = suitemaker.test_suite_from_dict(
        unittest.defaultTestLoader, os.path.splitext(name)[0], dict(suite, fixtures=[]), folder,
        parts.hostname, parts.port, None, None, prefix=prefix, test_loader_name='placement',
        # The first handler for a key wins.
        handlers=[handler() for handler in [Strings] + handlers.RESPONSE_HANDLERS])
    result = Result()
    tests.run(result)
    return {'tests': result.tests}


def main():
    # gabbi prints what it likes; reports have the real stdout for themselves.
    reports = os.fdopen(os.dup(1), 'w')
    os.dup2(2, 1)
    for name in list(os.environ):
        if name.lower() in ('http_proxy', 'https_proxy', 'all_proxy'):
            del os.environ[name]
    for line in iter(sys.stdin.readline, ''):
        child = os.fork()
        if child == 0:
            try:
                report = run(json.loads(line))
            except Exception as exc:
                report = {'tests': [], 'error': '%s: %s' % (type(exc).__name__, exc)}
            reports.write(json.dumps(report) + '\n')
            reports.flush()
            os._exit(0)
        _, status = os.waitpid(child, 0)
        if status:
            reports.write(json.dumps({'tests': [], 'error': 'gabbi ended with status %s' % status}) + '\n')
            reports.flush()


if __name__ == '__main__':
    main()
