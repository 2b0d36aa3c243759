// What Holdfast asks of a Nova. Every call may be repeated: what is done already counts as done.

/** A hypervisor as Nova knows it: its id is the uuid of its provider. */
export interface NovaHypervisor {
  id: string
  hostname: string
  /** The host of its compute service. */
  service: string
  state: 'up' | 'down'
  status: 'enabled' | 'disabled'
  disabledReason: string | null
}

export interface NovaFlavor {
  id: string
  name: string
  vcpus: number
  ram_mb: number
  disk_gb: number
  /** Disk and swap beside the root disk; absent: none. */
  ephemeral_gb?: number
  swap_mb?: number
  is_public: boolean
  extra_specs: Readonly<Record<string, string>>
}

export interface NovaServer {
  id: string
  project_id: string
  status: string
  task: string | null
  host: string | null
  /** The name of its flavor; null where Nova doesn't say it. */
  flavor: string | null
}

/** A move of a server. While it is under way, its uuid is a consumer of its own. */
export interface NovaMigration {
  uuid: string
  server: string
  status: string
  source: string | null
  target: string | null
}

export interface Nova {
  hypervisors(): Promise<NovaHypervisor[]>
  /** null when there is none. */
  flavor(id: string): Promise<NovaFlavor | null>
  /** `taken`: there is one with this id or name, which may be another than the wanted one. Extra specs follow. */
  createFlavor(flavor: NovaFlavor): Promise<'made' | 'taken'>
  setExtraSpecs(flavor: string, specs: Readonly<Record<string, string>>): Promise<void>
  deleteFlavor(id: string): Promise<void>
  flavorAccess(id: string): Promise<string[]>
  grantAccess(flavor: string, project: string): Promise<void>
  revokeAccess(flavor: string, project: string): Promise<void>
  server(id: string): Promise<NovaServer | null>
  /** The servers of all projects with this flavor. Never the whole truth: a server keeps its claims when it is resized away. */
  serversOfFlavor(id: string): Promise<NovaServer[]>
  /** `accepted` is not gone: the claims say when it is. */
  deleteServer(id: string, isForced: boolean): Promise<'accepted' | 'gone'>
  confirmResize(server: string): Promise<void>
  /** The moves away from a host, the newest first. */
  migrationsFrom(host: string): Promise<NovaMigration[]>
}

/**
 * Nova can't be reached, doesn't answer in time, or fails: it is tried again. The message is kept with a lease, where its
 * owner reads it: it names no address, host or user. Its cause does.
 */
export class NovaAway extends Error {}

/** Nova understood and said no, in its own words. Owners of leases read them, too. */
export class NovaRefusal extends Error {
  readonly status: number

  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}
