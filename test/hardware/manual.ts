// manual for the suite of all drivers: each machine is a folder, and a script does to it what it is told.
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Manual } from '../../src/metal/drivers/manual/manual.ts'
import type { Tested } from './suite.ts'

const SCRIPT = `#!/bin/sh -e
machine=$(sed 's/.*"address":"\\([^"]*\\)".*/\\1/')
test ! -e "$machine/broken" || { echo 'the switch is on fire'; exit 3; }
case "$1 $2" in
'hand_over ') test -e "$machine/user" || { echo hand_over >> "$machine/deeds"; touch "$machine/user"; } ;;
'return ') rm -f "$machine/user" ;;
'power state') cat "$machine/power" ;;
'power off' | 'power soft-off') echo off > "$machine/power" ;;
'power '*) echo on > "$machine/power" ;;
esac
`

export function manual(): Tested {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-manual-'))
  const script = join(folder, 'hook')
  writeFileSync(script, SCRIPT)
  chmodSync(script, 0o755)
  const hook = (name: string) => ({ command: [script, name], seconds: 60 })
  const hooks = {
    default: { hand_over: hook('hand_over'), return: hook('return'), clean: hook('clean'), power: hook('power') },
  }
  let machines = 0
  return {
    driver: 'manual',
    settings: { hooks },
    make: () => new Manual({ hooks, sign: () => ({}), namesOf: async () => ({ user: null, project: null }) }),
    machine: async () => {
      const at = (...names: string[]) => join(folder, `machine-${number}`, ...names)
      const number = ++machines
      mkdirSync(at())
      writeFileSync(at('power'), 'on\n')
      return {
        driverInfo: { address: at() },
        instanceInfo: {},
        power: () => (readFileSync(at('power'), 'utf8') === 'on\n' ? 'power on' : 'power off'),
        left: () => ['user'].filter(name => existsSync(at(name))),
        deeds: () => (existsSync(at('deeds')) ? readFileSync(at('deeds'), 'utf8').split('\n') : []),
      }
    },
    failures: [
      {
        name: 'a hook that fails',
        happens: ({ driverInfo }) => writeFileSync(join(String(driverInfo['address']), 'broken'), ''),
        says: /^Hook power \(state\) failed with exit code 3: the switch is on fire$/,
      },
    ],
    stop: async () => rmSync(folder, { recursive: true }),
  }
}
