// The examples that every help ends with.
import type { Command } from 'commander'

const EXAMPLES = new WeakMap<Command, readonly string[]>()

/** What to type, without `holdfast`. */
export function withExample(command: Command, ...lines: readonly string[]): Command {
  EXAMPLES.set(command, lines)
  return command
}

/** A group has the examples of its first command, if it has none of its own. */
const examplesOf = (command: Command): readonly string[] =>
  EXAMPLES.get(command) ?? (command.commands[0] ? examplesOf(command.commands[0]) : [])

/** Adds them to the help of a command and of all below it. Call it last, so that they stand last. */
export function showExamples(command: Command): void {
  const lines = examplesOf(command)
  if (lines.length > 0) {
    const title = lines.length > 1 ? 'Examples:' : 'Example:'
    command.addHelpText('after', ['', title, ...lines.map(line => `  holdfast ${line}`)].join('\n'))
  }
  command.commands.forEach(showExamples)
}
