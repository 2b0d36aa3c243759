// A tile: a machine, or a host with how full it is.
import { type Component, createMemo, Show } from 'solid-js'
import { minute, when } from '../../data/clock.ts'
import { fleet } from '../../data/fleet.ts'
import { machineHref } from '../../data/machine-href.ts'
import { shapeOf } from '../../parts/glyph.tsx'
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

/** So many letters fit into any tile. What may be longer is cut, which costs time in each frame. */
const [NAME_FITS, LINE_FITS] = [3, 5]

/** `Fri`, or `Fri 20 Nov` if it is further away: a tile has no room for the hour. */
const dayShown = (at: string) => when(at).replace(/ \d\d:\d\d.*$/, '')
/** An end of today or tomorrow is told by the hour. */
const tillShown = (at: string) => (/^(today|tomorrow) /.test(when(at)) ? when(at).replace(/^\w+ /, '') : dayShown(at))

/** What a tile shows of a machine. */
function faceOf(machine: Machine, isWall: boolean) {
  const { state, until, kind, maintenance } = machine
  const isHad = state === 'taken' || state === 'held'
  const leftMs = isHad && kind !== null && until !== null ? Math.max(0, Date.parse(until) - minute()) : null
  const foot = leftMs === null ? null : footOf(leftMs)
  const isMine = machine.mine && !isWall
  const line = tileLine(machine, isWall, tillShown)
  return {
    tile: `tile t-${state}${isMine ? ' mine' : ''}`,
    shape: state === 'taken' ? null : shapeOf(state),
    /** Taken and in maintenance: taken, with the bars beside. */
    isUpkeep: maintenance && state !== 'maintenance',
    left: !isHad ? '' : leftMs === null ? '∞' : leftShort(leftMs),
    line,
    second: `w${line.length > LINE_FITS ? ' cut' : ''}${isMine ? ' you' : ''}`,
    foot: foot === null ? 'none' : `d f-${state}`,
    width: `${foot ?? 0}%`,
    sentence: sentenceOf(machine, when),
    href: machineHref(machine),
  }
}

const GONE: ReturnType<typeof faceOf> = {
  tile: 'tile t-gone',
  shape: null,
  isUpkeep: false,
  left: '',
  line: '',
  second: '',
  foot: 'none',
  width: '0',
  sentence: words.now.gone,
  href: '/ui/now',
}

/** Every part is always there, and all follow one effect: hundreds of tiles come and go while the page is scrolled. */
export const MachineTile: Component<TileProps> = props => {
  const machine = () => fleet.machine(props.id)
  const face = createMemo(() => {
    const found = machine()
    return found ? faceOf(found, props.isWall) : GONE
  })
  const called = () => {
    const found = machine()
    return found ? props.called(found) : words.now.gone
  }
  return (
    <a class={face().tile} href={face().href} data-id={props.id} tabindex={props.isCurrent ? 0 : -1}>
      <span class="vh" textContent={face().sentence} />
      <span class={called().length > NAME_FITS ? 'n cut' : 'n'} aria-hidden="true" textContent={called()} />
      <span class="u" aria-hidden="true">
        <i class={face().shape === null ? 'none' : `g s-${face().shape} g-${face().shape}`} />
        <i class={face().isUpkeep ? 'g s-maintenance g-maintenance' : 'none'} />
        <span textContent={face().left} />
      </span>
      <span class={face().line === '' ? 'none' : face().second} aria-hidden="true" textContent={face().line} />
      <i class={face().foot} style={{ width: face().width }} />
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
