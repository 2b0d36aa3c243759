// What I have and until when; what I wait for and have booked; and where else it can be seen.
import './mine.css'
import { type Component, createMemo, Show } from 'solid-js'
import { minute, wallTime, zone } from '../../data/clock.ts'
import { fleet } from '../../data/fleet.ts'
import { isLive } from '../../data/live.ts'
import { openGet } from '../../parts/booking/open.ts'
import { Empty, Patience } from '../../parts/empty.tsx'
import { Icon } from '../../parts/icon.tsx'
import { words } from '../../words.ts'
import { Booked, Held, Waits } from './beside.tsx'
import { Elsewhere } from './elsewhere.tsx'
import { byEnd, endingSoon } from './groups.ts'
import { Hero } from './hero.tsx'
import { Table } from './table.tsx'

const Mine: Component = () => {
  const mine = createMemo(() => fleet.machines().filter(({ mine: isMine }) => isMine))
  const had = createMemo(() => mine().filter(({ kind }) => kind !== 'hold'))
  const held = createMemo(() => mine().filter(({ kind }) => kind === 'hold'))
  const sentence = () => {
    const { count, before } = endingSoon(had(), { now: minute(), zone: zone() })
    return count === 0 ? words.mine.have(had().length) : words.mine.haveEnding(had().length, count, wallTime(before))
  }
  const next = () => byEnd(had()).find(({ until }) => until !== null)
  return (
    <div class="page p-mine">
      <Show when={fleet.isLoaded()} fallback={<Patience />}>
        <div class="mm">
          <Show when={had().length > 0} fallback={<Nothing />}>
            <header class="mh">
              <h1>{sentence()}</h1>
              <span class="grow" />
              <Get />
            </header>
            <Show when={next()}>{machine => <Hero machine={machine()} />}</Show>
            <Table machines={had()} />
          </Show>
        </div>
        <aside>
          <Waits />
          <Booked />
          <Held machines={held()} />
          <Elsewhere />
        </aside>
      </Show>
    </div>
  )
}

const Nothing: Component = () => (
  <>
    <h1 class="vh">{words.shell.mine}</h1>
    <Empty title={words.mine.nothing} text={words.mine.getHelp}>
      <div class="tools">
        <Get />
      </div>
    </Empty>
  </>
)

const Get: Component = () => (
  <Show when={fleet.me().may.includes('allocate')}>
    <button type="button" class="btn" disabled={!isLive()} onClick={() => openGet()}>
      <Icon name="plus" />
      {words.mine.get}
    </button>
  </Show>
)

export default Mine
