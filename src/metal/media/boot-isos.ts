// The boot ISOs of this process: made when they are asked for, and kept for a while in folders of their own. Any of them
// can go at any time, because it can be made again.
import { createHash } from 'node:crypto'
import { type FileHandle, open } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { problem } from '../../problems/problem.ts'
import { limits } from '../../shared/limits.ts'
import { makeFolder, removeDeadFolders, removeFolder } from './boot-folders.ts'
import { makeBootIso } from './make-boot-iso.ts'
import { Unmade } from './fetched.ts'
import type { KernelBoot } from './kernel-boot.ts'

interface Options {
  now: () => number
  /** Where programs are, as in the environment. */
  path: string
  failed: (error: unknown) => void
}

interface Kept {
  /** Its own; nobody else may look into it. */
  folder: string | null
  usedAt: number
  /** Resolves when it is made, or can't be. */
  over: Promise<void>
  iso: { file: string; bytes: number } | null
  failure: string | null
}

export class BootIsos {
  readonly #options: Options
  /** By what is in them. */
  readonly #kept = new Map<string, Kept>()
  readonly #stopping = new AbortController()
  readonly #sweeper = setInterval(() => this.#sweep(), limits.bootIsoSweepMs).unref()

  constructor(options: Options) {
    this.#options = options
    void removeDeadFolders().catch(options.failed)
  }

  /** Waits a little for one that is being made. A failure is told once: whoever asks again has it made anew. */
  async open(boot: KernelBoot): Promise<{ handle: FileHandle; bytes: number } | 'being made'> {
    this.#sweep()
    const key = createHash('sha256')
      .update(JSON.stringify([boot.kernel, boot.ramdisk, boot.params]))
      .digest('hex')
    const kept = this.#kept.get(key) ?? this.#begin(key, boot)
    if (!kept) return 'being made'
    kept.usedAt = this.#options.now()
    await withinReason(kept.over)
    if (kept.failure !== null) {
      this.#drop(key, kept)
      throw problem('boot_iso_unmade', { reason: kept.failure })
    }
    if (!kept.iso) return 'being made'
    try {
      return { handle: await open(kept.iso.file), bytes: kept.iso.bytes }
    } catch {
      // Someone tidied up.
      this.#drop(key, kept)
      return 'being made'
    }
  }

  /** Null when enough are being made already. */
  #begin(key: string, boot: KernelBoot): Kept | null {
    const making = [...this.#kept.values()].filter(({ iso, failure }) => !iso && failure === null)
    if (making.length >= limits.bootIsosAtOnce || this.#stopping.signal.aborted) return null
    const kept: Kept = { folder: null, usedAt: this.#options.now(), over: Promise.resolve(), iso: null, failure: null }
    this.#kept.set(key, kept)
    kept.over = this.#make(kept, boot)
    return kept
  }

  async #make(kept: Kept, boot: KernelBoot): Promise<void> {
    const { path, failed } = this.#options
    try {
      kept.folder = await makeFolder()
      kept.iso = await makeBootIso(boot, { folder: kept.folder, path, signal: this.#stopping.signal })
      this.#sweep()
    } catch (error) {
      if (!(error instanceof Unmade)) failed(error)
      kept.failure = error instanceof Unmade ? error.message : reasonOf(error)
      await this.#remove(kept)
    }
  }

  /** Those that nobody asked for lately go, and then the oldest, until there are few enough of them. */
  #sweep(): void {
    const now = this.#options.now()
    const done = [...this.#kept].filter(([, { iso, failure }]) => iso || failure !== null)
    let [count, bytes] = [done.length, done.reduce((sum, [, { iso }]) => sum + (iso?.bytes ?? 0), 0)]
    for (const [key, kept] of done.sort(([, one], [, other]) => one.usedAt - other.usedAt)) {
      const isOld = now - kept.usedAt > limits.bootIsoKeepMs
      // The newest stays, however large: someone waits for it.
      const isTooMuch = count > 1 && (count > limits.bootIsosKept || bytes > limits.bootIsosBytesMax)
      if (!isOld && !isTooMuch) continue
      count--
      bytes -= kept.iso?.bytes ?? 0
      this.#drop(key, kept)
    }
  }

  /** Whoever reads it at this moment reads on: the file goes when it is closed. */
  #drop(key: string, kept: Kept): void {
    if (this.#kept.get(key) === kept) this.#kept.delete(key)
    void this.#remove(kept)
  }

  async #remove({ folder }: Kept): Promise<void> {
    if (folder !== null) await removeFolder(folder).catch(this.#options.failed)
  }

  async stop(): Promise<void> {
    clearInterval(this.#sweeper)
    this.#stopping.abort(new Unmade('the service is stopping'))
    await Promise.all(
      [...this.#kept.values()].map(async kept => {
        await kept.over
        await this.#remove(kept)
      }),
    )
  }
}

/** Failures of this machine: the code says what it lacks. */
const reasonOf = (error: unknown) =>
  `this machine can't: ${(error as { code?: string }).code ?? 'see the log of the API'}`

async function withinReason(over: Promise<void>): Promise<void> {
  const enough = new AbortController()
  const late = sleep(limits.bootIsoWaitMs, undefined, { ref: false, signal: enough.signal }).catch(() => {})
  await Promise.race([over, late])
  enough.abort()
}
