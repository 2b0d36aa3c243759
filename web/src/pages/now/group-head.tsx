// The head of a group of tiles: its name, what is in it, how many are free.
import { type Component, createMemo, Show } from 'solid-js'
import { fleet } from '../../data/fleet.ts'
import { words } from '../../words.ts'
import type { Group, Grouping } from './groups.ts'
import type { Counts } from './survey.ts'

export const GroupHead: Component<{ group: Group; by: Grouping; counts: Counts | undefined }> = props => {
  const free = () => props.counts?.get('free') ?? 0
  const isHosts = () => props.group.kind === 'hosts'
  const detail = createMemo(() => (props.by === 'rack' && !isHosts() ? classIn(props.group) : ''))
  return (
    <header>
      <b class="cut" title={props.group.name ?? undefined}>
        {props.group.name === null ? words.now.noneOf[props.by] : props.group.short}
      </b>
      <span class="cut">{detail()}</span>
      <em classList={{ dimmer: isHosts() || free() === 0 }}>
        <Show when={!isHosts()} fallback={words.now.hosts(props.group.ids.length)}>
          {words.now.free(free())}
        </Show>
      </em>
    </header>
  )
}

/** The class of all machines in it, if it is one. */
export function classIn({ ids }: Group): string {
  const found = new Set<string | null>()
  for (const id of ids) {
    found.add(fleet.machine(id)?.class ?? null)
    if (found.size > 1) return ''
  }
  return [...found][0] ?? ''
}
