// The status on terminals of several widths.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { Machine, MachineState, Status, Waiting } from '../../client/index.ts'
import { widthOf } from '../width.ts'
import { pictureOf } from './picture.ts'
import { type Asked, STATES } from './words.ts'

const NOW = Date.parse('2026-11-16T17:12:00Z')
const AROUND = { now: NOW, zone: 'Europe/Berlin' }

const machine = (name: string, state: MachineState, more: Partial<Machine> = {}): Machine => ({
  uuid: `uuid-of-${name}`,
  name,
  rack: null,
  slot: null,
  class: 'gpu',
  state,
  verb: null,
  provision: 'available',
  power: null,
  maintenance: false,
  owner: null,
  lessee: null,
  who: null,
  project: null,
  what: null,
  kind: null,
  id: null,
  since: null,
  until: null,
  purpose: null,
  next: null,
  bookable: true,
  reason: null,
  error: null,
  note: null,
  addresses: [],
  traits: [],
  mine: false,
  may: [],
  ...more,
})

const waiting = (name: string, more: Partial<Waiting> = {}): Waiting => ({
  uuid: `uuid-of-${name}`,
  name,
  who: 'dora',
  project: 'nlp',
  class: 'gpu',
  traits: ['CUSTOM_A100'],
  count: 1,
  for: null,
  since: '2026-11-16T16:00:00Z',
  gives_up: null,
  place: 1,
  of: 1,
  start: null,
  because: null,
  suits: [],
  state: 'waiting',
  reason: null,
  relaxations: [],
  mine: false,
  may: [],
  ...more,
})

const statusOf = (machines: Machine[], queue: Waiting[] = []): Status => ({
  sequence: '1',
  now: new Date(NOW).toISOString(),
  me: { user: null, project: null, roles: [], may: ['create node'] },
  traits: [],
  machines,
  hosts: [],
  waiting: queue,
  spans: [],
})

const LAB = [
  machine('n10', 'free'),
  machine('n2', 'taken', {
    who: 'bob',
    project: 'nlp',
    what: 'embed-wiki-7',
    kind: 'allocation',
    until: '2026-11-16T19:07:00Z',
    next: {
      id: null,
      name: 'course',
      who: 'carol',
      project: 'ops',
      start: '2026-11-20T18:00:00Z',
      end: '2026-11-21T18:00:00Z',
    },
  }),
  machine('n1', 'taken', {
    who: 'alice',
    project: 'vision',
    what: 'train',
    kind: 'allocation',
    purpose: 'the paper',
    note: 'left of the door',
  }),
  machine('n3', 'maintenance', { maintenance: true, reason: 'new fan' }),
  machine('c1', 'working', { class: 'cpu', verb: 'cleaning' }),
]

const shown = (status: Status, width = 120, asked: Asked = {}) =>
  pictureOf(status, asked, AROUND, { width, hasColour: false })

test('the answer first, then counts, then every machine in the order in which people count', () => {
  assert.equal(
    shown(statusOf(LAB)),
    `\
1 of 5 machines is free; 2 taken, 1 working, 1 in maintenance. Times are those of CET.

class  all  free  taken  working  maintenance
cpu    1    -     -      1        -
gpu    4    1     2      -        1

name  class  state        who    project  until        what              next                   note
c1    cpu    cleaning     -      -        -            -                 -                      -
n1    gpu    taken        alice  vision   no end       train: the paper  -                      left of the door
n2    gpu    taken        bob    nlp      today 20:07  embed-wiki-7      Fri 19:00 carol (ops)  -
n3    gpu    maintenance  -      -        -            new fan           -                      -
n10   gpu    free         -      -        -            -                 -                      -
`,
  )
})

test('80 columns have room for all: the class stands above its machines, what is next and a note below theirs', () => {
  const table = shown(statusOf(LAB), 80).split('\n\n')[2]!
  assert.equal(
    table,
    `\
name  state        who    project  until        what
class cpu
c1    cleaning     -      -        -            -
class gpu
n1    taken        alice  vision   no end       train: the paper
  note: left of the door
n2    taken        bob    nlp      today 20:07  embed-wiki-7
  next: Fri 19:00 carol (ops)
n3    maintenance  -      -        -            new fan
n10   free         -      -        -            -
`,
  )
  assert.match(
    shown(statusOf(LAB), 50),
    /^n2 +taken +bob +nlp +today 20:07\n  what: embed-wiki-7; next: Fri 19:00 carol \(ops\)$/m,
  )
})

test('80 columns have room for who waits, for what, until when and why', () => {
  const because = { machine: 'uuid-of-n2', what: 'embed-wiki-7', end: '2026-11-16T19:07:00Z' }
  const queue = [
    waiting('llama-pretrain-70b', { start: because.end, because, traits: ['CUSTOM_A100', 'CUSTOM_NVLINK'] }),
  ]
  assert.equal(
    shown(statusOf(LAB, queue), 80).split('\n\n')[3],
    `\
1 waits:
place   name                who   project  wants                  start
1 of 1  llama-pretrain-70b  dora  nlp      gpu with A100, NVLINK  today 20:07
  since: today 17:00; because: embed-wiki-7 ends on n2
`,
  )
})

test('the words of the headings are whole', () => {
  const names = ['free', 'booked', 'held', 'taken', 'working', 'setup', 'maintenance', 'broken', 'retired'] as const
  const all = names.map((state, at) =>
    machine(`n${at}`, state, { class: at > 0 ? 'cpu-large' : 'gpu-h100', until: '2026-11-16T19:07:00Z' }),
  )
  const [heading] = shown(statusOf(all), 80).split('\n\n')[1]!.split('\n')
  assert.equal(heading, 'class      all  free  booked  held  taken  working  setup  maintenance  broken')
})

test('who waits has a place, a time and its cause, by name', () => {
  const queue = [
    waiting('later', { place: 2, of: 2, gives_up: '2026-11-16T17:30:00Z' }),
    waiting('llama', {
      of: 2,
      start: '2026-11-16T19:07:00Z',
      because: { machine: 'uuid-of-n2', what: 'embed-wiki-7', end: '2026-11-16T19:07:00Z' },
    }),
    waiting('lost', {
      place: null,
      state: 'gave up',
      reason: 'Failed to process allocation u1: no available nodes match the resource class gpu. There is none.',
    }),
  ]
  const [, , , waits, gaveUp] = shown(statusOf(LAB, queue)).split('\n\n')
  assert.equal(
    waits,
    `\
2 wait:
place   name   who   project  wants          since        start                 because
1 of 2  llama  dora  nlp      gpu with A100  today 17:00  today 20:07           embed-wiki-7 ends on n2
2 of 2  later  dora  nlp      gpu with A100  today 17:00  gives up today 18:30  -`,
  )
  assert.match(
    gaveUp!,
    /^1 got no machine \(holdfast allocation explain NAME says why\):\nname .*\nlost .*17:00  There is none\.$/m,
  )
})

test('on a screen that is too low, those who wait come before the machines', () => {
  const status = statusOf(LAB, [waiting('llama')])
  const isFirst = (height: number) => {
    const picture = pictureOf(status, {}, AROUND, { width: 120, hasColour: false }, height)
    return picture.indexOf('llama') < picture.indexOf('n10')
  }
  assert.deepEqual([10, 16].map(isFirst), [true, false])
})

test('sentences say what was asked', () => {
  const sentence = (machines: Machine[], asked: Asked = {}) =>
    shown(statusOf(machines), 1000, asked)
      .split('\n')[0]!
      .replace(/ Times are those of CET\.$/, '')
  const taken = LAB[1]!
  assert.equal(sentence([machine('n1', 'free')]), '1 machine, and it is free.')
  assert.equal(sentence([machine('n1', 'free'), machine('n2', 'free')]), '2 machines, all free.')
  assert.equal(
    sentence([taken], { class: 'gpu', rack: 'a01' }),
    '0 of 1 machine of class gpu in rack a01 is free; 1 taken.',
  )
  assert.equal(sentence([taken], { who: 'bob' }), '1 machine of bob: 1 taken.')
  assert.equal(
    sentence([taken], { who: 'bob', project: 'nlp', class: 'gpu' }),
    '1 machine of class gpu of bob of project nlp: 1 taken.',
  )
  assert.equal(sentence([LAB[3]!], { state: 'maintenance' }), '1 machine is in maintenance.')
  assert.equal(sentence([taken], { mine: true }), 'You have 1 machine; it ends today 20:07.')
  assert.equal(sentence([taken, LAB[2]!], { mine: true }), 'You have 2 machines; the first ends today 20:07.')
  assert.equal(sentence([], { mine: true }), 'You have no machine.')
  assert.match(sentence([]), /holdfast demo/)
  const me = { user: 'bob', project: 'lab', roles: ['member'], may: [] }
  assert.match(pictureOf({ ...statusOf([]), me }, {}, AROUND, { width: 200, hasColour: false }), /--owner lab\.$/m)
  assert.match(sentence([], { class: 'tpu' }), /^No machine is like that/)
  assert.match(sentence([], { trait: 'a100' }), /^No machine is like that\. Is it CUSTOM_A100\?/)
})

test('a booked machine says by whom and from when', () => {
  const { next } = LAB[1]!
  const from = (start: string) =>
    /from [^-]*?(?=  )/.exec(shown(statusOf([machine('n1', 'booked', { next: { ...next!, start } })])))?.[0]
  assert.equal(from('2026-11-17T08:00:00Z'), 'from tomorrow 09:00')
  assert.equal(from('2026-11-27T08:00:00Z'), 'from Fri 27 Nov')
  assert.equal(from('2030-03-04T08:00:00Z'), 'from 4 Mar 2030')
  assert.match(
    shown(statusOf([machine('n1', 'booked', { next })])),
    /^n1 +gpu +booked +carol +ops +from Fri 19:00 +course$/m,
  )
})

test('whoever may is told how a machine in setup becomes free', () => {
  const hint = (...may: string[]) => shown(statusOf([machine('n1', 'setup', { may })])).split('\n\n')[2]
  assert.equal(
    hint('manage'),
    'What is in setup becomes free with holdfast node manage n1 --wait, then holdfast node provide n1 --wait.\n',
  )
  assert.equal(hint('manage', 'provide'), 'What is in setup becomes free with holdfast node provide n1 --wait.\n')
  assert.equal(hint('note'), undefined)
})

test('a class without a free machine says when the next one is', () => {
  assert.match(shown(statusOf([LAB[1]!, LAB[4]!])), /^gpu +1 +1 +- +today 20:07$/m)
})

test('no line is wider than the terminal, and no name is cut', () => {
  const text = fc.option(fc.string({ maxLength: 30 }))
  const instant = fc.option(fc.integer({ min: NOW - 1e9, max: NOW + 1e10 }).map(ms => new Date(ms).toISOString()))
  const anyMachine = fc
    .record({
      name: fc.stringMatching(/^[a-z0-9-]{1,20}$/),
      state: fc.constantFrom(...STATES),
      who: text,
      project: text,
    })
    .chain(({ name, state, ...whose }) =>
      fc
        .record({ what: text, note: text, until: instant, class: fc.constantFrom('gpu', 'cpu', null) })
        .map(more => machine(name, state, { ...whose, ...more })),
    )
  fc.assert(
    fc.property(fc.array(anyMachine, { maxLength: 5 }), fc.integer({ min: 40, max: 160 }), (machines, width) => {
      const picture = shown(statusOf(machines), width)
      for (const line of picture.split('\n')) assert.ok(widthOf(line) <= width, line)
      for (const { name } of machines) assert.ok(picture.includes(name!), name!)
    }),
  )
})
