// Completions for the shell scripts beside this file: one word a line, then a tab and its help. A line that begins with
// a tab names what the shell completes itself: files, commands. On any error nothing is printed.
import type { Command, Option } from 'commander'
import { ColumnOption, connectWith } from '../client-command.ts'
import { EXIT } from '../failures.ts'
import { type Asker, namesFor } from '../names.ts'
import { withoutOptions } from '../server-flags.ts'
import { terminal } from '../terminal.ts'

type Program = (meant: string | undefined) => Promise<Command>

/** The last word is the one being typed; it may be empty. */
export async function complete(words: readonly string[], program: Program): Promise<number> {
  const lines = await linesFor(words, program).catch(() => [])
  terminal().stdout.write(lines.map(line => `${line}\n`).join(''))
  // Exits now: a request to a slow server may still be open.
  terminal().exit(EXIT.ok)
  return EXIT.ok
}

async function linesFor(words: readonly string[], program: Program): Promise<string[]> {
  const before = words.slice(0, -1)
  const typed = words.at(-1) ?? ''
  const [noun = ''] = withoutOptions(before)
  const place = placeAfter(before, await program(noun))
  const found = await wordsAt(place, typed, noun)
  return found.filter(
    line => (line.startsWith(typed) || line.startsWith('\t')) && !/\p{Cc}/u.test(line.replaceAll('\t', '')),
  )
}

interface Place {
  command: Command
  /** The option whose value comes next. */
  option: Option | null
  /** Whether that value is required. */
  isDue: boolean
  /** The arguments so far. */
  arguments: string[]
  /** The options so far, by their attribute. */
  given: Map<string, string>
  /** False after `--`, and after the first word of a command that `run` starts. */
  hasOptions: boolean
}

/** Reads the words as commander does. */
function placeAfter(words: readonly string[], program: Command): Place {
  const place: Place = {
    command: program,
    option: null,
    isDue: false,
    arguments: [],
    given: new Map(),
    hasOptions: true,
  }
  for (const word of words) {
    const { command, option } = place
    const isOption = place.hasOptions && word.length > 1 && word.startsWith('-')
    if (option && (place.isDue || !isOption)) {
      place.given.set(option.attributeName(), word)
      if (!option.variadic) place.option = null
      place.isDue = false
      continue
    }
    place.option = null
    const below = command.commands.find(one => one.name() === word)
    if (isOption && word === '--') place.hasOptions = false
    else if (isOption) takeOption(place, word)
    else if (below) place.command = below
    else place.arguments.push(word)
    if (argumentAt(place) === 'command' && place.arguments.length > 0) place.hasOptions = false
  }
  return place
}

const optionNamed = (flag: string, { options }: Command) =>
  options.find(({ long, short }) => flag === long || flag === short)

function takeOption(place: Place, word: string): void {
  const [flag = '', ...rest] = word.split('=')
  const option = optionNamed(flag, place.command)
  if (!option) return
  place.given.set(option.attributeName(), rest.join('='))
  if (rest.length > 0 || option.isBoolean()) return
  place.option = option
  place.isDue = option.required
}

/** The name of the next argument; a variadic last argument repeats. */
function argumentAt({ command, arguments: { length } }: Place): string | undefined {
  const known = command.registeredArguments
  const last = known.at(-1)
  return (known[length] ?? (last?.variadic ? last : undefined))?.name()
}

async function wordsAt(place: Place, typed: string, noun: string): Promise<string[]> {
  const { command, option, hasOptions } = place
  const asker: Asker = { typed, noun, connect: () => connectWith(Object.fromEntries(place.given), false) }
  if (option && (place.isDue || !typed.startsWith('-'))) return valuesOf(option, asker)
  if (hasOptions && typed.startsWith('-')) {
    const [flag = ''] = typed.split('=', 1)
    const begun = typed.includes('=') ? optionNamed(flag, command) : undefined
    if (!begun) return optionsOf(place)
    const values = await valuesOf(begun, { ...asker, typed: typed.slice(flag.length + 1) })
    return values.map(value => `${flag}=${value}`)
  }
  if (command.commands.length > 0) {
    const isUnknown = place.arguments.some(word => word !== 'help')
    return isUnknown ? [] : command.commands.map(one => `${one.name()}\t${one.description()}`)
  }
  const argument = argumentAt(place)
  const choices = command.registeredArguments.find(one => one.name() === argument)?.argChoices
  if (argument === 'command') return [place.arguments.length === 0 ? '\tcommands' : '\tfiles']
  return choices ?? (argument === undefined ? [] : [...(await namesFor(argument, asker))])
}

function optionsOf({ command, given }: Place): string[] {
  const isOpen = (option: Option) =>
    !option.hidden && (option.parseArg !== undefined || !given.has(option.attributeName()))
  return [
    ...command.options.filter(isOpen).map(({ long, description }) => `${long}\t${description}`),
    '--help\tshow help',
  ]
}

async function valuesOf(option: Option, asker: Asker): Promise<string[]> {
  if (option.argChoices) return option.argChoices
  if (option instanceof ColumnOption && option.columns.length > 0) return [...option.columns]
  const [, argument = ''] = /[<[]([^>\]]+?)(?:\.\.\.)?[>\]]/.exec(option.flags) ?? []
  if (argument === 'file') return ['\tfiles']
  return [...(await namesFor(argument, asker))]
}
