// Who has it, until when, and what to do about it.
import { type Component, createMemo, For, Show } from 'solid-js'
import type { Machine } from '../../../../src/client/status.ts'
import { left, when } from '../../data/clock.ts'
import { isLive } from '../../data/live.ts'
import { openBooking } from '../../parts/booking/open.ts'
import { StateWord } from '../../parts/glyph.tsx'
import { Icon } from '../../parts/icon.tsx'
import { Menu } from '../../parts/menu.tsx'
import { Rich } from '../../parts/rich.tsx'
import { type Action, actionOf, actionsOf } from '../../parts/verbs/actions.ts'
import { words } from '../../words.ts'

export const Head: Component<{ machine: Machine }> = props => (
  <header class="hd">
    <div class="grow">
      <h1>
        {props.machine.name ?? props.machine.uuid} <StateWord state={props.machine.state} verb={props.machine.verb} />
      </h1>
      <div class="say">
        <p class="sent">
          <Rich text={sentenceOf(props.machine)} />
          <Show when={props.machine.maintenance && props.machine.state !== 'maintenance'}>
            {' '}
            {words.machine.alsoMaintenance(props.machine.reason)}
          </Show>
        </p>
        <Notes machine={props.machine} />
      </div>
    </div>
    <Countdown machine={props.machine} />
    <Actions machine={props.machine} />
  </header>
)

function sentenceOf(machine: Machine): string {
  const { state, who, project, what, until, next, mine, provision, error, reason, verb } = machine
  const [name, whose] = mine ? [words.machine.you, null] : [who ?? words.someone, project]
  const shownUntil = until === null ? null : when(until)
  if (state === 'broken') return words.machine.broke(provision, error)
  if (state === 'taken') return words.machine.has(name, whose, what, shownUntil)
  if (state === 'held' && shownUntil !== null) return words.machine.holds(mine ? words.you : name, whose, shownUntil)
  if (state === 'maintenance' || state === 'retired') return words.machine.out(reason)
  if (state === 'working') return words.machine.working(verb ?? provision)
  if (state === 'setup') return words.machine.setup(provision)
  return next === null ? words.machine.free : words.machine.freeUntil(when(next.start), next.who, next.name)
}

/** What people wrote: on the machine, and on what has it. */
const Notes: Component<{ machine: Machine }> = props => {
  const noting = () => actionOf('note', props.machine)
  const purpose = () => actionOf('purpose', props.machine)
  return (
    <p class="notes">
      <Show when={props.machine.purpose}>
        {text => (
          <span class="note">
            <Icon name="note" /> {text()}
            <Change action={purpose()} />
          </span>
        )}
      </Show>
      <Show when={props.machine.note}>
        {text => (
          <span class="note">
            <Icon name="note" /> {text()}
            <Change action={noting()} />
          </span>
        )}
      </Show>
      <Show when={props.machine.note === null && noting()}>
        {action => (
          <button
            type="button"
            class="btn small quiet"
            disabled={action().whyNot !== null}
            onClick={() => action().act()}
          >
            <Icon name="note" />
            {words.machine.writeNote}
          </button>
        )}
      </Show>
    </p>
  )
}

const Change: Component<{ action: Action | undefined }> = props => (
  <Show when={props.action}>
    {action => (
      <button
        type="button"
        class="btn small quiet"
        aria-label={`${words.machine.change}: ${action().text}`}
        disabled={action().whyNot !== null}
        onClick={() => action().act()}
      >
        {words.machine.change}
      </button>
    )}
  </Show>
)

const Countdown: Component<{ machine: Machine }> = props => {
  const next = () => {
    const booking = props.machine.next
    return booking === null ? null : words.machine.bookedAt(booking.name, when(booking.start))
  }
  return (
    <Show
      when={props.machine.until}
      fallback={
        <Show when={props.machine.state === 'booked' && props.machine.next}>
          {booking => (
            <div class="left">
              <p class="cd">{left(booking().start)}</p>
              <p class="dimmer">{words.machine.untilBooked}</p>
            </div>
          )}
        </Show>
      }
    >
      {until => (
        <div class="left">
          <p class="cd">{left(until())}</p>
          <p class="dimmer">{words.machine.leftThen(next())}</p>
        </div>
      )}
    </Show>
  )
}

/** In this order, the first few are buttons; the others are in the menu. */
const FIRST = [
  'end maintenance',
  'deploy',
  'unrescue',
  'provide',
  'manage',
  'book',
  'power on',
  'extend',
  'undeploy',
  'release',
  'kick',
]
const BUTTONS_MAX = 5
/** What is done next, as a rule. */
const LEADING: ReadonlySet<string> = new Set(FIRST.filter(verb => verb !== 'power on'))

/** To manage leads back, unless something failed or is new. */
const isFirst = (verb: string, { state, provision }: Machine) =>
  verb !== 'manage' || state === 'broken' || provision === 'enroll'

const bookingOf = ({ uuid, may }: Machine): Action[] =>
  may.includes('book')
    ? [
        {
          verb: 'book',
          text: words.machine.book,
          isDangerous: false,
          whyNot: isLive() ? null : words.doing.offline,
          can: 1,
          act: () => openBooking({ machines: [uuid] }),
        },
      ]
    : []

const Actions: Component<{ machine: Machine }> = props => {
  const actions = createMemo(() => [...actionsOf(props.machine), ...bookingOf(props.machine)])
  // Releasing undeploys too.
  const isEnding = () => actions().some(({ verb }) => verb === 'release' || verb === 'kick')
  const first = createMemo(() =>
    FIRST.filter(verb => isFirst(verb, props.machine) && (verb !== 'undeploy' || !isEnding()))
      .flatMap(verb => actions().find(action => action.verb === verb) ?? [])
      .slice(0, BUTTONS_MAX),
  )
  const rest = () => actions().filter(action => !first().includes(action))
  return (
    <div class="acts">
      <For each={first()}>
        {(action, place) => (
          <button
            type="button"
            classList={{
              btn: true,
              primary: place() === 0 && !action.isDangerous && LEADING.has(action.verb),
              danger: action.isDangerous,
            }}
            disabled={action.whyNot !== null}
            title={action.whyNot ?? undefined}
            onClick={() => action.act()}
          >
            <Show when={action.verb === 'power on'}>
              <Icon name="power" />
            </Show>
            {action.text}
          </button>
        )}
      </For>
      <Show when={rest().length > 0}>
        <Menu label={words.machine.more} class="btn icon2" face={<Icon name="more" />} items={rest()} />
      </Show>
    </div>
  )
}
