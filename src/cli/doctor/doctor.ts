// holdfast doctor: checks the service and its surroundings, and changes nothing.
import { existsSync } from 'node:fs'
import { styleText } from 'node:util'
import { type Command, Option } from 'commander'
import type { Grade, Result } from './examine.ts'
import type { Word } from '../command.ts'
import { withExample } from '../example.ts'
import { EXIT } from '../failures.ts'
import { FORMATS, type OutputFlags, printList, visible } from '../output.ts'
import { type ServerFlags, serverFlagsOf, withServerFlags } from '../server-flags.ts'
import { type SettingFlags, saysSettings, withSettings } from '../service/settings.ts'
import { terminal } from '../terminal.ts'

const WHAT = `
It looks at the server as other commands find it, and at the service on this machine
when settings are given here (those of holdfast serve), when HOLDFAST_DATABASE or
HOLDFAST_CONFIG is set, or when there is a ./holdfast.db. With --url or --os- options
alone it looks only at that server, with settings alone only at this machine.

The exit code is 1 if something is wrong; warnings alone are 0.`

export function addCommands(program: Command, { name, help }: Word): void {
  const command = program.command(name).description(help)
  withExample(command, 'doctor', 'doctor --os-cloud lab', 'doctor --config /etc/holdfast.yaml -f json')
  withSettings(withServerFlags(command), ['database'])
    .addOption(new Option('-f, --format <format>', 'how to print it').choices(FORMATS).default('table'))
    .addHelpText('after', WHAT)
    .action(async (flags: SettingFlags & OutputFlags) => {
      const results: Row[] = []
      for await (const result of examined(flags, serverFlagsOf(command))) {
        if (flags.format === 'table') tell(result, results.at(-1))
        results.push(result)
      }
      if (flags.format === 'table') sum(results)
      else printList(results.map(shown), ['side', 'check', 'grade', 'found', 'hint'], flags)
      terminal().exitCode = results.some(({ grade }) => grade === 'wrong') ? EXIT.failed : EXIT.ok
    })
}

type Side = 'server' | 'machine'
type Row = Result & { side: Side }

const shown = ({ side, check, grade, found, hint }: Row) => ({ side, check, grade, found, hint })

const ENVIRONMENT = ['HOLDFAST_DATABASE', 'HOLDFAST_CONFIG']
const runsHere = () => ENVIRONMENT.some(name => terminal().env[name]) || existsSync('holdfast.db')

async function* examined(flags: SettingFlags, server: ServerFlags): AsyncGenerator<Row> {
  const [namesServer, namesSettings] = [Object.keys(server).length > 0, saysSettings(flags)]
  const { examine } = await import('./examine.ts')
  if (namesSettings || (!namesServer && runsHere())) {
    const { localChecks } = await import('./local.ts')
    for await (const result of examine(localChecks, { flags, env: terminal().env }))
      yield { side: 'machine', ...result }
  }
  if (namesServer || !namesSettings) {
    const { remoteChecks } = await import('./remote.ts')
    for await (const result of examine(remoteChecks, { flags: server })) yield { side: 'server', ...result }
  }
}

const HEADINGS: Record<Side, string> = {
  machine: 'The service on this machine',
  server: 'The server, as its clients meet it',
}

const SIGNS: Record<Grade, { sign: string; word: string; colour: 'green' | 'yellow' | 'red' | 'dim' }> = {
  ok: { sign: '✓', word: 'ok  ', colour: 'green' },
  warning: { sign: '!', word: 'warn', colour: 'yellow' },
  wrong: { sign: '✗', word: 'FAIL', colour: 'red' },
  unknown: { sign: '-', word: 'skip', colour: 'dim' },
}

const NAME_WIDTH = 12

/** Prints a result as soon as it is known, because some checks take seconds. */
function tell({ side, check, grade, found, hint }: Row, before: Row | undefined): void {
  const { isTTY } = terminal().stdout
  const { sign, word, colour } = SIGNS[grade]
  const heading = before?.side === side ? '' : `${before ? '\n' : ''}${HEADINGS[side]}\n`
  const mark = isTTY ? painted(colour, sign) : word
  const lines = [`  ${mark} ${check.padEnd(NAME_WIDTH)} ${visible(found)}`]
  if (hint !== null)
    lines.push(
      `  ${' '.repeat(isTTY ? 1 : word.length)} ${' '.repeat(NAME_WIDTH)} ${isTTY ? '→' : '->'} ${visible(hint)}`,
    )
  terminal().stdout.write(`${heading}${lines.join('\n')}\n`)
}

const painted = (colour: 'green' | 'yellow' | 'red' | 'dim', text: string) =>
  styleText(colour, text, { stream: terminal().stdout })

function sum(results: readonly Row[]): void {
  const count = (grade: Grade) => results.filter(result => result.grade === grade).length
  const said = [
    [count('wrong'), 'wrong'],
    [count('warning'), 'to be watched'],
    [count('unknown'), 'not looked at'],
  ] as const
  const told = said.filter(([number]) => number > 0).map(([number, words]) => `${number} ${words}`)
  terminal().stdout.write(`\n${told.length === 0 ? `All ${results.length} checks are fine.` : `${told.join(', ')}.`}\n`)
}
