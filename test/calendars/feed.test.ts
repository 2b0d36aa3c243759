// What a calendar program gets to see of leases and allocations, read back by a parser.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { limits } from '../../src/shared/limits.ts'
import { inParallel } from '../races/clients.ts'
import { Baremetal, newClass, NEWEST } from '../support/baremetal.ts'
import { expectStatus } from '../support/placement.ts'
import { as, eachReservation, instances, type Shown } from '../support/reservation.ts'
import { eventsIn, fetched, parsed, shownAt } from './program.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS

let projects = 0
const newProject = () => `project-${++projects}`
const member = (project: string) => as('someone', project)
const admin = (project: string) => as('chief', project, 'admin,member,reader')

eachReservation('calendars', api => {
  const metal = new Baremetal()
  before(() => (metal.origins = metal.placement.origins = api.origins))
  after(() => metal.close())

  const calendar = async (of: object, who = member('p1')): Promise<string> =>
    expectStatus(await api.operate('POST', '/calendars', { of }, who), 201).body.url
  const projectCalendar = (project: string) => calendar({ project }, member(project))

  /** Leasable nodes of a new class, with names. */
  async function leasable(...names: string[]) {
    const resource_class = newClass()
    const nodes: string[] = []
    for (const name of names) {
      const node = await metal.node({ resource_class, name, description: `the rack of ${name}` }, 'available')
      expectStatus(await api.operate('PUT', `/leasable-nodes/${node}`), 200)
      nodes.push(node)
    }
    const reservation = { resource_type: 'physical:node', resource_class, min: names.length, max: names.length }
    return { resource_class, nodes, reservations: [reservation] }
  }
  /** The times that the API shows, with or without a zone. */
  const timeOf = (text: string) => Date.parse(/Z|\+/.test(text) ? text : `${text.replace(' ', 'T')}Z`)
  const rename = async (node: string, name: string) =>
    expectStatus(await metal.patch(`/v1/nodes/${node}`, [{ op: 'replace', path: '/name', value: name }]), 200)

  void test('a lease is an event from its start to its end, with an alarm before the end', async () => {
    const project = newProject()
    const { nodes, reservations, resource_class } = await leasable('cal-a', 'cal-b')
    const lease = await api.lease(reservations, { name: 'week 7' }, member(project))
    const url = await projectCalendar(project)
    const [event, ...others] = await shownAt(url)
    assert.deepEqual(others, [])
    assert.equal(event!.uid, `lease-${lease.id}@holdfast`)
    assert.deepEqual([event!.start, event!.end], [timeOf(lease.start_date), timeOf(lease.end_date)])
    assert.deepEqual(event!.alarms, [event!.end - 15 * MINUTE_MS])
    assert.equal(event!.status, 'CONFIRMED')
    // Until the lease starts, its project doesn't see the nodes, but the lease shows their uuids.
    assert.equal(event!.summary, `week 7: 2 nodes of class ${resource_class}`)
    assert.doesNotMatch(JSON.stringify(event), /cal-a|cal-b|rack/)
    for (const text of [lease.id, ...nodes, `holdfast lease delete ${lease.id}`]) {
      assert.ok(event!.description.includes(text), text)
    }
    await api.advance(61)
    const [running] = await shownAt(url)
    assert.equal(running!.summary, 'week 7: cal-a, cal-b')
    assert.ok(running!.sequence > event!.sequence)
    assert.equal(running!.uid, event!.uid)
  })

  void test('the calendar has a name and says how often to look', async () => {
    const { text } = await fetched(await calendar({ project: 'a,b;c\\d\nX:1' }, admin('p1')))
    const sheet = parsed(text)
    assert.equal(sheet.getFirstPropertyValue('version'), '2.0')
    for (const property of ['name', 'x-wr-calname']) {
      assert.equal(sheet.getFirstPropertyValue(property), 'Holdfast: project a b c d X:1')
    }
    assert.match(text, /^REFRESH-INTERVAL;VALUE=DURATION:PT15M\r$/m)
  })

  void test('a change of what is shown raises the sequence and keeps the uid, whatever is changed', async () => {
    const project = newProject()
    const { nodes, reservations } = await leasable('cal-c')
    const lease = await api.lease(reservations, { from: 0, to: 60, name: 'first' }, member(project))
    await api.until(lease.id, 'ACTIVE')
    const url = await projectCalendar(project)
    let before = (await shownAt(url))[0]!
    assert.equal(before.location, 'the rack of cal-c')
    const later = new Date(before.end + HOUR_MS).toISOString().slice(0, 16).replace('T', ' ')
    const changes: [() => Promise<unknown>, (event: typeof before) => unknown, unknown][] = [
      [() => api.update(lease.id, { end_date: later }), event => event.end, before.end + HOUR_MS],
      [() => api.update(lease.id, { name: 'second' }), event => event.summary, 'second: cal-c'],
      [() => rename(nodes[0]!, 'cal-renamed'), event => event.summary, 'second: cal-renamed'],
    ]
    for (const [change, look, expected] of changes) {
      await api.advance(1)
      await change()
      const event = (await shownAt(url))[0]!
      assert.equal(look(event), expected)
      assert.equal(event.uid, before.uid)
      assert.ok(event.sequence > before.sequence, `${event.sequence} after ${before.sequence}`)
      assert.ok(event.stamp > before.stamp)
      before = event
    }
    await api.end(lease.id)
  })

  void test('a lease that is deleted is gone; while its machine is taken away, it is cancelled', async () => {
    const project = newProject()
    const { nodes, reservations } = await leasable('cal-d')
    const [node] = nodes
    const lease = await api.lease(reservations, { from: 0, to: 60 }, member(project))
    await api.until(lease.id, 'ACTIVE')
    await metal.go(node!, 'active', 'active')
    const url = await projectCalendar(project)
    const before = (await shownAt(url))[0]!
    expectStatus(await metal.put(`/v1/nodes/${node}/maintenance`, {}), 202)
    await api.advance(1)
    await api.end(lease.id)
    const withdrawn = (await shownAt(url))[0]!
    assert.deepEqual([withdrawn.uid, withdrawn.status, withdrawn.alarms], [before.uid, 'CANCELLED', []])
    assert.ok(withdrawn.sequence > before.sequence)
    expectStatus(await metal.del(`/v1/nodes/${node}/maintenance`), 202)
    await metal.until(node!, 'available')
    await api.advance(2)
    assert.deepEqual(await shownAt(url), [])
  })

  void test('an allocation with an end is an event, and a renewal moves it', async () => {
    const project = newProject()
    const resource_class = newClass()
    await metal.node({ resource_class, name: 'cal-e', owner: project }, 'available')
    const wish = { resource_class, name: 'job', owner: project, expires_at: '2h' }
    const { uuid } = await metal.allocate(wish, { ...NEWEST, ...admin(project) })
    const { expires_at } = await metal.settled(uuid)
    const url = await projectCalendar(project)
    const event = (await shownAt(url))[0]!
    assert.deepEqual(
      [event.uid, event.summary, event.status, event.end],
      [`allocation-${uuid}@holdfast`, 'job: cal-e', 'CONFIRMED', secondOf(timeOf(expires_at))],
    )
    assert.deepEqual(event.alarms, [event.end - 15 * MINUTE_MS])
    await api.advance(1)
    const patch = [{ op: 'replace', path: '/expires_at', value: '3h' }]
    expectStatus(await metal.patch(`/v1/allocations/${uuid}`, patch, NEWEST), 200)
    const renewed = (await shownAt(url))[0]!
    assert.ok(renewed.end >= event.end + HOUR_MS && renewed.sequence > event.sequence)
    assert.equal(renewed.uid, event.uid)
    expectStatus(await metal.del(`/v1/allocations/${uuid}`, NEWEST), 204)
    assert.deepEqual(await shownAt(url), [])
  })

  void test('an allocation that waits is tentative; one without an end, or with one very soon, is not shown', async () => {
    const project = newProject()
    const [waited, had] = [newClass(), newClass()]
    await metal.nodes(2, { resource_class: had, owner: project })
    const who = { ...NEWEST, ...admin(project) }
    const owner = project
    const { uuid } = await metal.allocate({ resource_class: waited, owner, wait_until: '1h', expires_at: '2h' }, who)
    for (const more of [{}, { expires_at: '14m' }]) {
      await metal.settled((await metal.allocate({ resource_class: had, owner, ...more }, who)).uuid)
    }
    const events = await shownAt(await projectCalendar(project))
    assert.deepEqual(
      events.map(event => [event.uid, event.status]),
      [[`allocation-${uuid}@holdfast`, 'TENTATIVE']],
    )
    expectStatus(await metal.del(`/v1/allocations/${uuid}`, NEWEST), 204)
  })

  void test('names of clients stay texts, whatever they hold', async () => {
    const { only } = await api.pool(1)
    const reservations = [instances({ resource_properties: only })]
    const names = [
      'a\r\nEND:VEVENT\r\nBEGIN:VALARM\nX:1',
      'commas, semicolons; back\\slashes\\n and "quotes": all',
      'Knoten für Prüfungen: 計算機 🚀🚀🚀🚀🚀🚀🚀🚀🚀🚀🚀🚀🚀🚀',
      '\u0007\u001b[31m\u2028\u0085 bell',
      'é'.repeat(80),
    ]
    for (const name of names) {
      const project = newProject()
      const lease = await api.lease(reservations, { name }, member(project))
      const events = await shownAt(await projectCalendar(project))
      assert.equal(events.length, 1, name)
      const shown = name.replaceAll(/\r\n|[\r\n\u0085\u2028]/g, '\n').replaceAll(/(?!\n)\p{Cc}/gu, ' ')
      assert.equal(events[0]!.summary, `${shown}: 1 instance`)
      assert.match(events[0]!.description, /^Booked: 1 instance of 1 VCPU, 512 MB of memory and 1 GB of disk$/m)
      assert.equal(events[0]!.uid, `lease-${lease.id}@holdfast`)
      await api.end(lease.id)
    }
  })

  void test('a program that has it already is told 304, until something changes', async () => {
    const project = newProject()
    const { only } = await api.pool(1)
    const lease = await api.lease([instances({ resource_properties: only })], {}, member(project))
    const url = await projectCalendar(project)
    const first = await fetched(url)
    const etag = first.headers.get('etag')!
    assert.match(etag, /^"[\w-]+"$/)
    for (const known of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
      const again = await fetched(url, { headers: { 'if-none-match': known } })
      assert.deepEqual([again.status, again.text, again.headers.get('etag')], [304, '', etag], known)
    }
    const head = await fetched(url, { method: 'HEAD' })
    assert.deepEqual([head.status, head.text, head.headers.get('etag')], [200, '', etag])
    assert.equal(head.headers.get('content-length'), String(Buffer.byteLength(first.text)))
    await api.update(lease.id, { name: 'renamed' })
    const changed = await fetched(url, { headers: { 'if-none-match': etag } })
    assert.equal(changed.status, 200)
    assert.notEqual(changed.headers.get('etag'), etag)
    await api.end(lease.id)
  })

  void test('what is over stays for thirty days, without an alarm', async () => {
    const project = newProject()
    const { only } = await api.pool(1)
    const lease = await api.lease([instances({ resource_properties: only })], {}, member(project))
    const url = await projectCalendar(project)
    await api.advance(24 * 60)
    const [over] = await shownAt(url)
    assert.deepEqual([over!.uid, over!.alarms], [`lease-${lease.id}@holdfast`, []])
    await api.advance(30 * 24 * 60)
    assert.deepEqual(await shownAt(url), [])
  })

  void test("a user's calendar has what they made in their project, a node's what is on it, each only what its maker sees", async () => {
    const [project, other] = [newProject(), newProject()]
    const { nodes, reservations } = await leasable('cal-f')
    const mine = await api.lease(reservations, {}, as('me', project))
    const theirs = await api.lease(reservations, { from: 180, to: 240 }, as('you', other))
    const { only } = await api.pool(1)
    const colleague = await api.lease([instances({ resource_properties: only })], {}, as('colleague', project))
    const ids = async (of: object | undefined, who: ReturnType<typeof as>) => {
      const { url } = expectStatus(await api.operate('POST', '/calendars', of && { of }, who), 201).body
      return (await shownAt(url)).map(({ uid }) => uid.slice('lease-'.length, -'@holdfast'.length)).toSorted()
    }
    const sorted = (...leases: Shown[]): string[] => leases.map(({ id }): string => id).toSorted()
    assert.deepEqual(await ids(undefined, as('me', project)), sorted(mine))
    assert.deepEqual(await ids({ user: 'me' }, as('me', other)), [])
    assert.deepEqual(await ids({ user: 'me' }, admin(other)), sorted(mine))
    assert.deepEqual(await ids({ project }, as('me', project)), sorted(mine, colleague))
    assert.deepEqual(await ids({ node: 'cal-f' }, admin('ops')), sorted(mine, theirs))
    const owner = [{ op: 'replace', path: '/owner', value: project }]
    expectStatus(await metal.patch(`/v1/nodes/${nodes[0]}`, owner), 200)
    assert.deepEqual(await ids({ node: nodes[0] }, as('me', project)), sorted(mine))
    for (const lease of [mine, theirs, colleague]) await api.end(lease.id)
  })

  void test('of very many, those are shown that end first, and the calendar says that there are more', async () => {
    const project = newProject()
    const [max, resource_class] = [limits.calendarAppointmentsMax, newClass()]
    const who = { ...NEWEST, ...admin(project) }
    const end = (i: number) => ({ wait_until: '1h', expires_at: `${100 + i}m` })
    await inParallel(16, max + 1, i =>
      metal.allocate({ resource_class, name: `${resource_class}-${i}`, owner: project, ...end(i) }, who),
    )
    const { text } = await fetched(await projectCalendar(project))
    const names = eventsIn(text).map(({ summary }) => Number(/-(\d+):/.exec(summary)![1]))
    assert.deepEqual(new Set(names), new Set(Array.from({ length: max }, (_, i) => i)))
    assert.match(text, /^X-WR-CALDESC:There is more/m)
    await api.advance(24 * 60)
  })

  void test('bodies that name nothing, or several things, are refused', async () => {
    for (const body of [
      [],
      'x',
      { of: {} },
      { of: null },
      { of: { user: 'a', project: 'b' } },
      { of: { host: 'a' } },
      { of: { user: '' } },
      { of: { node: 1 } },
      { of: { project: 'x'.repeat(256) } },
      { of: { project: 'p1' }, more: 1 },
    ]) {
      expectStatus(await api.operate('POST', '/calendars', body, admin('p1')), 400)
    }
    expectStatus(await api.operate('POST', '/calendars', { of: { node: 'no-such-node' } }, admin('p1')), 404)
    expectStatus(await api.operate('POST', '/calendars', { of: { node: 'a\u0000b' } }, admin('p1')), 400)
  })
})

/** Calendars know no smaller times. */
const secondOf = (time: number) => Math.floor(time / 1_000) * 1_000
