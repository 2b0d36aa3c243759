// Builds and steers the layer between a process and its system (layer.c): its clock, its disk and its names can fail.
import { execFileSync, spawnSync } from 'node:child_process'
import { chmodSync, closeSync, mkdtempSync, openSync, realpathSync, rmSync, writeFileSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const SOURCE = fileURLToPath(new URL('layer.c', import.meta.url))
const hasCompiler = process.platform === 'linux' && spawnSync('cc', ['--version'], { stdio: 'ignore' }).status === 0

/** Why tests that need the layer are skipped; false where it can be built. */
export const noLayer: false | string = hasCompiler ? false : 'there is no C compiler to build the layer with'

/** As in layer.c, in the same order. */
const CONTROLS = ['clockAheadMs', 'syncDelayMs', 'writeErrno', 'namesAway'] as const
export type Control = (typeof CONTROLS)[number]

/** Linux's numbers of errors. */
export const ERRNO = { io: 5, readOnly: 30 } as const

export interface Layer {
  /** For files that the process under it is to write; what happens to them is noted in the journal. */
  folder: string
  journal: string
  /** The environment of a process under this layer. */
  environment: Record<string, string>
  set(control: Control, value: number): void
  remove(): void
}

export function buildLayer(): Layer {
  const home = realpathSync(mkdtempSync(join(tmpdir(), 'holdfast-layer-')))
  // PostgreSQL runs as another user when we are root.
  chmodSync(home, 0o755)
  const [library, control, journal, folder] = ['layer.so', 'control', 'journal', 'data'].map(name => join(home, name))
  execFileSync('cc', ['-shared', '-fPIC', '-O1', '-o', library!, SOURCE, '-ldl', '-lpthread'])
  execFileSync('mkdir', [folder!])
  writeFileSync(control!, new BigInt64Array(CONTROLS.length), { mode: 0o644 })
  return {
    folder: folder!,
    journal: journal!,
    environment: {
      LD_PRELOAD: library!,
      FAULTS_CONTROL: control!,
      FAULTS_JOURNAL: journal!,
      FAULTS_FOLDER: folder!,
    },
    set(name, value) {
      const file = openSync(control!, 'r+')
      writeSync(file, new BigInt64Array([BigInt(value)]), 0, 8, CONTROLS.indexOf(name) * 8)
      closeSync(file)
    },
    remove: () => rmSync(home, { recursive: true, force: true }),
  }
}
