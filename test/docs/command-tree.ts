// The commands that pages speak of in passing, held against those that there are.
import type { Command } from 'commander'
import { programWith } from '../../src/cli/command.ts'
import { commandsIn } from './commands.ts'
import { howToRun } from './follow.ts'
import type { Page } from './pages.ts'

/** With all that is below each word; the command itself loads only what was typed. */
async function wholeProgram(): Promise<Command> {
  const program = await programWith(undefined)
  const whole = program.commands.map(async one => {
    const { commands } = await programWith(one.name())
    return commands.find(other => other.name() === one.name())!
  })
  Object.assign(program.commands, await Promise.all(whole))
  return program
}

export const PROGRAM = await wholeProgram()

/** Options of other programs that pages name without the program. */
const FOREIGN = new Set([
  // Of pg_restore.
  '--exit-on-error',
  // Of npm run mutate.
  '--budget',
  '--changed',
  '--each',
  '--key',
  '--sample',
  '--simulator',
  '--workers',
  '--availability-zone',
  '--store',
  '--server',
  '--only',
  '--exclude',
  '--gabbits',
  // Of npm run simulate.
  '--faults',
  '--every',
  '--load',
  '--mix',
  '--mutants',
  '--seeds',
  '--steps',
  '--trace',
  '--whole',
  // Of node.
  '--min-semi-space-size',
  '--no-parallel-scavenge',
  '--single-threaded-gc',
  '--tempest',
  '--rig',
  '--reuse',
  '--quick',
  '--against',
  '--providers',
  '--cpu-prof',
])

const optionsOf = ({ options }: Command) => options.flatMap(({ long, short }) => [long, short]).filter(Boolean)
const everyOption = new Set(everyCommand(PROGRAM).flatMap(optionsOf))

export function everyCommand(command: Command): Command[] {
  return [command, ...command.commands.flatMap(everyCommand)]
}

/** `node add trait` */
export function pathOf(command: Command): string {
  return command.parent ? `${pathOf(command.parent)} ${command.name()}`.trim() : ''
}

/** What is wrong with the command lines of a page that nobody runs: spans, and blocks that are not run. */
export function wrongWords({ path, spans, blocks }: Page): string[] {
  const idle = blocks.filter(block => block.language === 'sh' && howToRun(block).kind === 'not run').flatMap(commandsIn)
  return [...spans, ...idle].flatMap(({ line, text }) => {
    const wrong = text.startsWith('--') ? wrongOption(text) : wrongCommand(text)
    return wrong === null ? [] : [`${path}:${line}: \`${text}\`: ${wrong}`]
  })
}

function wrongOption(text: string): string | null {
  const option = text.split(/[ =]/, 1)[0]!
  if (option.endsWith('-') && [...everyOption].some(one => one?.startsWith(option))) return null
  return option === '--help' || everyOption.has(option) || FOREIGN.has(option)
    ? null
    : `no command has the option ${option}`
}

const WORDS = /(?:^|[|;&(]\s*)(?:bin\/)?holdfast ((?:[^\s|;&<>()]+ *)+)/

export function wrongCommand(text: string): string | null {
  const words = WORDS.exec(text.replaceAll(/\\\n/g, ' '))?.[1]?.trim().split(/ +/) ?? []
  let command = PROGRAM
  for (let at = 0; at < words.length; at++) {
    const word = words[at]!
    if (word === '--' || word.startsWith('#')) return null
    const [name, value] = word.split('=', 2) as [string, string?]
    if (name.startsWith('-')) {
      const option = command.options.find(({ long, short }) => long === name || short === name)
      if (!option && name !== '--help') return `${pathOf(command) || 'holdfast'} has no option ${name}`
      if (option?.required && value === undefined) at++
      continue
    }
    const next = command.commands.find(one => one.name() === name || one.aliases().includes(name))
    if (!next && command.commands.length > 0) return `there is no command ${pathOf(command)} ${name}`.replace('  ', ' ')
    command = next ?? command
  }
  return null
}

/** Commands of which no page speaks. */
export function unspoken(pages: readonly Page[]): string[] {
  const said = pages.flatMap(({ spans, blocks }) => [
    ...spans.map(({ text }) => text),
    ...blocks.filter(({ language }) => language === 'sh').map(({ text }) => text),
  ])
  // As in a table that has `node` first, and then `list`, `add trait` and so on; what is in capitals is an argument.
  const listed = new Set(
    pages.flatMap(({ rows }) =>
      rows.flatMap(([noun, ...verbs]) => verbs.flatMap(verb => [verb, `${noun} ${verb}`])).map(withoutArguments),
    ),
  )
  const isSaid = (path: string) => listed.has(path) || said.some(text => new RegExp(`holdfast ${path}\\b`).test(text))
  return everyCommand(PROGRAM)
    .filter(({ commands }) => commands.length === 0)
    .map(pathOf)
    .filter(path => !isSaid(path))
}

const withoutArguments = (words: string) => words.replaceAll(/ [A-Z]+\b.*/g, '')
