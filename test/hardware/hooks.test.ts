// Hooks of the driver manual, one by one: programs that hang, print too much, leave someone behind or are not there, and
// services that answer this and that.
import assert from 'node:assert/strict'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { after, before, describe, test } from 'node:test'
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { AddressInfo } from 'node:net'
import { makeCall } from '../../src/metal/drivers/manual/call.ts'
import { runProgram } from '../../src/metal/drivers/manual/program.ts'
import { verdictOn } from '../../src/metal/drivers/manual/verdict.ts'
import { limits } from '../../src/shared/limits.ts'
import { headersFor } from '../../src/webhooks/signature.ts'
import { isAlive } from '../support/alive.ts'
import { waitFor } from '../support/baremetal.ts'

const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`

void describe('a program', () => {
  let folder = ''
  before(async () => void (folder = await mkdtemp(join(tmpdir(), 'holdfast-hooks-'))))
  after(() => rm(folder, { recursive: true }))

  const script = async (name: string, text: string, mode = 0o755) => {
    const file = join(folder, name)
    await writeFile(file, text)
    await chmod(file, mode)
    return file
  }
  const run = (command: string[], { seconds = 60, input = '{}', signal = new AbortController().signal } = {}) =>
    runProgram({ program: { command, seconds }, words: [], input, signal })
  const sh = (text: string, options = {}) => run(['/bin/sh', '-c', text], options)
  const pidIn = (file: string) =>
    waitFor(`${file} has a number`, async () => Number(await readFile(join(folder, file), 'utf8').catch(() => '')))

  void test('gets the letter on its standard input, and its last line is the reason', async () => {
    const ran = await sh('cat; echo; echo beware >&2; echo all is well; echo', { input: '{"a":1}' })
    assert.deepEqual(verdictOn(ran), { kind: 'done', said: 'all is well' })
    assert.match(ran.output, /\{"a":1\}/)
    assert.match(ran.output, /beware/)
  })

  void test('gets no settings of the service, and no shell reads its words', async () => {
    process.env['HOLDFAST_DATABASE'] = 'postgres://u:secret@h/d'
    const ran = await run(['/usr/bin/env'])
    delete process.env['HOLDFAST_DATABASE']
    assert.doesNotMatch(ran.output, /secret|HOLDFAST/)
    assert.equal((await run(['/bin/echo', '$(id); `id`'])).said, '$(id); `id`')
  })

  void test('that does not read its input is no failure', async () => {
    assert.equal((await sh('exec true', { input: 'x'.repeat(1_000_000) })).end.kind, 'exit')
  })

  void test('that prints 100 MB is heard out, and its end is kept', async () => {
    const ran = await sh('head -c 100000000 /dev/zero | tr "\\0" x; echo; echo the end')
    assert.deepEqual([ran.end, ran.said], [{ kind: 'exit', code: 0 }, 'the end'])
    assert.ok(ran.output.length <= limits.hookOutputCharsMax)
  })

  void test('that takes too long is ended with all that it started, also when it does not listen', async () => {
    const ran = await sh(`trap '' TERM; (trap '' TERM; sleep 300) & echo $! > ${folder}/child; echo busy; sleep 300`, {
      seconds: 1,
    })
    assert.deepEqual(verdictOn(ran), { kind: 'failed', why: 'took longer than 1 seconds and was ended: busy' })
    const child = await pidIn('child')
    await waitFor('its child is gone', async () => !isAlive(child))
  })

  void test('that leaves someone behind is over when it ends', async () => {
    const ran = await sh(`sleep 300 & echo $! > ${folder}/left; echo done`)
    assert.deepEqual(verdictOn(ran), { kind: 'done', said: 'done' })
    const left = await pidIn('left')
    await waitFor('what it left in its group is ended', async () => !isAlive(left))
    const daemon = await sh(`setsid sleep 20 & echo $! > ${folder}/daemon; echo up`)
    assert.deepEqual(verdictOn(daemon), { kind: 'done', said: 'up' })
    process.kill(await pidIn('daemon'), 'SIGKILL')
  })

  void test('is ended when the process stops', async () => {
    const stopping = new AbortController()
    const running = sh(`echo $$ > ${folder}/own; sleep 300`, { signal: stopping.signal })
    await pidIn('own')
    stopping.abort()
    assert.deepEqual((await running).end, { kind: 'signal', signal: 'SIGTERM' })
  })

  void test('that is not there, may not be executed or is no program says so', async () => {
    const why = async (file: string) => (verdictOn(await run([file])) as { why: string }).why
    assert.match(await why(join(folder, 'none')), /could not be started \(.*none\): there is no such program/)
    assert.match(await why(await script('plain', '#!/bin/sh\n', 0o644)), /it may not be executed/)
    assert.match(await why(await script('lost', '#!/no/such/shell\n')), /interpreter that is not there/)
    assert.match(await why(await script('text', 'hello\n')), /it is no program|exit code/)
    assert.equal((await sh('kill -SEGV $$')).end.kind, 'signal')
  })
})

void describe('a call', () => {
  let answer: (request: IncomingMessage, response: ServerResponse, body: string) => void = () => {}
  const service = createServer((request, response) => {
    let body = ''
    request.setEncoding('utf8').on('data', text => (body += text))
    request.on('end', () => answer(request, response, body))
  })
  let url = ''
  before(
    () =>
      new Promise<void>(resolve =>
        service.listen(0, '127.0.0.1', () => {
          url = `http://127.0.0.1:${(service.address() as AddressInfo).port}/hook`
          resolve()
        }),
      ),
  )
  after(() => service.close().closeAllConnections())

  const call = (seconds = 60, to = url) =>
    makeCall({
      call: { url: to, secret: SECRET, seconds },
      id: 'n.1.deploy',
      body: '{"a":1}',
      sign: ({ id, body, secret }) => headersFor({ id, body, secrets: [secret] }, 1_000_000),
      signal: new AbortController().signal,
    })

  void test('carries the letter, signed as webhooks are, with the attempt as its id', async () => {
    let got: unknown = null
    answer = ({ headers, method }, response, body) => {
      got = { method, body, id: headers['webhook-id'], signature: headers['webhook-signature'] }
      response.end('imaged\n')
    }
    assert.deepEqual(verdictOn(await call()), { kind: 'done', said: 'imaged' })
    const { 'webhook-signature': signature } = headersFor(
      { id: 'n.1.deploy', body: '{"a":1}', secrets: [SECRET] },
      1_000_000,
    )
    assert.deepEqual(got, { method: 'POST', body: '{"a":1}', id: 'n.1.deploy', signature })
  })

  void test('202, and 503 with a time, ask for more time; redirects and others fail', async () => {
    const answering = (status: number, headers = {}) => {
      answer = (_, response) => response.writeHead(status, headers).end('so it is')
      return call().then(verdictOn)
    }
    assert.deepEqual(await answering(202), { kind: 'later', said: 'so it is', retryAfterMs: null })
    assert.deepEqual(await answering(503, { 'retry-after': '7' }), {
      kind: 'later',
      said: 'so it is',
      retryAfterMs: 7_000,
    })
    assert.match(JSON.stringify(await answering(302, { location: '/' })), /redirects are not followed/)
    assert.match(JSON.stringify(await answering(503)), /was answered with 503: so it is/)
  })

  void test('that nobody answers fails in words', async () => {
    const why = async (...args: Parameters<typeof call>) => (verdictOn(await call(...args)) as { why: string }).why
    answer = () => {}
    assert.equal(await why(1), 'took longer than 1 seconds and was ended')
    answer = request => request.socket.destroy()
    assert.match(await why(), /got no answer: the connection was closed/)
    assert.equal(await why(60, 'http://127.0.0.1:9/'), 'got no answer: nothing listens there')
  })
})
