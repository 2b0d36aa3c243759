// --wait and --keep: for commands that wait, from the login on.
import type { Command } from 'commander'
import type { Holdfast } from '../client/index.ts'
import { systemClock } from '../clock/clock.ts'
import { connectWith, durationOf, type ServerFlags } from './client-command.ts'
import { commandLineOf, serverFlagsOf } from './server-flags.ts'
import type { WaitOptions } from '../client/waiting.ts'
import { waitFor } from './progress.ts'

export interface WaitFlags extends ServerFlags {
  wait?: string | true
}

export interface KeepFlags extends WaitFlags {
  keep?: boolean
}

export const withWait = (command: Command, help: string): Command =>
  command
    .option('--wait [duration]', `wait here until ${help}, at most so long`)
    .option('--keep', 'on Ctrl-C or a failure leave what was asked for; otherwise it is cancelled')

/** How long a command waits, counted from its start. */
export interface Wait extends Pick<WaitOptions, 'timeoutMs'> {
  startedAt: number
  /** A command for the same server, to be shown. */
  line: (words: string) => string
}

/** As onServer, for commands that may wait. With a time, they wait for the server too. */
export function onServerWaiting<Given extends [...unknown[], WaitFlags]>(
  action: (server: Holdfast, wait: Wait, ...given: Given) => Promise<void>,
) {
  return async (...given: unknown[]): Promise<void> => {
    const words = given.slice(0, -1) as Given
    const flags = serverFlagsOf(given.at(-1) as Command)
    const wait = waitIn(flags, (words.at(-1) as WaitFlags).wait)
    await action(await connectWaiting(flags, wait), wait, ...words)
  }
}

export const waitIn = (flags: ServerFlags, wait: string | true | undefined): Wait => ({
  timeoutMs: typeof wait === 'string' ? durationOf(wait) : null,
  startedAt: systemClock.now(),
  line: words => commandLineOf(flags, words),
})

export const connectWaiting = (flags: ServerFlags, wait: Wait): Promise<Holdfast> =>
  wait.timeoutMs === null ? connectWith(flags) : waitFor(async () => ({ done: await connectWith(flags) }), wait)
