import assert from 'node:assert/strict'
import { createHash, randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { limits } from '../../shared/limits.ts'
import { Rate } from '../../shared/rate.ts'
import { postHeartbeat, showLookup } from './agent.ts'
import type { MetalRequest } from './request.ts'

const TOKEN = 'the token'
const NODE = {
  id: 1,
  uuid: randomUUID(),
  name: 'a-name',
  provision_state: 'wait call-back',
  reservation: null,
  transition: null,
  due_at: null,
  properties: '{}',
  instance_info: '{}',
  driver_internal_info: JSON.stringify({
    agent_secret_token: createHash('sha256').update(TOKEN).digest('hex'),
  }),
}

/** The agents' part of the API, on a store whose every question is answered with these rows. */
function door(rows: object[]) {
  let writes = 0
  type Work = () => Generator<readonly unknown[], unknown, unknown>
  const run = async (work: Work) => {
    const steps = work()
    let step = steps.next()
    while (!step.done) step = steps.next(step.value.map(() => ({ rows, count: rows.length })))
    return step.value
  }
  const write = (work: Work) => (writes++, run(work))
  const store = { read: run, write }
  const agentCalls = new Rate(limits.agentCallsPerMinute, () => 0)
  const context = {
    store,
    agentCalls,
    config: { audit: 'on' },
    clock: { now: () => 0, newSecret: () => Buffer.alloc(32) },
  }
  const request = (more: object) =>
    ({ context, now: 0, base: '', raw: { id: 'r', ip: '10.0.0.7' }, ...more }) as unknown as MetalRequest
  const has = { agentVersion: true, agentToken: true }
  return {
    writes: () => writes,
    lookUp: (uuid: string) => showLookup(request({ parameters: () => new Map([['node_uuid', uuid]]) })),
    beat: (uuid: string, agent_token: string) =>
      postHeartbeat(
        request({
          has,
          param: () => uuid,
          object: () => ({ callback_url: 'http://192.0.2.1', agent_version: '9', agent_token }),
        }),
      ),
  }
}

const failure = async (work: Promise<unknown>) => {
  const error = await work.then(
    () => assert.fail('it was let in'),
    (error: unknown) => error,
  )
  const { kind, message } = error as { kind: string; message: string }
  return { kind, message }
}

test('what strangers ask never waits for a turn to write, and is refused with one text', async () => {
  const locked = { ...NODE, reservation: 'conductor-7' }
  const active = { ...NODE, provision_state: 'active' }
  const refused = new Set<string>()
  for (const rows of [
    [],
    [active],
    [locked],
    [{ ...NODE, provision_state: 'deploying', transition: '{}', due_at: 0 }],
  ]) {
    const { lookUp, beat, writes } = door(rows)
    refused.add(JSON.stringify(await failure(lookUp(NODE.uuid))))
    refused.add(JSON.stringify(await failure(beat(NODE.uuid, 'wrong'))))
    assert.equal(writes(), 0)
  }
  assert.equal(refused.size, 1)
})

test('an agent whose token was told reads without a write', async () => {
  const { lookUp, writes } = door([NODE])
  const { body } = (await lookUp(NODE.uuid)) as { body: { config: { agent_token: string } } }
  assert.deepEqual([body.config.agent_token, writes()], ['******', 0])
})

test('not even the agent is told who works on its node, or what the node is called', async () => {
  const { beat } = door([{ ...NODE, reservation: 'conductor-7' }])
  const { kind, message } = await failure(beat(NODE.uuid, TOKEN))
  assert.equal(kind, 'node_locked')
  assert.doesNotMatch(message, /conductor-7|a-name/)
})

test('an address asks so much in a minute and no more', async () => {
  const { lookUp, beat } = door([])
  for (let i = 0; i < limits.agentCallsPerMinute / 2; i++) {
    assert.equal((await failure(lookUp(NODE.uuid))).kind, 'metal_not_found')
    assert.equal((await failure(beat(NODE.uuid, 'wrong'))).kind, 'metal_not_found')
  }
  assert.equal((await failure(lookUp(NODE.uuid))).kind, 'too_many_attempts')
  assert.equal((await failure(beat(NODE.uuid, TOKEN))).kind, 'too_many_attempts')
})
