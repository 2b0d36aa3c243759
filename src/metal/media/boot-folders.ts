// The folders of boot ISOs. Each says in its name whose it is, so that those of processes that were killed can go.
import { lstat, mkdtemp, readdir, rm } from 'node:fs/promises'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'

const PREFIX = 'holdfast-boot-'
/** Those of this process. In a container the next one may have the same number. */
const ours = new Set<string>()

export async function makeFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), `${PREFIX}${hostname()}-${process.pid}-`))
  ours.add(folder)
  return folder
}

export async function removeFolder(folder: string): Promise<void> {
  ours.delete(folder)
  await rm(folder, { recursive: true, force: true })
}

/** Removes what processes of this user on this machine have left behind. */
export async function removeDeadFolders(): Promise<void> {
  for (const name of await readdir(tmpdir())) {
    const folder = join(tmpdir(), name)
    if (!ours.has(folder) && isOfTheDead(name) && (await isOurUsers(folder))) await removeFolder(folder)
  }
}

function isOfTheDead(name: string): boolean {
  const start = `${PREFIX}${hostname()}-`
  const pid = name.startsWith(start) ? Number(/^(\d+)-\w{6}$/.exec(name.slice(start.length))?.[1] ?? 0) : 0
  return pid > 0 && (pid === process.pid || !isAlive(pid))
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH'
  }
}

async function isOurUsers(folder: string): Promise<boolean> {
  const found = await lstat(folder).catch(() => null)
  return found !== null && found.isDirectory() && found.uid === process.getuid?.()
}
