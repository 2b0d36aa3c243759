// The Markdown of the repository as tests need it: code blocks with the notes above them, spans, links and anchors.
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const ROOT = fileURLToPath(new URL('../..', import.meta.url))

/** What stands at a line of a page; lines count from 1, as editors do. */
interface Placed {
  line: number
  text: string
}

export interface Block extends Placed {
  language: string
  /** What the comments directly above it say, such as `run: background`: seen in the source, not by the reader. */
  notes: string[]
  /** Only blank lines lie between it and the block before it. */
  isNext: boolean
}

export interface Page {
  path: string
  blocks: Block[]
  spans: Placed[]
  links: Placed[]
  anchors: Set<string>
  /** Of tables: the spans of the first cell, or an empty one, and then those of the others. */
  rows: string[][]
}

/** All files of the repository, also those that are new and not yet added. */
export function filesOf(...patterns: string[]): string[] {
  const listed = execFileSync('git', ['ls-files', '-z', '-co', '--exclude-standard', ...patterns], { cwd: ROOT })
  return [...new Set(listed.toString().split('\0').filter(Boolean))]
}

export const allPages = (): Page[] =>
  filesOf('*.md').map(path => ({ path, ...pageIn(readFileSync(join(ROOT, path), 'utf8')) }))

const FENCE = /^( *)(`{3,}) *(\S*)/
const NOTE = /^ *<!-- *(.*?) *-->$/
const HEADING = /^#{1,6} +(.*?) *#* *$/

export function pageIn(text: string): Omit<Page, 'path'> {
  const page: Omit<Page, 'path'> = { blocks: [], spans: [], links: [], anchors: new Set(), rows: [] }
  const lines = text.split('\n')
  let notes: string[] = []
  let isNext = false
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at]!
    const fence = FENCE.exec(line)
    if (fence) {
      const [, indent = '', ticks = '', language = ''] = fence
      const end = lines.findIndex((one, index) => index > at && one.trim() === ticks)
      if (end < 0) throw new Error(`the block that begins at line ${at + 1} doesn't end`)
      const content = lines.slice(at + 1, end).map(one => one.slice(Math.min(indent.length, one.search(/\S|$/))))
      page.blocks.push({ line: at + 2, text: content.join('\n'), language, notes, isNext })
      at = end
      isNext = true
      notes = []
      continue
    }
    const note = NOTE.exec(line)
    if (note) {
      notes.push(note[1]!)
      continue
    }
    notes = []
    if (line.trim() === '') continue
    isNext = false
    const heading = HEADING.exec(line)
    if (heading) page.anchors.add(anchorOf(heading[1]!, page.anchors))
    page.spans.push(...spansIn(line).map(text => ({ line: at + 1, text })))
    const [, first, ...cells] = line.startsWith('|') ? line.split('|') : []
    if (first !== undefined) page.rows.push([spansIn(first)[0] ?? '', ...cells.flatMap(spansIn)])
    const prose = line.replaceAll(/`[^`]*`/g, '')
    const links = [...prose.matchAll(/\]\(([^)\s]+)\)|(?:src|srcset|href)="([^"]+)"/g)]
    page.links.push(...links.map(([, link, attribute]) => ({ line: at + 1, text: link ?? attribute! })))
  }
  return page
}

const spansIn = (text: string) => [...text.matchAll(/`([^`]+)`/g)].map(([, span]) => span!)

/** As GitHub makes them. */
function anchorOf(heading: string, taken: Set<string>): string {
  const plain = heading
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(' ', '-')
  let anchor = plain
  for (let nth = 1; taken.has(anchor); nth++) anchor = `${plain}-${nth}`
  return anchor
}
