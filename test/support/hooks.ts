// Hooks for tests: a script that writes down what it was asked, and does as it is told.
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { HookName, HookSets } from '../../src/metal/drivers/manual/hooks.ts'
import { waitFor } from './baremetal.ts'

/**
 * Words that a hook finds in the file `HOOK.do`: fail, later (once), hang (until the file `go` is there). Without the file
 * it is done.
 */
const SCRIPT = `#!/bin/sh
folder=$1 hook=$2
letter=$(cat)
printf '%s\\n' "$letter" >> "$folder/letters"
# Whoever sees the number may change the word.
word=$(cat "$folder/$hook.do" 2>/dev/null)
echo $$ > "$folder/$hook.pid"
case $word in
fail) echo 'working hard'; echo 'no space left'; exit 3 ;;
later) rm "$folder/$hook.do"; echo 'still writing'; exit 75 ;;
hang) while [ ! -e "$folder/go" ]; do sleep 0.05; done ;;
esac
case $3 in
state) cat "$folder/power" ;;
on | off) echo "$3" > "$folder/power" ;;
*) echo "$hook is done" ;;
esac
`

export interface Letter {
  hook: HookName
  attempt: string
  asked: number
  node: { uuid: string; name: string | null; address: string | null; extra: object; instance_info: object }
  holder: { project: { id: string; name: string }; user: { id: string }; allocation: { uuid: string } | null } | null
}

export class Hooks {
  readonly folder = mkdtempSync(join(tmpdir(), 'holdfast-hooks-'))
  readonly #script = join(this.folder, 'hook')

  constructor() {
    writeFileSync(this.#script, SCRIPT)
    chmodSync(this.#script, 0o755)
    writeFileSync(join(this.folder, 'power'), 'on\n')
  }

  /** These hooks as the set of all nodes. */
  settings(...names: HookName[]): HookSets {
    const hook = (name: HookName) => ({ command: [this.#script, this.folder, name], seconds: 600 })
    return { default: Object.fromEntries(names.map(name => [name, hook(name)])), none: {} }
  }

  tell(hook: HookName, word: 'fail' | 'later' | 'hang' | 'succeed'): void {
    const file = join(this.folder, `${hook}.do`)
    if (word === 'succeed') rmSync(file, { force: true })
    else writeFileSync(file, word)
  }

  /** Lets those go on that hang. */
  letGo(): void {
    writeFileSync(join(this.folder, 'go'), '')
  }

  /** What the hooks got that work when a machine changes hands. */
  letters(node: string): Letter[] {
    const file = join(this.folder, 'letters')
    const lines = existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : []
    return lines
      .map(line => JSON.parse(line) as Letter)
      .filter(({ hook, node: { uuid } }) => uuid === node && hook !== 'power')
  }

  /** Which hooks were asked for the node, in order. */
  asked = (node: string): HookName[] => this.letters(node).map(({ hook }) => hook)

  /** The process of a hook, once it has begun for the node. */
  async begun(hook: HookName, node: string): Promise<number> {
    await waitFor(`${hook} has begun`, async () => this.asked(node).includes(hook))
    return waitFor(`${hook} has a number`, async () => Number(this.#read(`${hook}.pid`)))
  }

  #read(name: string): string {
    const file = join(this.folder, name)
    return existsSync(file) ? readFileSync(file, 'utf8') : ''
  }

  /** Forgets what was told and done. */
  reset(): void {
    for (const name of ['hand_over.do', 'return.do', 'clean.do', 'power.do', 'go', 'hand_over.pid', 'letters'])
      rmSync(join(this.folder, name), { force: true })
    writeFileSync(join(this.folder, 'power'), 'on\n')
  }

  remove(): void {
    rmSync(this.folder, { recursive: true })
  }
}
