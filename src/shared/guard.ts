// A guard over a process that must not outlive us.
import { type ChildProcess, spawn } from 'node:child_process'

/**
 * A shell that waits for the end of its input, which comes when we are gone in any way. Then it ends the process. $0 is
 * whom to end, $1 how many tenths of a second that may take; a line of input sets it anew.
 */
const GUARD = `tenths=$1
while read -r word; do case $word in over) exit ;; *) tenths=$word ;; esac; done
kill -TERM "$0"
while [ "$tenths" -gt 0 ] && kill -0 "$0"; do sleep 0.1; tenths=$((tenths - 1)); done
kill -KILL "$0"`

/** `target` is a process, or with a minus a group of them. The line `over` sends the guard home. */
export function guarding(
  target: number,
  graceMs: number,
): ChildProcess & { stdin: NonNullable<ChildProcess['stdin']> } {
  const tenths = Math.floor(graceMs / 100)
  const guard = spawn('/bin/sh', ['-c', GUARD, String(target), String(tenths)], {
    // Of its own session, so that whatever ends us doesn't end it.
    detached: true,
    cwd: '/',
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  // Without a shell the process has no guard, and all else works.
  guard.on('error', () => {})
  guard.stdin.on('error', () => {})
  guard.unref()
  return guard
}
