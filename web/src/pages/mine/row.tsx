// A machine that one has: for what, how long still, and what can be done.
import { useNavigate } from '@solidjs/router'
import { type Component, createMemo, For, Show } from 'solid-js'
import type { Machine } from '../../../../src/client/status.ts'
import { left, minute, utc, when, zone } from '../../data/clock.ts'
import { machineHref, machinePath } from '../../data/machine-href.ts'
import { Icon } from '../../parts/icon.tsx'
import { Menu, type MenuItem } from '../../parts/menu.tsx'
import { StateWord } from '../../parts/glyph.tsx'
import { actionOf, actionsOf } from '../../parts/verbs/actions.ts'
import { words } from '../../words.ts'
import { commandLine, copy, sshLine } from './copying.ts'
import { axisOf, placeOn } from './groups.ts'

interface RowProps {
  machine: Machine
  index: number
  isGone: boolean
  isSelected: boolean
  toggle: (isOn: boolean) => void
}

export const Row: Component<RowProps> = props => {
  const name = () => props.machine.name ?? props.machine.uuid
  const what = () => props.machine.what ?? name()
  const extend = () => actionOf('extend', props.machine)
  return (
    <tr classList={{ gone: props.isGone, chosen: props.isSelected }} aria-rowindex={props.index}>
      <td class="ck">
        <input
          type="checkbox"
          aria-label={words.mine.select(what())}
          checked={props.isSelected}
          onChange={({ target }) => props.toggle(target.checked)}
        />
      </td>
      <td class="wh cut">
        <b class="med" title={props.machine.purpose ?? undefined}>
          {what()}
        </b>
        <Show when={props.machine.state !== 'taken'}>
          {' '}
          <StateWord state={props.machine.state} verb={props.machine.verb} />
        </Show>
      </td>
      <td class="mono mn cut">
        <a data-uuid={props.machine.uuid} href={machineHref(props.machine)}>
          {name()}
        </a>
      </td>
      <td class="dim cl cut">{props.machine.class}</td>
      <td class="tl">
        <Bar until={props.machine.until} />
      </td>
      <td class="lf">
        <Show
          when={!props.isGone && props.machine.until}
          fallback={<span class="dimmer">{props.isGone ? words.mine.gone : words.mine.noEnd}</span>}
        >
          {until => (
            <>
              <b>{left(until())}</b>
              <span class="dimmer" title={utc(until())}>
                {when(until())}
              </span>
            </>
          )}
        </Show>
      </td>
      <td class="ac">
        <div>
          <Show when={!props.isGone && extend()}>
            {action => (
              <button
                type="button"
                class="btn small"
                aria-label={words.mine.extendOf(what())}
                disabled={action().whyNot !== null}
                onClick={() => action().act()}
              >
                {action().text}
              </button>
            )}
          </Show>
          <button
            type="button"
            class="btn small quiet"
            aria-label={words.mine.copySsh(sshLine(props.machine))}
            onClick={() => void copy(sshLine(props.machine))}
          >
            <Icon name="copy" />
            {words.mine.ssh}
          </button>
          <Show when={!props.isGone}>
            <More machine={props.machine} what={what()} />
          </Show>
        </div>
      </td>
    </tr>
  )
}

const More: Component<{ machine: Machine; what: string }> = props => {
  const navigate = useNavigate()
  const items = createMemo((): MenuItem[] => [
    ...actionsOf(props.machine).filter(({ verb }) => verb !== 'extend'),
    { text: words.mine.copyCommand, act: () => void copy(commandLine(props.machine)) },
    {
      text: words.mine.open,
      act: () => navigate(machinePath(props.machine)),
    },
  ])
  return (
    <Menu label={words.mine.moreOf(props.what)} class="btn small quiet" face={<Icon name="more" />} items={items()} />
  )
}

const Bar: Component<{ until: string | null }> = props => {
  const axis = createMemo(() => axisOf({ now: minute(), zone: zone() }))
  const width = () => (props.until === null ? 100 : placeOn(axis(), Date.parse(props.until)))
  const isOpen = () => props.until === null || Date.parse(props.until) > axis().to
  return (
    <span class="tb" aria-hidden="true">
      <For each={axis().days}>{({ at }) => <s style={{ left: `${placeOn(axis(), at)}%` }} />}</For>
      <i classList={{ open: isOpen() }} style={{ width: `${width()}%` }} />
    </span>
  )
}
