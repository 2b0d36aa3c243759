// Soaks one store: everything at once for a while, what it takes is measured all the time, and at the end judged.
import { setTimeout as sleep } from 'node:timers/promises'
import { everything, KINDS, makeWorld, startLoad } from '../failover/load.ts'
import { Promises } from '../failover/promises.ts'
import type { Kind } from '../support/stores.ts'
import { deploy, type Figures } from './deployment.ts'
import { judge, type Sample, type Tolerance, type Verdict } from './flat.ts'
import { startOthers, type Others } from './others.ts'

export interface SoakOptions {
  store: Kind
  seconds: number
  /** Between two samples. */
  everySeconds: number
  /** About how long each client rests between two requests. */
  pauseMs: number
  progress: (text: string) => void
}

export interface Soaked {
  verdicts: Verdict[]
  /** What grows because it is kept for a time that is set, by name: from, to. */
  kept: { name: string; first: number; last: number }[]
  changes: number
  heard: Others['heard']
  faults: string[]
}

/** The log and what is counted from it, for as long as the settings say: these grow with every change. */
const KEPT =
  /\b(log|log_order|audit_seals|audit_chain|node_history|deliveries|node_uses|project_usages)$|^database MiB$/
/** SQLite's log is emptied at this size, and PostgreSQL's by the settings of the soak. */
const WAL_MIB = 160

function toleranceOf(name: string): Tolerance {
  if (name.endsWith('descriptors')) return { share: 0.1, least: 6 }
  if (name === 'WAL MiB') return { share: 0.1, least: 8, free: WAL_MIB }
  // The machine has other work too.
  if (name.endsWith('ms')) return { share: 0.5, least: 10 }
  if (name.startsWith('rows in')) return { share: 0.1, least: 20 }
  if (name.startsWith('MiB of')) return { share: 0.1, least: 1 }
  // A heap grows until it is worth the work to collect it.
  return { share: 0.1, least: 12 }
}

export async function soak({ store, seconds, everySeconds, pauseMs, progress }: SoakOptions): Promise<Soaked> {
  const deployment = await deploy(store)
  try {
    const { origins } = deployment
    const times = new Map<string, number[]>()
    const timed = (kind: string, ms: number) => times.getOrInsertComputed(kind, () => []).push(ms)
    const promises = new Promises(timed)
    const fault = (text: string) => void promises.faults.push(text)
    const world = await makeWorld(origins[0]!)
    const load = startLoad({ origins, world, promises, seed: 1, pauseMs })
    const others = await startOthers({ origins, pauseMs, timed, fault })
    const samples = new Map<string, Sample[]>()
    const start = performance.now()
    for (let at = 0; at < seconds; at = (performance.now() - start) / 1000) {
      const figures = { ...(await deployment.measure()), ...latencies(times) }
      for (const [name, value] of Object.entries(figures)) {
        samples.getOrInsertComputed(name, () => []).push({ at, value })
      }
      progress(`${store}: ${Math.round(at)} s, ${promises.counts.answered} changes, ${promises.faults.length} faults`)
      await sleep(everySeconds * 1000)
    }
    await load.stop()
    await others.stop()
    const found = await everything(origins[0]!, world)
    for (const kind of KINDS) promises.check(kind, found[kind])
    promises.checkNobodySharedANode()
    if (others.heard.deliveries === 0 || others.heard.events === 0) fault('nobody heard of anything')
    return { ...judged(samples), changes: promises.counts.answered, heard: others.heard, faults: promises.faults }
  } finally {
    await deployment.stop()
  }
}

function judged(samples: ReadonlyMap<string, Sample[]>): Pick<Soaked, 'verdicts' | 'kept'> {
  const ends = ([name, all]: [string, Sample[]]) => ({ name, first: all[0]!.value, last: all.at(-1)!.value })
  const kept = [...samples].filter(([name]) => KEPT.test(name)).map(ends)
  const verdicts = [...samples]
    .filter(([name, all]) => !KEPT.test(name) && all.length >= 3)
    .map(([name, all]) => judge(name, all, toleranceOf(name)))
  return { verdicts, kept }
}

/** The median of each kind of request since the last time. */
function latencies(times: Map<string, number[]>): Figures {
  const figures: Figures = {}
  for (const [kind, all] of times) {
    // These last as long as they are read, or happen once a minute.
    if (all.length > 0 && !['stream', 'board', 'fsck'].includes(kind)) {
      figures[`${kind}, median ms`] = all.sort((a, b) => a - b)[Math.floor(all.length / 2)]!
    }
    all.length = 0
  }
  return figures
}
