// Leaves out faults as long as the finding stays: first halves, then single ones.
import type { Finding } from './port.ts'
import type { Result } from './simulation.ts'

type Run = (leftOut: ReadonlySet<number>) => Promise<Result>

/** The result with as few faults as possible that finds the same, and the numbers of those faults. */
export async function minimise(first: Result, run: Run): Promise<{ result: Result; kept: readonly number[] }> {
  const wanted = first.findings[0]!
  const all = Array.from({ length: first.faults }, (_, number) => number)
  let [result, kept] = [first, all]
  for (let size = Math.ceil(all.length / 2); size >= 1 && kept.length > 0; size = size > 1 ? Math.ceil(size / 2) : 0) {
    for (let from = 0; from < kept.length;) {
      const fewer = kept.filter((_, place) => place < from || place >= from + size)
      const tried = await run(new Set(all.filter(number => !fewer.includes(number))))
      if (tried.findings.some(finding => isAlike(finding, wanted))) [result, kept] = [tried, fewer]
      else from += size
    }
  }
  return { result, kept }
}

/** The same in kind: names and numbers may differ. */
export const isAlike = (one: Finding, other: Finding): boolean =>
  one.check === other.check && kindOf(one.text) === kindOf(other.text)

const kindOf = (text: string) => text.replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}|\d+/g, '…').slice(0, 60)
