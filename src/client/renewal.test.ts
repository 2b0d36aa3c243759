import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { countdown } from '../clock/countdown.ts'
import { ApiError, type Ending, type Holdfast } from './index.ts'
import { Renewal } from './renewal.ts'

const TERM = { everyMs: 1, lastsMs: 60_000, graceMs: 10_000, marginMs: 2_000, now: () => 0 }
const HELD = { uuid: 'u', keeper: 'alice/proof' }
const ENDING: Ending = { by: 'bob', message: null, at: '', until: '' }

const serverWith = (allocations: object) => {
  const server = { url: 'http://x', allocations, within: () => server } as unknown as Holdfast
  return server
}

/** A server that refuses each renewal in this way. */
const refusing = (refusal: Error, ending: Ending | null = null) =>
  serverWith({
    async renew() {
      throw refusal
    },
    async show() {
      return { ending }
    },
  })

/** A countdown that loses a second each time it is looked at. */
const quickly = (ms: number) => () => (ms -= 1_000)

async function lost(server: Holdfast): Promise<{ news: string | Ending; told: string }> {
  const told: string[] = []
  const term = { ...TERM, countdown: quickly, warn: (words: string) => void told.push(words) }
  const connect = () => Promise.resolve(server)
  const news = await new Renewal(HELD, term, server, connect, quickly(60_000)).lost
  return { news, told: told.join() }
}

void describe('a renewal that is refused', () => {
  void test('says once why, and gives up while there is time to end the work', async () => {
    const { news, told } = await lost(refusing(new ApiError(409, 'A lease begins.')))
    assert.equal(told, "the node can't be kept longer: A lease begins.")
    assert.equal(news, 'it could not be renewed in time (A lease begins.)')
  })

  void test('because someone ends the allocation says who, at once', async () => {
    assert.deepEqual(await lost(refusing(new ApiError(409, 'bob ends it'), ENDING)), { news: ENDING, told: '' })
  })

  void test('because it is gone says so, at once', async () => {
    assert.deepEqual(await lost(refusing(new ApiError(404, 'not found'))), { news: 'gone', told: '' })
  })

  void test('because the server is away is tried again', async () => {
    assert.deepEqual(await lost(refusing(new Error('odd'))), {
      news: 'it could not be renewed in time (odd)',
      told: '',
    })
    assert.deepEqual(await lost(refusing(new ApiError(503, 'it starts'))), {
      news: 'the server was away for too long (it starts)',
      told: '',
    })
  })

  void test('by a network that says nothing is given up in time, whichever request hangs', async () => {
    const never = () => new Promise<never>(() => {})
    const unknown = async () => {
      throw new ApiError(401, 'who are you?')
    }
    const term = { ...TERM, lastsMs: 200, graceMs: 50, countdown, warn: () => {} }
    for (const renew of [never, unknown]) {
      const left = countdown(term.lastsMs)
      const news = await new Renewal(HELD, term, serverWith({ renew }), never, left).lost
      assert.match(news as string, /^(the server was away for too long|it could not be renewed in time)/)
    }
  })

  void test('at the end of its lease it is no failure of the server', async () => {
    const server = serverWith({ keep: async () => ({}) })
    const term = { ...TERM, countdown: quickly, warn: () => {} }
    const held = { ...HELD, leaseEndsAt: 30_000 }
    const renewal = new Renewal(held, term, server, () => Promise.resolve(server), quickly(12_000))
    let now = 0
    // The clock goes on until nothing of the lease is left.
    Object.assign(term, { now: () => (now += 5_000) })
    assert.equal(await renewal.lost, 'its lease ends')
  })

  void test('a lease that is prolonged is kept for longer', async () => {
    const kept: string[] = []
    const done = Promise.withResolvers<void>()
    const keep = async (_: string, until: string) => {
      if (kept.push(until) === 2) done.resolve()
    }
    const server = serverWith({ keep })
    let now = 0
    const term = { ...TERM, now: () => now, countdown: quickly, warn: () => {} }
    const askLeaseEnd = async () => {
      now += 20_000
      return kept.length === 0 ? 50_000 : 300_000
    }
    const held = { ...HELD, leaseEndsAt: 30_000, askLeaseEnd }
    const renewal = new Renewal(held, term, server, () => Promise.resolve(server), quickly(60_000))
    await Promise.race([done.promise, renewal.lost])
    renewal.stop()
    assert.deepEqual(kept.slice(0, 2), ['29s', '60s'])
  })
})
