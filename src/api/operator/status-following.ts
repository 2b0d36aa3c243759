// What one client has seen of the status, and what it is to be told next.
import { createHash } from 'node:crypto'
import { cursorIn, endOf, textOf } from '../../events/event.ts'
import { limits } from '../../shared/limits.ts'
import type { BoardEntry } from '../../status/table.ts'
import type { Viewpoint } from '../../status/viewpoint.ts'
import type { OperatorRequest } from './request.ts'
import type { Window } from './status-filter.ts'
import { hostsText } from './status-hosts.ts'
import { StatusRights } from './status-rights.ts'
import { bodyOf, headOf, type Lists, meOf, spansOf, textOfSome, textsOf } from './status-texts.ts'
import { waitingText } from './status-waiting.ts'

const ALL = { isMine: false, matches: null, matchesWaiting: () => true }

/** A list that is told whole. */
interface Whole {
  version: number
  waitingVersion: number
  at: number
  text: string
}

interface Seen {
  sequence: number
  version: number
  /** The texts of the lists. A client that came back may have others. */
  hosts: string | null
  waiting: string | null
}

export class StatusFollowing {
  readonly #request: OperatorRequest
  readonly #window: Window | null
  #rights: StatusRights
  #viewpoint: Viewpoint
  #tag: string
  #seen: Seen | null = null
  #waiting: Whole | null = null

  constructor(request: OperatorRequest, window: Window | null) {
    this.#request = request
    this.#window = window
    this.#rights = new StatusRights(request)
    this.#viewpoint = request.context.board.viewpoint(this.#rights.sight)
    this.#tag = this.#tagNow()
  }

  /** Where the client is; it may come back with it. Null when it has seen nothing yet. */
  get cursor(): string | null {
    return this.#seen && `${textOf(endOf(this.#seen.sequence))}~${this.#seen.version}~${this.#tag}`
  }

  /**
   * Goes on after a cursor. One that isn't ours counts as none, and then everything is told: another process numbers
   * changes and traits in another way, and other rights or another window show other rows.
   */
  resume(cursor: string): void {
    const [place = '', version = '', tag] = cursor.split('~')
    const at = cursorIn(place)
    if (at === null || tag !== this.#tag || !/^[0-9]{1,15}$/.test(version)) return
    this.#seen = { sequence: at.sequence, version: Number(version), hosts: null, waiting: null }
  }

  /** The caller's rights may have changed. Then everything is told again. */
  renewRights(): void {
    const rights = new StatusRights(this.#request)
    if (rights.key === this.#rights.key && rights.sight.key === this.#rights.sight.key) return
    this.#rights = rights
    this.#viewpoint = this.#request.context.board.viewpoint(rights.sight)
    this.#begin()
  }

  /** What is to be told, in pieces; null if nothing changed since the last time. The board is true up to this place. */
  async next(sequence: number): Promise<Buffer[] | null> {
    const { board } = this.#request.context
    if (!board.isPresent(this.#viewpoint)) {
      this.#viewpoint = board.viewpoint(this.#rights.sight)
      this.#begin()
    }
    const waiting = await this.#waitingText()
    const hosts = this.#rights.seesHosts ? await hostsText(this.#request, this.#viewpoint) : '[]'
    // Nothing else runs from here on, so all of it belongs to this version.
    const departed = this.#seen && board.departedAfter(this.#seen.version)
    const before = departed ? this.#seen : null
    this.#seen = { sequence, version: board.version, hosts, waiting }
    if (!departed || !before) return this.#everything({ hosts, waiting })
    const entries = board.changedAfter(before.version)
    const isSeen = (entry: BoardEntry | undefined) => entry !== undefined && this.#rights.relationOf(entry) !== null
    const left = departed.filter(one => this.#rights.seesMachineOf(one) && !isSeen(board.entryWith(one.uuid)))
    const gone = [...new Set(left.map(({ uuid }) => uuid))]
    const machines = textOfSome(this.#request, this.#rights, this.#viewpoint, entries)
    const [isHosts, isWaiting] = [hosts !== before.hosts, waiting !== before.waiting]
    if (machines.length === 0 && gone.length === 0 && !isHosts && !isWaiting) return null
    const spans = spansOf(this.#request, this.#rights, { isMine: false, window: this.#window }, entries)
    const lists = { hosts: isHosts ? hosts : 'null', waiting: isWaiting ? waiting : 'null' }
    return this.#body(before, gone, [machines.subarray(1)], spans, lists)
  }

  #everything(lists: Lists): Buffer[] {
    const machines = textsOf(this.#request, this.#rights, this.#viewpoint, ALL)
    const spans = spansOf(this.#request, this.#rights, { isMine: false, window: this.#window })
    return this.#body(null, [], machines, spans, lists)
  }

  #body(before: Seen | null, gone: string[], machines: Buffer[], spans: object[], lists: Lists): Buffer[] {
    const head = {
      since: before && textOf(endOf(before.sequence)),
      cursor: this.cursor,
      ...headOf(this.#request, this.#seen!.sequence),
      me: meOf(this.#request, this.#rights),
      gone,
    }
    // After the machines, whose texts may bring new ones.
    const rest = { traits: [...this.#viewpoint.traits.keys()], spans }
    return bodyOf(head, machines, rest, lists)
  }

  async #waitingText(): Promise<string> {
    const { context, now } = this.#request
    const { version, waitingVersion } = context.board
    const last = this.#waiting
    if (last) {
      const ms = Math.abs(now - last.at)
      const isSame = last.version === version && ms < limits.statusLineAgainMs
      if (isSame || (last.waitingVersion === waitingVersion && ms < limits.statusWholeMs)) return last.text
    }
    const text = await waitingText(this.#request, this.#rights, this.#viewpoint, ALL, true)
    this.#waiting = { version, waitingVersion, at: now, text }
    return text
  }

  #begin(): void {
    this.#tag = this.#tagNow()
    this.#seen = null
    this.#waiting = null
  }

  #tagNow(): string {
    const { from, to } = this.#window ?? { from: 0, to: 0 }
    const parts = [this.#viewpoint.id, this.#rights.key, from, to]
    return createHash('sha256').update(JSON.stringify(parts)).digest('base64url').slice(0, 16)
  }
}
