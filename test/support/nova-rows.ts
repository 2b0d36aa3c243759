// What the test Nova keeps.
import { noServer } from './nova-answers.ts'
import type { Caller } from './nova-holdfast.ts'

export interface Flavor {
  id: string
  name: string
  vcpus: number
  ram: number
  disk: number
  ephemeral: number
  swap: number
  isPublic: boolean
  description: string | null
  specs: Record<string, string>
  /** The projects that see it, when it is private. */
  access: Set<string>
}

export type VmState = 'building' | 'active' | 'stopped' | 'resized' | 'error'

export interface Server {
  id: string
  name: string
  project: string
  user: string
  image: string
  /** A copy: it stays when the flavor goes. */
  flavor: Flavor
  state: VmState
  task: string | null
  host: string | null
  /** The host that it was asked to run on, by availability zone. */
  wantedHost: string | null
  isLocked: boolean
  fault: { code: number; message: string } | null
  created: Date
  updated: Date
}

export interface Migration {
  id: number
  uuid: string
  server: Server
  type: 'migration' | 'resize' | 'live-migration' | 'evacuation'
  status: string
  source: string
  target: string | null
  oldFlavor: Flavor
  newFlavor: Flavor
  oldState: VmState
  created: Date
}

const STATUSES: Record<VmState, string> = {
  building: 'BUILD',
  active: 'ACTIVE',
  stopped: 'SHUTOFF',
  resized: 'VERIFY_RESIZE',
  error: 'ERROR',
}

export function statusOf({ state, task }: Server): string {
  if (state === 'active' && task?.startsWith('resize_')) return 'RESIZE'
  if (state === 'active' && task === 'migrating') return 'MIGRATING'
  return STATUSES[state]
}

export const copyOf = (flavor: Flavor): Flavor => ({
  ...flavor,
  specs: { ...flavor.specs },
  access: new Set(flavor.access),
})

/** The server, if the caller sees it. */
export function serverOf({ servers }: { servers: Map<string, Server> }, id: string, caller: Caller): Server {
  const server = servers.get(id)
  if (!server || !(caller.isAdmin || server.project === caller.project)) throw noServer(id)
  return server
}

export const timeOf = (date: Date) => date.toISOString().replace(/\.\d+/, '')
