// Bare metal nodes, and the actions on them.
import { ApiError } from './errors.ts'
import type { Events } from './events.ts'
import { type ObjectWait, waitForObject } from './object-wait.ts'
import type { Touched } from './operations.ts'
import { type Api, type ByteSocket, type Json, type Query, segment } from './wire.ts'

export interface Node extends Json {
  uuid: string
  name: string | null
  resource_class: string | null
  provision_state: string
  target_provision_state: string | null
  power_state: string | null
  maintenance: boolean
  instance_uuid: string | null
  allocation_uuid: string | null
  reservation_uuid: string | null
  last_error: string | null
  traits: string[]
}

/** A line of a node's history. */
export interface NodeEvent extends Json {
  uuid: string
  created_at: string
  severity: 'INFO' | 'ERROR'
  event: string
  event_type: string
  conductor: string | null
  user: string | null
  /** What a program of the operator's printed. */
  output: string | null
}

export interface NodeFilter {
  /** Has all of these. */
  traits?: readonly string[] | undefined
  /** Has at least one of these. */
  traitsAny?: readonly string[] | undefined
  /** Lacks at least one of these. */
  notTraits?: readonly string[] | undefined
  /** Has none of these. */
  notTraitsAny?: readonly string[] | undefined
  /** Any other filter, as the API names it: provision_state, resource_class, associated, reserved … */
  where?: Query
  fields?: readonly string[] | undefined
  limit?: number | undefined
}

export type Verb =
  | 'manage'
  | 'provide'
  | 'active'
  | 'deleted'
  | 'inspect'
  | 'adopt'
  | 'clean'
  | 'rebuild'
  | 'rescue'
  | 'unrescue'
  | 'abort'

/** An operation of JSON Patch. */
export interface Patch {
  op: 'add' | 'replace' | 'remove'
  path: string
  value?: unknown
}

export interface NodeWait extends ObjectWait {
  /** A provision state, such as `available`, or what must be true of the node. */
  until: string | ((node: Node) => boolean)
}

export interface Verdict {
  result: boolean
  reason?: string
}

export interface Reading extends Json {
  sensor: string
  kind: string
  value: number | null
  unit: string | null
  health: string | null
}

export interface ConsoleState extends Json {
  console_enabled: boolean
  console: { kind: 'stream' } | { kind: 'link'; url: string } | null
}

export interface BmcEvent extends Json {
  at: string | null
  text: string
  severity: string | null
}

export interface Indicator extends Json {
  /** The part of the machine, such as system or chassis. */
  component: string
  name: string
  readonly: boolean
  states: string[]
}

const lightOf = (node: string, component: string, name: string) =>
  `/nodes/${segment(node)}/management/indicators/${segment(component)}/${segment(name)}`

const joined = (names: readonly string[] | undefined) => (names?.length ? names.join(',') : undefined)

interface Inventoried {
  inventory: Json
  /** The traits that the rules gave, and what could not be found or set. */
  plugin_data: { traits: string[]; notes: string[] }
}

export class Nodes {
  readonly #api: Api
  readonly #operator: Api
  readonly #events: Events

  constructor(api: Api, operator: Api, events: Events) {
    this.#api = api
    this.#operator = operator
    this.#events = events
  }

  list({ traits, traitsAny, notTraits, notTraitsAny, where = {}, fields, limit }: NodeFilter = {}): Promise<Node[]> {
    const query: Query = {
      ...where,
      traits: joined(traits),
      'traits-any': joined(traitsAny),
      'not-traits': joined(notTraits),
      'not-traits-any': joined(notTraitsAny),
      fields: joined(fields),
    }
    return this.#api.all<Node>('/nodes', 'nodes', query, limit)
  }

  show = (node: string, fields?: readonly string[]) =>
    this.#api.get<Node>(`/nodes/${segment(node)}`, { fields: joined(fields) })
  create = (attributes: Json) => this.#api.post<Node>('/nodes', attributes)
  update = (node: string, patches: readonly Patch[]) => this.#api.patch<Node>(`/nodes/${segment(node)}`, patches)
  delete = (node: string) => this.#api.delete(`/nodes/${segment(node)}`)

  /** Returns at once; the node's provision_state shows the progress. */
  provision = (node: string, target: Verb, more: Json = {}) =>
    this.#api.put<void>(`/nodes/${segment(node)}/states/provision`, { target, ...more })
  power = (node: string, target: string) => this.#api.put<void>(`/nodes/${segment(node)}/states/power`, { target })

  /** What the last inspection found; 404 if there was none. */
  inventory = (node: string) => this.#api.get<Inventoried>(`/nodes/${segment(node)}/inventory`)

  /** What it boots from; `persistent` also after the next time. */
  bootDevice = (node: string) =>
    this.#api.get<{ boot_device: string | null; persistent: boolean | null }>(
      `/nodes/${segment(node)}/management/boot_device`,
    )
  async bootDevices(node: string): Promise<string[]> {
    const path = `/nodes/${segment(node)}/management/boot_device/supported`
    return (await this.#api.get<{ supported_boot_devices: string[] }>(path)).supported_boot_devices
  }
  setBootDevice = (node: string, device: string, { persistent = true } = {}) =>
    this.#api.put<void>(`/nodes/${segment(node)}/management/boot_device`, { boot_device: device, persistent })

  /** By interface: whether it can be driven, and why not. The machine itself is asked too. */
  validate = (node: string) => this.#api.get<Record<string, Verdict>>(`/nodes/${segment(node)}/validate`)
  async sensors(node: string): Promise<Reading[]> {
    return (await this.#operator.get<{ sensors: Reading[] }>(`/nodes/${segment(node)}/sensors`)).sensors
  }
  /** The event log of its BMC, the newest last. */
  async bmcEvents(node: string): Promise<BmcEvent[]> {
    return (await this.#operator.get<{ events: BmcEvent[] }>(`/nodes/${segment(node)}/events`)).events
  }
  /** Where its console is: a stream of ours, or a page of its BMC; null if it has none. */
  console = (node: string) => this.#operator.get<ConsoleState>(`/nodes/${segment(node)}/console`)
  setConsole = (node: string, enabled: boolean) =>
    this.#api.put<void>(`/nodes/${segment(node)}/states/console`, { enabled })
  /** Binary messages are the bytes of its serial line, text messages are words about it. It must be enabled. */
  async openConsole(node: string): Promise<ByteSocket> {
    // A ticket is good for a minute, and no secret stands in an address.
    const { ticket } = await this.#operator.post<{ ticket: string }>('/events/tickets', {})
    return this.#operator.socket(`/nodes/${segment(node)}/console`, ['holdfast', `ticket.${ticket}`])
  }
  /** Return at once; a failure is the node's last_error. */
  setBootMode = (node: string, target: 'uefi' | 'bios') =>
    this.#api.put<void>(`/nodes/${segment(node)}/states/boot_mode`, { target })
  setSecureBoot = (node: string, target: boolean) =>
    this.#api.put<void>(`/nodes/${segment(node)}/states/secure_boot`, { target })
  injectNmi = (node: string) => this.#api.put<void>(`/nodes/${segment(node)}/management/inject_nmi`, {})

  /** The lights of a machine. */
  async indicators(node: string): Promise<Indicator[]> {
    const path = `/nodes/${segment(node)}/management/indicators`
    const { components } = await this.#api.get<{ components: { name: string }[] }>(path)
    const found: Indicator[] = []
    for (const { name: component } of components) {
      const { indicators } = await this.#api.get<{ indicators: Indicator[] }>(`${path}/${segment(component)}`)
      found.push(...indicators.map(({ name, readonly, states }) => ({ component, name, readonly, states })))
    }
    return found
  }
  async indicator(node: string, component: string, name: string): Promise<string> {
    return (await this.#api.get<{ state: string }>(lightOf(node, component, name))).state
  }
  setIndicator = (node: string, component: string, name: string, state: string) =>
    this.#api.put<void>(lightOf(node, component, name), { state })

  /** Waits until a node is in a state. One whose step failed is a conflict. */
  wait(node: string, { until, ...wait }: NodeWait): Promise<Node> {
    const isDone = typeof until === 'function' ? until : ({ provision_state }: Node) => provision_state === until
    const look = async (signal: AbortSignal) => {
      const seen = await new Nodes(this.#api.within(signal), this.#operator, this.#events).show(node)
      if (isDone(seen)) return { done: seen }
      const { provision_state: state, last_error } = seen
      if (/fail|error/.test(state)) throw new ApiError(409, `${node} is ${state}: ${last_error ?? 'a step failed'}`)
      return { waitingFor: `${node} is ${state}` }
    }
    return waitForObject(this.#events, `node/${node}`, look, wait)
  }

  startMaintenance = (node: string, reason?: string) =>
    this.#api.put<void>(`/nodes/${segment(node)}/maintenance`, reason === undefined ? {} : { reason })
  endMaintenance = (node: string) => this.#api.delete(`/nodes/${segment(node)}/maintenance`)

  /** What became of it, oldest first. */
  history = (node: string) => this.#api.all<NodeEvent>(`/nodes/${segment(node)}/history/detail`, 'history')

  async traits(node: string): Promise<string[]> {
    return (await this.#api.get<{ traits: string[] }>(`/nodes/${segment(node)}/traits`)).traits
  }
  /** Replaces all traits. */
  setTraits = (node: string, traits: readonly string[]) =>
    this.#api.put<void>(`/nodes/${segment(node)}/traits`, { traits })
  addTrait = (node: string, trait: string) => this.#api.put<void>(`/nodes/${segment(node)}/traits/${segment(trait)}`)
  removeTrait = (node: string, trait: string) => this.#api.delete(`/nodes/${segment(node)}/traits/${segment(trait)}`)
  removeTraits = (node: string) => this.#api.delete(`/nodes/${segment(node)}/traits`)

  /** What `delete` would touch; fails if `delete` would fail. */
  explainDeletion = (node: string) => this.#operator.get<Touched>(`/explain/deletions/nodes/${segment(node)}`)
}
