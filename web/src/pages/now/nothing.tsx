// No machines, or none that match: what to do about it.
import { type Component, For, Show } from 'solid-js'
import { fleet } from '../../data/fleet.ts'
import { CopyLine } from '../../parts/copy.tsx'
import { Empty } from '../../parts/empty.tsx'
import { openGet } from '../../parts/booking/open.ts'
import { words } from '../../words.ts'
import { FILTERS } from '../../data/filter.ts'
import type { NowView } from './view.ts'

export const NoFleet: Component<{ add: () => void }> = props => (
  <Show
    when={fleet.me().may.includes('create node')}
    fallback={
      <Empty title={words.now.emptyMember} text={words.now.emptyMemberText}>
        <div class="tools">
          <Show when={fleet.me().may.includes('allocate')}>
            <button type="button" class="btn primary" onClick={() => openGet()}>
              {words.now.getOne}
            </button>
          </Show>
          <a class="btn" href="/ui/calendar">
            {words.shell.calendar}
          </a>
        </div>
      </Empty>
    }
  >
    <Empty title={words.now.emptyTitle} text={words.now.emptyText}>
      <CopyLine text={words.now.demo} />
      <CopyLine text={words.now.import} />
      <div class="tools">
        <button type="button" class="btn primary" onClick={() => props.add()}>
          {words.now.add}
        </button>
      </div>
    </Empty>
  </Show>
)

export const NoMatch: Component<{ view: NowView }> = props => {
  const set = () => FILTERS.filter(name => props.view.filters()[name] !== '')
  const said = () =>
    set()
      .map(name => `${words.now.fields[name]} ${props.view.filters()[name]}`)
      .join(', ')
  const isWrong = (name: (typeof FILTERS)[number]) => props.view.matcher().wrong.includes(name)
  const byGain = () =>
    set().toSorted((a, b) => (props.view.survey().without.get(b) ?? 0) - (props.view.survey().without.get(a) ?? 0))
  return (
    <Empty title={words.now.noMatch(fleet.machines().length)} text={said()}>
      <For each={set().filter(isWrong)}>
        {name => <p class="wrong">{words.now.notAFilter(props.view.filters()[name])}</p>}
      </For>
      <div class="tools">
        <For each={byGain()}>
          {name => (
            <button type="button" class="btn" onClick={() => props.view.set({ [name]: null })}>
              {words.now.leaveOut(words.now.fields[name])}{' '}
              <span class="dimmer">{words.now.wouldMatch(props.view.survey().without.get(name) ?? 0)}</span>
            </button>
          )}
        </For>
        <button type="button" class="btn quiet" onClick={() => props.view.clear()}>
          {words.now.clear}
        </button>
      </div>
    </Empty>
  )
}
