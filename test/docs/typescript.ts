// TypeScript that pages show: whole programs compile, and excerpts are in the source as shown.
import { execFile } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { checkOut } from './checkout.ts'
import { type Block, type Page, ROOT } from './pages.ts'

const blocksOf = ({ path, blocks }: Page) =>
  blocks.filter(({ language }) => language === 'ts').map(block => ({ path, ...block }))

const sourceOf = ({ notes }: Block) =>
  notes.map(note => /^from: (\S+)$/.exec(note)?.[1]).find(name => name !== undefined) ?? null

/** Excerpts that aren't in the file which the note above them names; a block without a note is a program. */
export function wrongExcerpts(pages: readonly Page[]): string[] {
  return pages.flatMap(blocksOf).flatMap(block => {
    const source = sourceOf(block)
    if (source === null) return []
    const isThere = readFileSync(join(ROOT, source), 'utf8').includes(`${block.text}\n`)
    return isThere ? [] : [`${block.path}:${block.line}: this isn't in ${source} as shown`]
  })
}

/** What the compiler says of the programs, as if each were a file in the repository's root. */
export async function wrongPrograms(pages: readonly Page[]): Promise<string> {
  const programs = pages.flatMap(blocksOf).filter(block => sourceOf(block) === null)
  if (programs.length === 0) return ''
  const { folder, remove } = await checkOut()
  try {
    const named = programs.map(({ path, line, text }) => {
      const name = `${path.replaceAll(/\W/g, '-')}-line-${line}.ts`
      // Blank lines before it, so that the compiler names the page's own lines.
      writeFileSync(join(folder, name), `${'\n'.repeat(line - 1)}${text}\nexport {}\n`)
      return name
    })
    // As if the package were installed.
    const compilerOptions = {
      paths: { holdfast: ['./src/client/index.ts'], 'holdfast-client': ['./src/client/index.ts'] },
    }
    const config = { extends: './tsconfig.json', compilerOptions, include: named }
    writeFileSync(join(folder, 'tsconfig.docs.json'), JSON.stringify(config))
    return await compile(folder)
  } finally {
    remove()
  }
}

function compile(cwd: string): Promise<string> {
  return new Promise(resolve => {
    const args = ['node_modules/.bin/tsc', '-p', 'tsconfig.docs.json', '--pretty', 'false']
    execFile(process.execPath, args, { cwd }, (error, stdout, stderr) => resolve(error ? stdout + stderr : ''))
  })
}
