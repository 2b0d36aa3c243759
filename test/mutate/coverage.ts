// What a file of tests runs of the sources, as V8 counted it. Types are blanked, not cut out, so places are those of the text.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { ROOT } from './mutants.ts'

/** From where to where it was run, in pairs. */
export type Spans = number[]

interface Script {
  url: string
  functions: { ranges: { startOffset: number; endOffset: number; count: number }[] }[]
}

const SOURCES = pathToFileURL(join(ROOT, 'src/')).href

/** Of all processes that wrote into the folder, for each source. */
export function coverageIn(folder: string): Record<string, Spans> {
  const painted = new Map<string, Uint8Array>()
  for (const name of readdirSync(folder)) {
    const { result } = JSON.parse(readFileSync(join(folder, name), 'utf8')) as { result: Script[] }
    for (const script of result) {
      if (!script.url.startsWith(SOURCES)) continue
      const file = `src/${script.url.slice(SOURCES.length).replace(/\?.*/, '')}`
      const own = paint(script.functions)
      const others = painted.get(file)
      painted.set(file, others ? own.map((run, i) => run | (others[i] ?? 0)) : own)
    }
  }
  return Object.fromEntries([...painted].map(([file, runs]) => [file, spansOf(runs)]))
}

/** Of what one process ran. */
export const coverageOf = (functions: Script['functions']): Spans => spansOf(paint(functions))

/** An inner range says more than the one around it. */
function paint(functions: Script['functions']): Uint8Array {
  const ranges = functions.flatMap(one => one.ranges)
  const runs = new Uint8Array(Math.max(...ranges.map(({ endOffset }) => endOffset)))
  const size = ({ startOffset, endOffset }: (typeof ranges)[number]) => endOffset - startOffset
  for (const range of ranges.toSorted((a, b) => size(b) - size(a))) {
    runs.fill(range.count > 0 ? 1 : 0, range.startOffset, range.endOffset)
  }
  return runs
}

function spansOf(runs: Uint8Array): Spans {
  const spans: Spans = []
  for (let i = 0; i <= runs.length; i++) if ((runs[i] ?? 0) !== (i === 0 ? 0 : runs[i - 1])) spans.push(i)
  return spans
}

export const isWithin = (spans: Spans, place: number): boolean =>
  spans.some((from, i) => i % 2 === 0 && from <= place && place < (spans[i + 1] ?? Infinity))
