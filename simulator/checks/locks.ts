// After each commit: who has locked which node, who was given up, and what became available. It remembers what was before.
import type { Finding } from '../port.ts'
import type { Inside } from './inside.ts'

interface NodeNow {
  uuid: string
  state: string
  lock: string | null
  cleans: boolean
  /** The work that is left, as JSON. */
  work: string | null
}

interface ConductorNow {
  hostname: string
  incarnation: string
  online: number
  heartbeat: number
  registered: number
}

const NODES = `select uuid, provision_state as state, lock_incarnation as lock, transition as work,
  coalesce(automated_clean, 1) = 1 as cleans from nodes`
const CONDUCTORS = `select hostname, incarnation, online, heartbeat_at as heartbeat, registered_at as registered from conductors`

/** In these nobody works on the machine, and nobody has to. */
const AT_REST = new Set([
  'enroll',
  'manageable',
  'available',
  'active',
  'error',
  'clean failed',
  'deploy failed',
  'inspect failed',
])

interface Work {
  kind: string
  verb?: string
  steps?: readonly string[]
  step?: number
}
const workIn = ({ work }: NodeNow): Work | null => (work === null ? null : (JSON.parse(work) as Work))

export class Locks {
  #nodes = new Map<string, NodeNow>()
  #conductors = new Map<string, ConductorNow>()
  /** When a node was last seen at rest. */
  readonly #restedAt = new Map<string, number>()
  /** When a node was locked by whom it is locked now. */
  readonly #lockedAt = new Map<string, number>()

  async look(inside: Inside): Promise<Finding[]> {
    const nodes = new Map((await inside.rows<NodeNow>(NODES)).map(node => [node.uuid, node]))
    const conductors = new Map((await inside.rows<ConductorNow>(CONDUCTORS)).map(one => [one.incarnation, one]))
    const findings = [
      ...[...nodes.values()].flatMap(node => this.#judge(node, conductors, inside)),
      ...[...conductors.values()].flatMap(one => this.#givenUp(one, inside)),
    ]
    this.#nodes = nodes
    this.#conductors = conductors
    return findings
  }

  #judge(node: NodeNow, conductors: ReadonlyMap<string, ConductorNow>, inside: Inside): Finding[] {
    const before = this.#nodes.get(node.uuid)
    const findings: Finding[] = []
    if (before && before.state !== 'available' && node.state === 'available' && node.cleans)
      findings.push(...this.#cleaned(node, inside))
    if (AT_REST.has(node.state)) this.#restedAt.set(node.uuid, inside.now())
    if (before) findings.push(...this.#ended(node, before, conductors, inside))
    if (node.lock !== before?.lock) this.#lockedAt.set(node.uuid, inside.now())
    const isNew = node.lock !== null && node.lock !== before?.lock
    if (isNew && conductors.get(node.lock!)?.online !== 1) {
      findings.push({ check: 'locks', text: `node ${node.uuid} was locked by ${node.lock}, whom others have given up` })
    }
    if (isNew && before?.lock && conductors.get(before.lock)?.online === 1) {
      findings.push({ check: 'locks', text: `node ${node.uuid} was taken from ${before.lock}, who is there` })
    }
    return findings
  }

  /** Only who has the lock says that a step is over, and only once its machine is done with it. */
  #ended(node: NodeNow, before: NodeNow, conductors: ReadonlyMap<string, ConductorNow>, { deeds }: Inside): Finding[] {
    const [is, was] = [workIn(node), workIn(before)]
    const holder = conductors.get(before.lock ?? '')
    const isOver = was?.kind === 'provision' && (is === null || is.verb !== was.verb || is.step !== was.step)
    const isTaken = node.lock !== null && node.lock !== before.lock
    if (!isOver || isTaken || holder?.online !== 1) return []
    const since = this.#lockedAt.get(node.uuid) ?? 0
    const step = was.steps![was.step!]!
    const isDone = deeds.some(
      deed =>
        deed.node === node.uuid &&
        deed.step === step &&
        deed.ended !== null &&
        deed.began >= since &&
        deed.process.startsWith(`${holder.hostname}.`),
    )
    const text = `${step} of node ${node.uuid} counts as over, but ${holder.hostname}, who has the lock, is still at it`
    return isDone ? [] : [{ check: 'locks', text }]
  }

  /** Only after a cleaning that a machine has really done since its node was last at rest. */
  #cleaned({ uuid }: NodeNow, { deeds }: Inside): Finding[] {
    const since = this.#restedAt.get(uuid) ?? 0
    const isClean = deeds.some(
      deed => deed.node === uuid && deed.step === 'clean' && deed.isDone && deed.began >= since,
    )
    return isClean ? [] : [{ check: 'available', text: `node ${uuid} is available, but its machine was not cleaned` }]
  }

  /** Nobody is given up before its time; who leaves says so, and no process here does. */
  #givenUp({ hostname, incarnation, online, heartbeat }: ConductorNow, inside: Inside): Finding[] {
    const { dialect, now, takeOverMs } = inside
    // Whoever serves a file knows that all before it are dead.
    if (dialect === 'sqlite') return []
    if (this.#conductors.get(incarnation)?.online !== 1 || online === 1) return []
    const silentMs = now() - heartbeat
    const [enoughMs, backMs] = [takeOverMs * 0.65, now() - this.#backAt(inside)]
    const given = `conductor ${hostname} was given up`
    if (silentMs <= enoughMs) return [{ check: 'locks', text: `${given} after ${Math.round(silentMs)} ms of silence` }]
    if (backMs > enoughMs) return []
    return [
      { check: 'locks', text: `${given} ${Math.round(backMs)} ms after an outage in which nobody could be heard` },
    ]
  }

  /** When the database was back after so long that all seemed silent. One who began since then can't know of it. */
  #backAt({ outage: { since, until }, takeOverMs }: Inside): number {
    const isLong = until - since >= takeOverMs * 0.75
    const isKnown = [...this.#conductors.values()].every(({ registered }) => registered < since)
    return isLong && isKnown ? until : 0
  }
}
