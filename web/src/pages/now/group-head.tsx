// The head of a group of tiles: its name, what is in it, how many are free.
import { type Component, Show } from 'solid-js'
import { words } from '../../words.ts'
import type { Group, Grouping } from './groups.ts'
import type { GroupFacts } from './survey.ts'

export const GroupHead: Component<{ group: Group; by: Grouping; facts: GroupFacts | undefined }> = props => {
  const free = () => props.facts?.free ?? 0
  const isHosts = () => props.group.kind === 'hosts'
  const detail = () => (props.by === 'rack' && !isHosts() ? props.facts?.class : null)
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
