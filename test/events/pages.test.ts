// GET /holdfast/v1/events in pages: filters, cursors, polls that wait, and who sees what.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { KINDS } from '../../src/events/kinds.ts'
import type { Subject } from '../../src/store/transaction.ts'
import { as, asSystem } from '../support/callers.ts'
import { allocation, CALLER, eachLog, page, streamsAt, typesOf } from '../support/events.ts'
import { until } from '../support/identity.ts'

const headersOf = ({ token, headers = {} }: ReturnType<typeof as>) => ({
  'x-auth-token': token!,
  ...(headers as Record<string, string>),
})

eachLog('pages of events', ({ origin, tell, forget }) => {
  const cursorNow = async (): Promise<string> => (await page(origin())).body.cursor

  test('begin now, after a cursor, or with all that is kept', async () => {
    const first = await page(origin())
    assert.deepEqual([first.status, first.body.events, first.body.more], [200, [], false])
    await tell(allocation('a', 'created'), allocation('a', 'active'))
    const next = await page(origin(), `?after=${first.body.cursor}`)
    assert.deepEqual(typesOf(next), ['holdfast.allocation.created', 'holdfast.allocation.active'])
    assert.deepEqual((await page(origin(), `?after=${next.body.cursor}`)).body.events, [])
    const all = await page(origin(), '?after=0')
    assert.deepEqual(all.body.events.slice(-2), next.body.events)
  })

  test('hold as many as is asked for, and the next begins after them', async () => {
    let cursor = await cursorNow()
    const ids = Array.from({ length: 7 }, () => randomUUID())
    await tell(...ids.slice(0, 4).map(id => allocation(id, 'created')))
    for (const id of ids.slice(4)) await tell(allocation(id, 'created'))
    const seen: string[] = []
    for (let isMore = true; isMore;) {
      const { body } = await page(origin(), `?after=${cursor}&limit=3`)
      assert.ok(body.events.length <= 3)
      seen.push(...body.events.map(({ subject }: { subject: string }) => subject.split('/')[1]))
      cursor = body.cursor
      isMore = body.more
    }
    assert.deepEqual(seen, ids)
  })

  test('are a bare array when asked for a batch, with the cursor in a header', async () => {
    const cursor = await cursorNow()
    await tell(allocation('batch', 'created'))
    const accept = 'application/cloudevents-batch+json'
    const { headers, body } = await page(origin(), `?after=${cursor}`, { ...CALLER, accept })
    assert.equal(headers.get('content-type'), accept)
    assert.equal(body.length, 1)
    assert.deepEqual((await page(origin(), `?after=${headers.get('holdfast-cursor')}`)).body.events, [])
  })

  test('are filtered by kind, type, object and project; claims only when they are named', async () => {
    const cursor = await cursorNow()
    await tell(
      allocation('f1', 'created', 'lab'),
      allocation('f2', 'active', 'office'),
      { kind: 'node', id: 'f3', became: 'traits', whose: { owner: 'office', lessee: 'lab' } },
      { kind: 'consumer', id: 'f1', became: 'set', whose: { project: 'lab' } },
      { kind: 'trait', id: 'CUSTOM_X', became: 'created' },
      { kind: 'node', id: 'f4' },
    )
    const found = async (query: string) =>
      (await page(origin(), `?after=${cursor}${query}`)).body.events.map(({ subject }: { subject: string }) => subject)
    assert.deepEqual(await found(''), ['allocation/f1', 'allocation/f2', 'node/f3'])
    assert.deepEqual(await found('&kind=node'), ['node/f3'])
    assert.deepEqual(await found('&kind=allocation.active,holdfast.node.traits'), ['allocation/f2', 'node/f3'])
    assert.deepEqual(await found('&kind=claim,allocation'), ['allocation/f1', 'allocation/f2', 'claim/f1'])
    assert.deepEqual(await found('&object=f1&kind=claim,allocation'), ['allocation/f1', 'claim/f1'])
    assert.deepEqual(await found('&object=claim/f1,node/f3&kind=claim,node'), ['node/f3', 'claim/f1'])
    assert.deepEqual(await found('&project=office'), ['allocation/f2', 'node/f3'])
    assert.deepEqual(await found('&project=lab'), ['allocation/f1', 'node/f3'])
  })

  test('wait for something when asked to, and no longer', async () => {
    const cursor = await cursorNow()
    const waiting = page(origin(), `?after=${cursor}&wait=50s&object=w1`)
    await until(
      () => streamsAt(origin()),
      count => count === 1,
    )
    // Of these it isn't told.
    await tell(allocation('w2', 'created'))
    await tell(allocation('w1', 'created'))
    const { body } = await waiting
    assert.deepEqual(
      body.events.map(({ subject }: { subject: string }) => subject),
      ['allocation/w1'],
    )
    assert.deepEqual((await page(origin(), `?after=${body.cursor}&wait=20ms`)).body.events, [])
    assert.equal(await streamsAt(origin()), 0)
  })

  test('a wish that makes no sense is refused in clear words', async () => {
    const refusals: [string, RegExp][] = [
      ['?kind=machine', /no kind 'machine'; there are allocation, /],
      ['?kind=allocation.deleted', /no type 'allocation.deleted'; of allocation there are created, /],
      ['?kind=allocation,', /empty name/],
      ['?after=yesterday', /'yesterday' is no cursor/],
      ['?after=-1', /no cursor/],
      ['?limit=0', /limit must be/],
      ['?limit=many', /limit must be/],
      ['?wait=2h', /wait must be/],
      ['?wait=56s', /wait must be/],
      ['?after=1&after=2', /only once/],
      ['?colour=red', /colour|Additional|unexpected/i],
      [`?object=${Array.from({ length: 101 }, (_, i) => i).join()}`, /at most 100/],
    ]
    for (const [query, words] of refusals) {
      const { status, body } = await page(origin(), query)
      assert.equal(status, 400, query)
      assert.match(body.error.message, words, query)
    }
    const { status } = await page(origin(), '', { ...CALLER, 'last-event-id': 'x' })
    assert.equal(status, 400)
  })

  test('a cursor of another database, or one that is no longer kept, is gone', async () => {
    const ahead = await page(origin(), '?after=999999999')
    assert.equal(ahead.status, 410)
    assert.equal(ahead.body.error.kind, 'events_ahead')
    for (let i = 0; i < 5; i++) await tell(allocation(`old-${i}`, 'created'))
    const cursor = await cursorNow()
    const last = Number.parseInt(cursor, 10)
    await forget()
    await tell(allocation('new', 'created'))
    const gone = await page(origin(), `?after=${last - 1}`)
    assert.equal(gone.status, 410)
    assert.equal(gone.body.error.kind, 'events_gone')
    const { oldest, newest } = gone.body.error.details
    assert.ok(Number(oldest) > last && Number(newest) >= Number(oldest), JSON.stringify(gone.body))
    const stream = await page(origin(), `?after=${last - 1}`, { ...CALLER, accept: 'text/event-stream' })
    assert.equal(stream.status, 410)
    // Nothing is missing after the last that went, and 0 is all that there is.
    for (const after of [Number(oldest) - 1, 0]) {
      const { status, body } = await page(origin(), `?after=${after}`)
      assert.deepEqual([status, body.events.at(-1).subject], [200, 'allocation/new'])
    }
  })

  test('hold what the caller may read, and the cursor goes on past the rest', async () => {
    const cursor = await cursorNow()
    const subjects: Subject[] = [
      allocation('r1', 'created', 'lab'),
      { kind: 'reservation', id: 'r2', became: 'created', whose: { project: 'lab' } },
      { kind: 'node', id: 'r3', became: 'traits', whose: { owner: 'lab', lessee: null } },
      { kind: 'node', id: 'r4', became: 'traits', whose: { owner: 'others', lessee: 'lab' } },
      { kind: 'lease', id: 'r5', became: 'started', whose: { project: 'lab' } },
      { kind: 'server', id: 'r6', became: 'active', whose: { project: 'lab' } },
      { kind: 'resource_provider', id: 'r7', became: 'inventory' },
      { kind: 'consumer', id: 'r8', became: 'set', whose: { project: 'lab' } },
      { kind: 'conductor', id: 'r9', became: 'joined' },
      { kind: 'webhook', id: 'r11', became: 'disabled', whose: { project: 'lab' } },
      { kind: 'node', id: 'r12', became: 'traits' },
    ]
    await tell(...subjects)
    const heard = async (who: ReturnType<typeof as>) => {
      const { body } = await page(origin(), `?after=${cursor}&kind=${Object.keys(KINDS).join()}`, headersOf(who))
      assert.equal(body.cursor, (await page(origin())).body.cursor)
      return body.events.map(({ subject }: { subject: string }) => Number(subject.split('/r')[1])).join(' ')
    }
    assert.equal(await heard(as('admin', 'any')), '1 2 3 4 5 6 7 8 9 11 12')
    assert.equal(await heard(as('reader', 'lab')), '1 2 3 4 5 6 9')
    assert.equal(await heard(as('member', 'lab')), '1 2 3 4 5 6 9 11')
    assert.equal(await heard(as('member', 'others')), '4 9')
    assert.equal(await heard(as('', 'lab')), '')
    assert.equal(await heard(asSystem('reader')), '1 2 3 4 9 12')
    const nobody = await page(origin(), '', {})
    assert.equal(nobody.status, 401)
  })
})
