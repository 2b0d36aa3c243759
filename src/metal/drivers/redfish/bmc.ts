// A BMC as the rooms of this driver see it: resources to read and change, and the ones that every machine has.
import { limits } from '../../../shared/limits.ts'
import { HardwareFailure, type Json } from '../port.ts'

/** A resource of Redfish as it was read. */
export interface Resource {
  /** Its @odata.id, or the path that it was read from. */
  readonly path: string
  /** Characters that were read for it. */
  readonly chars?: number
  readonly body: Json
}

/** Where the BMC makes a task of a change, it is awaited, unless it only ends after a restart of the machine. */
interface Waiting {
  wait?: boolean
}

export interface Bmc {
  get(path: string): Promise<Resource>
  /** Null where there is none (404). */
  find(path: string | null): Promise<Resource | null>
  /** The members of a collection, all pages; none where there is no collection. */
  members(path: string | null): Promise<Resource[]>
  /** With If-Match from a fresh read, and the ladder for BMCs that dislike it. */
  patch(path: string, body: Json, options?: Waiting): Promise<void>
  /** `body` null: none is sent. */
  post(path: string, body: Json | null, options?: Waiting): Promise<Resource>
  delete(path: string, options?: Waiting): Promise<void>

  /** The system of this node, read now. */
  system(): Promise<Resource>
  /** The system's managers and chassis. */
  managers(): Promise<Resource[]>
  chassis(): Promise<Resource[]>
  /** The service root. */
  root(): Promise<Resource>
}

/** The BMC refused. Its message says what it said. */
export class BmcRefusal extends HardwareFailure {
  readonly status: number
  /** MessageIds of its extended information, without their registry and version. */
  readonly messageIds: readonly string[]

  constructor(message: string, { status, messageIds }: { status: number; messageIds: readonly string[] }) {
    super(message)
    this.status = status
    this.messageIds = messageIds
  }
}

/** Nobody there, no answer in time, or a certificate that can't be trusted. */
export class BmcAway extends HardwareFailure {}

/** The link to another resource: `{"@odata.id": path}` below these keys. Null where there is none. */
export function linkIn(body: unknown, ...keys: readonly string[]): string | null {
  let at: unknown = body
  for (const key of [...keys, '@odata.id']) at = (at as Json | null | undefined)?.[key]
  return typeof at === 'string' && at.length <= limits.redfishLinkMax && !/\p{Cc}/u.test(at) ? at : null
}
