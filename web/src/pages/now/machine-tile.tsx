// A tile: a machine, or a host with how full it is.
import { type Component, createMemo, Show } from 'solid-js'
import { minute, when } from '../../data/clock.ts'
import { fleet } from '../../data/fleet.ts'
import { Glyph } from '../../parts/glyph.tsx'
import { words } from '../../words.ts'
import { footOf, fullness, leftShort, sentenceOf, tileLine } from './said.ts'
import type { Machine, StatusHost } from '../../../../src/client/status.ts'

interface TileProps {
  id: string
  /** The short name, given the machine. */
  called: (machine: Machine) => string
  isWall: boolean
  isCurrent: boolean
}

export const machineHref = ({ name, uuid }: Pick<Machine, 'name' | 'uuid'>) =>
  `/ui/machine/${encodeURIComponent(name ?? uuid)}`

/** So many letters fit into any tile. What may be longer is cut, which costs time in each frame. */
const [NAME_FITS, LINE_FITS] = [3, 5]

/** `Fri`, or `Fri 20 Nov` if it is further away: a tile has no room for the hour. */
const dayShown = (at: string) => when(at).replace(/ \d\d:\d\d.*$/, '')
/** An end of today or tomorrow is told by the hour. */
const tillShown = (at: string) => (/^(today|tomorrow) /.test(when(at)) ? when(at).replace(/^\w+ /, '') : dayShown(at))

export const MachineTile: Component<TileProps> = props => {
  const machine = () => fleet.machine(props.id)
  return (
    <Show when={machine()} fallback={<span class="tile t-gone">{words.now.gone}</span>}>
      {found => <Known machine={found()} {...props} />}
    </Show>
  )
}

const Known: Component<TileProps & { machine: Machine }> = props => {
  const state = () => props.machine.state
  const name = () => props.called(props.machine)
  const leftMs = createMemo(() => {
    const { until, kind } = props.machine
    return kind === null || until === null ? null : Math.max(0, Date.parse(until) - minute())
  })
  const isHad = () => state() === 'taken' || state() === 'held'
  const foot = () => {
    const ms = leftMs()
    return isHad() && ms !== null ? footOf(ms) : null
  }
  const line = () => tileLine(props.machine, props.isWall, tillShown)
  /** Taken and in maintenance: taken, with the bars beside. */
  const isUpkeep = () => props.machine.maintenance && state() !== 'maintenance'
  const isMine = () => props.machine.mine && !props.isWall
  return (
    <a
      class={`tile t-${state()}`}
      classList={{ mine: isMine() }}
      href={machineHref(props.machine)}
      data-id={props.id}
      tabindex={props.isCurrent ? 0 : -1}
    >
      <span class="vh">{sentenceOf(props.machine, when)}</span>
      <span class="n" classList={{ cut: name().length > NAME_FITS }} aria-hidden="true">
        {name()}
      </span>
      <span class="u" aria-hidden="true">
        <Show when={state() !== 'taken'}>
          <Glyph state={state()} />
        </Show>
        <Show when={isUpkeep()}>
          <Glyph state="maintenance" />
        </Show>
        <Show when={isHad()}>
          <span>{leftMs() === null ? '∞' : leftShort(leftMs()!)}</span>
        </Show>
      </span>
      <Show when={line() !== ''}>
        <span class="w" classList={{ cut: line().length > LINE_FITS, you: isMine() }} aria-hidden="true">
          {line()}
        </span>
      </Show>
      <Show when={foot() !== null}>
        <i class={`d f-${state()}`} style={{ width: `${foot()}%` }} />
      </Show>
    </a>
  )
}

interface HostProps {
  host: StatusHost | undefined
  prefix: string
  isCurrent: boolean
}

export const HostTile: Component<HostProps> = props => (
  <Show when={props.host}>
    {host => {
      const percent = () => (host().lease ? 100 : fullness(host().used, host().capacity))
      const used = () =>
        Object.entries(host().capacity)
          .map(([name, size]) => words.now.usedOf(name, host().used[name] ?? 0, size))
          .join(', ')
      return (
        <a
          class="tile host"
          href={`/ui/capacity?provider=${host().uuid}`}
          data-id={host().uuid}
          title={used()}
          tabindex={props.isCurrent ? 0 : -1}
        >
          <span class="vh">{words.now.hostIs(host().name, percent(), host().lease?.name ?? null)}</span>
          <i class="lv" style={{ width: `${percent()}%` }} />
          <span class="n cut" aria-hidden="true">
            {host().name.slice(props.prefix.length)}
          </span>
          <span class="u" aria-hidden="true">
            {percent()}%
          </span>
          <Show when={host().lease}>
            {lease => (
              <span class="w cut" aria-hidden="true">
                {lease().name ?? words.now.leased}
              </span>
            )}
          </Show>
        </a>
      )
    }}
  </Show>
)
