// After each commit: no project has more than its limit.
import type { Finding } from '../port.ts'
import type { Inside } from './inside.ts'

export async function withinLimit({ rows }: Pick<Inside, 'rows'>, project: string, most: number): Promise<Finding[]> {
  const [found] = await rows<{ count: number }>(
    `select count(*) as count from allocations where project_id = '${project}' and state in ('active', 'allocating')`,
  )
  if (found!.count <= most) return []
  return [{ check: 'quota', text: `${project} has ${found!.count} nodes, and may have ${most}` }]
}
