// After each commit: who has locked which node, who was given up, and what became available. It remembers what was before.
import type { Finding } from '../port.ts'
import type { Inside } from './inside.ts'

interface NodeNow {
  uuid: string
  state: string
  lock: string | null
  cleans: boolean
}

interface ConductorNow {
  hostname: string
  incarnation: string
  online: number
  heartbeat: number
}

const NODES = `select uuid, provision_state as state, lock_incarnation as lock,
  coalesce(automated_clean, 1) = 1 as cleans from nodes`
const CONDUCTORS = `select hostname, incarnation, online, heartbeat_at as heartbeat from conductors`

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

export class Locks {
  #nodes = new Map<string, NodeNow>()
  #conductors = new Map<string, ConductorNow>()
  /** When a node was last seen at rest. */
  readonly #restedAt = new Map<string, number>()

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
    const isNew = node.lock !== null && node.lock !== before?.lock
    if (isNew && conductors.get(node.lock!)?.online !== 1) {
      findings.push({ check: 'locks', text: `node ${node.uuid} was locked by ${node.lock}, whom others have given up` })
    }
    if (isNew && before?.lock && conductors.get(before.lock)?.online === 1) {
      findings.push({ check: 'locks', text: `node ${node.uuid} was taken from ${before.lock}, who is there` })
    }
    return findings
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
  #givenUp(
    { hostname, incarnation, online, heartbeat }: ConductorNow,
    { dialect, now, takeOverMs }: Inside,
  ): Finding[] {
    // Whoever serves a file knows that all before it are dead.
    if (dialect === 'sqlite') return []
    const before = this.#conductors.get(incarnation)
    const silentMs = now() - heartbeat
    if (before?.online !== 1 || online === 1 || silentMs > takeOverMs * 0.65) return []
    return [{ check: 'locks', text: `conductor ${hostname} was given up after ${Math.round(silentMs)} ms of silence` }]
  }
}
