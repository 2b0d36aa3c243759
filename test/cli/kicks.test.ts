// Live runs that someone ends while the next user waits for the node. Each command writes down, by the machine's clock,
// all the time that it is there; the two are never there together, however the first one takes it.
import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Allocation, ApiError, type Holdfast } from '../../src/client/index.ts'
import { isLong, rounds } from '../support/rounds.ts'
import { clients } from '../races/clients.ts'
import { atShell, eachShell, type Person, until } from './person.ts'

const KICKS = rounds(50, 100)
/** Of no common factor with the manners and the fates, so that all of them meet. */
const NODES = 13
/** Of these some come to nothing on a busy machine. */
const TURNS_MAX = 10 * KICKS
const RENEW_EVERY_S = 2

/** How a command takes it that it should end. */
const MANNERS = {
  quick: '',
  slow: `trap 'for i in 1 2 3 4 5 6 7 8 9; do beat; done; exit' TERM`,
  deaf: `trap '' TERM`,
}
/** What happens to the run when it is kicked: it is told, or killed right after or right before. */
const FATES = ['told', 'told', 'killed after', 'told', 'told', 'told', 'killed before', 'told'] as const
type Manner = keyof typeof MANNERS
type Fate = (typeof FATES)[number]

const folder = mkdtempSync(join(tmpdir(), 'holdfast-kicks-'))
after(() => rmSync(folder, { recursive: true, force: true, maxRetries: 10 }))

interface Live {
  file: string
  fate: Fate
  manner: Manner
  exit: Promise<{ code: number | null; stderr: string }>
  kill: () => void
}

const onServers = isLong ? eachShell : atShell

onServers('kicked runs', (person: Person) => {
  let server: Holdfast
  before(async () => {
    server = await person.library()
    for (let at = 0; at < NODES; at++) await person.node(`node-${at}`, `kind-${at}`)
  })

  const of = (kind: string): Promise<Allocation[]> => server.allocations.list({ where: { resource_class: kind } })
  const kindOf = (at: number) => `kind-${at % NODES}`

  /** Each beat is an instant at which the command was there. */
  function begin(turn: number): Live {
    const manner = (Object.keys(MANNERS) as Manner[])[turn % 3]!
    const fate = FATES[turn % FATES.length]!
    const file = join(folder, crypto.randomUUID())
    const script = `exec 9<> <(:); beat() { echo $EPOCHREALTIME >> ${file}; read -t 0.02 -u 9; }
      ${MANNERS[manner]}
      while :; do beat; done`
    const words = ['run', '--resource-class', kindOf(turn), '--wait', '5m', '--renew-every', String(RENEW_EVERY_S)]
    const line = [...words, '--', 'bash', '-c', script]
    const environment = { LC_ALL: 'C' }
    if (fate === 'told') return { file, fate, manner, exit: person.types(line, environment), kill: () => {} }
    const { child, exit } = person.starts(line, environment)
    return { file, fate, manner, exit, kill: () => child.kill('SIGKILL') }
  }

  /** Whether its command begins. On a machine that is too busy to renew in time, a run gives up. */
  async function begins({ file, exit }: Live): Promise<boolean> {
    if (await looksUntil(async () => beatsIn(file).length > 0, exit)) return true
    const { code, stderr } = await exit
    assert.match(`${code} ${stderr}`, /^4 .*(renewed in time|could not be found|can't be renewed)/s)
    return false
  }

  /** Looks until it is so; false if the other thing comes first. */
  async function looksUntil(isSo: () => Promise<boolean>, otherwise: Promise<unknown>): Promise<boolean> {
    const other = otherwise.then(() => 'other' as const)
    for (;;) {
      if (await isSo()) return true
      if ((await Promise.race([other, sleep(20)])) === 'other') return isSo()
    }
  }

  /** Whether it was there to be kicked. */
  async function kick({ fate, kill }: Live, kind: string): Promise<boolean> {
    const held = (await of(kind)).find(({ state }) => state === 'active')
    if (!held) return false
    if (fate === 'killed before') kill()
    // Its time may just be over.
    const asked = await server.allocations.delete(held.uuid, { message: 'next, please' }).catch(isGone)
    if (fate === 'killed after') kill()
    return asked?.ending?.message === 'next, please'
  }

  test(`${KICKS} kicks: never two at a time`, async () => {
    let kicks = 0
    await clients(NODES, async node => {
      const kind = kindOf(node)
      const lives: Live[] = []
      const isWaiting = async () => (await of(kind)).some(({ state }) => state === 'allocating')
      for (let turn = node; kicks < KICKS && turn < TURNS_MAX; turn += NODES) {
        const [present, next] = [lives.at(-1), begin(turn)]
        if (present && (await looksUntil(isWaiting, next.exit)) && (await kick(present, kind))) kicks++
        if (await begins(next)) lives.push(next)
        requireApart(lives)
      }
      await Promise.all(lives.slice(0, -1).map(live => over(live)))
      for (const { uuid } of await of(kind)) {
        await server.allocations.delete(uuid, { now: true }).catch(isGone)
      }
      await lives.at(-1)!.exit
      requireApart(lives)
    })
    assert.ok(kicks >= KICKS, `${kicks} kicks`)
    const left = await until(
      () => server.allocations.list(),
      all => all.length === 0,
    )
    assert.deepEqual(left, [])
    assert.equal((await server.fsck()).violations, 0)
  })

  async function over({ fate, exit }: Live): Promise<void> {
    const { code, stderr } = await exit
    if (fate !== 'told') return
    assert.equal(code, 4, stderr)
    assert.match(
      stderr,
      /next, please.*; the command was ended|could not be renewed in time|the server was away for too long/,
    )
  }
})

function isGone(error: unknown): null {
  if (error instanceof ApiError && error.status === 404) return null
  throw error
}

/** The instants that are written in full. */
const beatsIn = (file: string): number[] =>
  existsSync(file) ? readFileSync(file, 'utf8').split('\n').slice(0, -1).map(Number) : []

function requireApart(lives: readonly Live[]): void {
  const spans = lives.map(live => {
    const beats = beatsIn(live.file)
    return { ...live, first: beats[0]!, last: beats.at(-1)! }
  })
  for (const [at, next] of spans.entries()) {
    const present = spans[at - 1]
    if (!present) continue
    const told = `${present.manner}, ${present.fate}: there until ${present.last}, the next from ${next.first}`
    assert.ok(present.last < next.first, told)
  }
}
