// Links between pages, and to files beside them.
import { existsSync } from 'node:fs'
import { join, normalize } from 'node:path'
import { type Page, ROOT } from './pages.ts'

export function wrongLinks(pages: readonly Page[]): string[] {
  const anchors = new Map(pages.map(page => [page.path, page.anchors]))
  return pages.flatMap(({ path, links }) =>
    links.flatMap(({ line, text }) => {
      const wrong = wrongLink(path, text, anchors)
      return wrong === null ? [] : [`${path}:${line}: ${text}: ${wrong}`]
    }),
  )
}

function wrongLink(from: string, link: string, anchors: Map<string, Set<string>>): string | null {
  if (/^(https?|mailto):/.test(link)) return null
  const [file = '', anchor] = link.split('#')
  const target = file === '' ? from : normalize(join(from, '..', file))
  if (!anchors.has(target) && !existsSync(join(ROOT, target))) return 'there is no such file'
  if (anchor === undefined || anchors.get(target)?.has(anchor)) return null
  return 'there is no such heading'
}
