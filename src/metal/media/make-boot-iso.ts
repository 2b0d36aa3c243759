// Makes the ISO that boots a kernel with a ramdisk, with GRUB's own program.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, rename, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { limits } from '../../shared/limits.ts'
import { programAt } from '../../shared/program-at.ts'
import { fetchTo, Unmade } from './fetched.ts'
import { grubConfigOf, type KernelBoot } from './kernel-boot.ts'

const PROGRAMS = ['grub-mkrescue', 'xorriso']

interface Place {
  /** The folder for all of it; nothing else is in it, and what isn't needed any more goes. */
  folder: string
  /** As in the environment. */
  path: string
  signal: AbortSignal
}

/** Returns where the ISO is, and its length. Throws `Unmade` with the reason. */
export async function makeBootIso(boot: KernelBoot, place: Place): Promise<{ file: string; bytes: number }> {
  const absent = PROGRAMS.find(name => programAt(name, place.path) === null)
  if (absent !== undefined) throw new Unmade(`${absent} is not installed where the API runs`)
  const { folder, signal } = place
  const tree = join(folder, 'tree')
  await mkdir(join(tree, 'boot', 'grub'), { recursive: true, mode: 0o700 })
  const { kernelBytesMax, ramdiskBytesMax } = limits
  await fetchTo(join(tree, 'vmlinuz'), { url: boot.kernel, called: 'kernel', bytesMax: kernelBytesMax }, signal)
  await fetchTo(join(tree, 'initrd'), { url: boot.ramdisk, called: 'ramdisk', bytesMax: ramdiskBytesMax }, signal)
  await writeFile(join(tree, 'boot', 'grub', 'grub.cfg'), grubConfigOf(boot))
  const half = join(folder, 'half.iso')
  await rescue([`--output=${half}`, tree], place)
  await rm(tree, { recursive: true })
  const file = join(folder, 'boot.iso')
  await rename(half, file)
  return { file, bytes: (await stat(file)).size }
}

async function rescue(args: string[], { folder, path, signal }: Place): Promise<void> {
  const late = AbortSignal.timeout(limits.bootIsoProgramMs)
  const child = spawn(programAt('grub-mkrescue', path)!, args, {
    cwd: folder,
    env: { PATH: path, TMPDIR: folder, LC_ALL: 'C' },
    stdio: ['ignore', 'ignore', 'pipe'],
    signal: AbortSignal.any([signal, late]),
    killSignal: 'SIGKILL',
  })
  let words = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => (words = (words + text).slice(-limits.bootIsoWordsMax)))
  // Killed by a signal of ours, it closes too.
  child.on('error', () => {})
  const [code] = (await once(child, 'close')) as [number | null]
  signal.throwIfAborted()
  if (late.aborted) throw new Unmade(`grub-mkrescue took more than ${limits.bootIsoProgramMs / 1_000} seconds`)
  if (code !== 0) throw new Unmade(`grub-mkrescue failed: ${lastLineOf(words) || `it ended with ${code}`}`)
}

const lastLineOf = (text: string) => text.trim().split('\n').at(-1)!.trim()
