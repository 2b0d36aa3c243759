// A controller of MachineClaims: makes what Holdfast has given out agree with what the claims ask for.
// It keeps nothing in memory between passes, so any number of replicas may run, and each may die at any line.
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Allocation, ApiError, connect, type Holdfast } from '../../src/client/index.ts'

export interface MachineClaim {
  metadata: { uid: string; name: string }
  spec: { resourceClass: string; traits?: string[]; candidateNodes?: string[] }
}

export interface MachineStatus {
  phase: 'Pending' | 'Bound' | 'Failed'
  node?: string
  message?: string
}

/** Where claims are kept; in a cluster this is the Kubernetes API. */
export interface Cluster {
  claims(): Promise<MachineClaim[]>
  report(claim: MachineClaim, status: MachineStatus): Promise<void>
}

type Allocations = Pick<Holdfast['allocations'], 'list' | 'show' | 'create' | 'renew' | 'retry' | 'delete'>

/** Stands in `extra` of each allocation that is ours, so that we find them and leave others alone. */
const CONTROLLER = 'machine-controller'
/** If the whole cluster is gone, its machines are free after this time. */
const LASTS_MS = 24 * 60 * 60_000
/** How long an allocation stands in line before it is looked at again. */
const WAITS = '10m'
const PASS_EVERY_MS = 2_000

/** One pass. Every step may be repeated, and may be done by another replica at the same time. */
export async function reconcile(allocations: Allocations, cluster: Cluster, now: number): Promise<void> {
  // First what is, then what should be: an allocation whose claim came in between is not taken for a leftover.
  const ours = (await allocations.list()).filter(isOurs)
  const claims = await cluster.claims()
  const wanted = new Set(claims.map(({ metadata }) => metadata.uid))
  for (const allocation of ours) if (!wanted.has(allocation.uuid)) await release(allocations, allocation)
  const present = new Map(ours.map(allocation => [allocation.uuid, allocation]))
  for (const claim of claims) await cluster.report(claim, await statusOf(claim))

  async function statusOf(claim: MachineClaim): Promise<MachineStatus> {
    try {
      return await satisfy(allocations, claim, present.get(claim.metadata.uid), now)
    } catch (error) {
      // A refusal concerns one claim; anything else ends the pass, and the next one begins anew.
      if (error instanceof ApiError) return { phase: 'Failed', message: error.message }
      throw error
    }
  }
}

const isOurs = ({ extra }: Allocation) => (extra as { controller?: string }).controller === CONTROLLER

async function satisfy(
  allocations: Allocations,
  claim: MachineClaim,
  present: Allocation | undefined,
  now: number,
): Promise<MachineStatus> {
  const { uuid, state, node_uuid, expires_at, last_error } = present ?? (await allocate(allocations, claim))
  if (state === 'error') {
    await allocations.retry(uuid, WAITS)
    return { phase: 'Pending', message: last_error ?? 'tried again' }
  }
  const isAging = expires_at !== null && Date.parse(expires_at) - now < LASTS_MS / 2
  if (isAging) await allocations.renew(uuid, `${LASTS_MS / 1_000}s`)
  return state === 'active' ? { phase: 'Bound', node: node_uuid! } : { phase: 'Pending', message: 'waits in line' }
}

/** The claim's own uid is the allocation's uuid: whoever asks again, for whatever reason, finds the one there is. */
async function allocate(allocations: Allocations, { metadata, spec }: MachineClaim): Promise<Allocation> {
  try {
    return await allocations.create({
      uuid: metadata.uid,
      resource_class: spec.resourceClass,
      traits: spec.traits,
      candidate_nodes: spec.candidateNodes,
      extra: { controller: CONTROLLER, claim: metadata.name },
      wait_until: WAITS,
      expires_at: `${LASTS_MS / 1_000}s`,
    })
  } catch (error) {
    if (error instanceof ApiError && error.status === 409) return allocations.show(metadata.uid)
    throw error
  }
}

async function release(allocations: Allocations, { uuid }: Allocation): Promise<void> {
  try {
    await allocations.delete(uuid)
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    // 409: a machine in use is torn down when its time is over, so let that be now. 404: another replica was faster.
    if (error.status === 409) await allocations.renew(uuid, '1s')
    else if (error.status !== 404) throw error
  }
}

/** Claims as files in a folder, `NAME.json`, with the status beside them, `NAME.status`. */
export function folderOf(folder: string): Cluster {
  return {
    async claims() {
      const names = (await readdir(folder)).filter(name => name.endsWith('.json')).sort()
      return Promise.all(
        names.map(async name => JSON.parse(await readFile(join(folder, name), 'utf8')) as MachineClaim),
      )
    },
    report: ({ metadata }, status) => writeFile(join(folder, `${metadata.name}.status`), `${JSON.stringify(status)}\n`),
  }
}

if (import.meta.main) {
  const [folder = '.'] = process.argv.slice(2)
  process.stdout.write(`The controller is watching ${folder}\n`)
  for (;;) {
    try {
      // Connecting is cheap, and a token that has ended is no special case.
      const { allocations } = await connect({ env: process.env })
      await reconcile(allocations, folderOf(folder), Date.now())
    } catch (error) {
      process.stderr.write(`${(error as Error).message}\n`)
    }
    await sleep(PASS_EVERY_MS)
  }
}
