// What is on a disk after a power cut, played from the layer's journal: what was synced is there, and of the rest nothing,
// all, or any sectors in any order.
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'

/** What a disk writes whole, or not at all. */
const SECTOR_BYTES = 512
const HEAD_BYTES = 40
const KINDS = ['opened', 'written', 'truncated', 'synced', 'unlinked'] as const

interface Step {
  atNs: bigint
  kind: (typeof KINDS)[number]
  file: string
  offset: number
  data: Buffer
}

/** Of what was not synced: lost, kept, or by chance, sector by sector. */
export type Unsynced = 'lost' | 'kept' | ((below: number) => number)

export interface Journal {
  steps: readonly Step[]
  /** The files as they were before the first step. */
  base: ReadonlyMap<string, Buffer>
}

export function filesIn(folder: string): Map<string, Buffer> {
  return new Map(readdirSync(folder).map(name => [join(folder, name), readFileSync(join(folder, name))]))
}

export function readJournal(file: string, base: ReadonlyMap<string, Buffer>): Journal {
  const bytes = existsSync(file) ? readFileSync(file) : Buffer.alloc(0)
  const steps: Step[] = []
  for (let at = 0; at + HEAD_BYTES <= bytes.length;) {
    const number = (index: number) => Number(bytes.readBigUInt64LE(at + index * 8))
    const [kind, offset, length, nameLength] = [number(1), number(2), number(3), number(4)]
    const atNs = bytes.readBigUInt64LE(at)
    const name = at + HEAD_BYTES
    const data = bytes.subarray(name + nameLength, name + nameLength + length)
    steps.push({ atNs, kind: KINDS[kind]!, file: bytes.toString('utf8', name, name + nameLength), offset, data })
    at = name + nameLength + length
  }
  return { steps, base }
}

/** Writes into `folder` what the disk has if the power goes at `cutNs`. */
export function afterCut({ steps, base }: Journal, cutNs: bigint, unsynced: Unsynced, folder: string): void {
  const before = steps.filter(({ atNs }) => atNs <= cutNs)
  const folders = new Set(before.map(({ file }) => dirname(file)))
  // SQLite's index of the log is no part of what lasts: it is made anew by whoever opens the file first.
  const isLasting = (name: string) => !name.endsWith('-shm') && !folders.has(name)
  const names = new Set([...base.keys(), ...before.map(({ file }) => file)].filter(isLasting))
  for (const name of names) {
    const content = contentOf(name, base.get(name), before, unsynced)
    if (content) writeFileSync(join(folder, basename(name)), content)
  }
}

/** Grows by doubling, since a log grows by a page at a time. */
class Content {
  #bytes: Buffer
  #length: number

  constructor(base: Buffer | undefined) {
    this.#bytes = Buffer.from(base ?? [])
    this.#length = this.#bytes.length
  }

  get whole(): Buffer {
    return this.#bytes.subarray(0, this.#length)
  }

  resize(length: number): void {
    if (length > this.#bytes.length) this.#bytes = Buffer.concat([this.whole], Math.max(length, this.#length * 2))
    else if (length < this.#length) this.#bytes.fill(0, length, this.#length)
    this.#length = length
  }

  write({ offset, data }: Step, unsynced: Unsynced): void {
    for (let from = 0; from < data.length;) {
      const to = Math.min(data.length, from + SECTOR_BYTES - ((offset + from) % SECTOR_BYTES))
      if (happens(unsynced)) {
        if (this.#length < offset + to) this.resize(offset + to)
        data.copy(this.#bytes, offset + from, from, to)
      }
      from = to
    }
  }
}

function contentOf(name: string, base: Buffer | undefined, steps: readonly Step[], unsynced: Unsynced): Buffer | null {
  const folder = dirname(name)
  // That a file is made or removed is sure once its folder has been synced.
  const listed = steps.findLastIndex(({ file, kind }) => file === folder && kind === 'synced')
  const removed = steps.findLastIndex(
    ({ file, kind }, index) => file === name && kind === 'unlinked' && (index < listed || happens(unsynced)),
  )
  const made = steps.findIndex(({ file }, index) => index > removed && file === name)
  const isOld = removed < 0 && base !== undefined
  if (!isOld && (made < 0 || (made > listed && !happens(unsynced)))) return null
  const mine = steps.filter(({ file }, index) => index > removed && file === name)
  const synced = mine.findLastIndex(({ kind }) => kind === 'synced')
  const content = new Content(isOld ? base : undefined)
  for (const [index, step] of mine.entries()) {
    const fate = index < synced ? 'kept' : unsynced
    if (step.kind === 'truncated' && happens(fate)) content.resize(step.offset)
    if (step.kind === 'written') content.write(step, fate)
  }
  return content.whole
}

const happens = (unsynced: Unsynced) => unsynced === 'kept' || (unsynced !== 'lost' && unsynced(2) === 1)
