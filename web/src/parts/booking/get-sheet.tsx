// Get a machine: what is wanted, for how long, and what would come of it, while it is composed. Free machines are had at
// once; else one waits in the queue, or learns what to leave out.
import { useNavigate } from '@solidjs/router'
import { type Component, createEffect, createMemo, createSignal, on, onCleanup, Show } from 'solid-js'
import type { Holdfast } from '../../../../src/client/index.ts'
import { browserTimers, createAsking } from '../../data/asking.ts'
import { HOUR_MS } from '../../data/booking-draft.ts'
import { serverNow } from '../../data/clock.ts'
import { reasonOf, tell } from '../../data/doing.ts'
import { fleet } from '../../data/fleet.ts'
import { getMachines, uuidsForWish } from '../../data/get.ts'
import { type Outlook, outlookOf, requestOf, type Wanted } from '../../data/get-rules.ts'
import { isLive } from '../../data/live.ts'
import { server } from '../../data/session.ts'
import { words } from '../../words.ts'
import { TraitsField } from '../chips.tsx'
import { CheckField, CountField, SpanField, TextField } from '../fields.tsx'
import { Refusal, Sheet } from '../sheet.tsx'
import { ClassField } from './class-field.tsx'
import { closeGet, type GetWanted, getAsked } from './open.ts'
import { OutlookBox } from './outlook.tsx'
import './booking.css'

const CALM_MS = 120
const AGAIN_MS = 500
const LENGTH_MS = 4 * HOUR_MS
const WAIT_MS = 24 * HOUR_MS
const COUNT_MAX = 50
const NOTE_MAX = 300

const GetSheet: Component = () => <Show when={getAsked()}>{asked => <Open asked={asked()} />}</Show>
export default GetSheet

/** The class with the most free machines, unless one is asked for. */
function firstClass(): string {
  const counts = new Map<string, number>()
  for (const { class: name, state } of fleet.machines())
    if (name !== null && state === 'free') counts.set(name, (counts.get(name) ?? 0) + 1)
  return [...counts].sort(([, a], [, b]) => b - a)[0]?.[0] ?? fleet.machines()[0]?.class ?? ''
}

function wantedFrom({ machines = [], ...asked }: GetWanted): Wanted {
  const [first] = machines
  const kind = asked.class ?? (first === undefined ? undefined : (fleet.machine(first)?.class ?? undefined))
  return {
    class: kind ?? firstClass(),
    traits: asked.traits ?? [],
    count: Math.max(1, machines.length),
    lengthMs: LENGTH_MS,
    waitMs: WAIT_MS,
    name: '',
    note: '',
    machines,
  }
}

const Open: Component<{ asked: GetWanted }> = props => {
  const navigate = useNavigate()
  const [wanted, setWanted] = createSignal(wantedFrom(props.asked))
  let uuidAt = uuidsForWish()
  // Another wish is another request.
  createEffect(on(wanted, () => void (uuidAt = uuidsForWish()), { defer: true }))
  const { outlook, refusal, isAsking } = useOutlook(wanted)
  const [isBusy, setIsBusy] = createSignal(false)
  const [failure, setFailure] = createSignal<string | null>(null)
  const change = (some: Partial<Wanted>) => {
    setFailure(null)
    setWanted(before => ({ ...before, ...(some.class !== undefined && { traits: [], machines: [] }), ...some }))
  }
  const submit = async (event: SubmitEvent) => {
    event.preventDefault()
    if (isBusy() || wanted().class === '') return
    setIsBusy(true)
    setFailure(null)
    try {
      const made = await getMachines(wanted(), outlook()?.start ?? null, uuidAt)
      const show = { text: words.booking.show, act: () => navigate('/mine') }
      tell({ text: words.get.asked(made, wanted().class), kind: 'done', action: show })
      closeGet()
    } catch (error) {
      setFailure(reasonOf(error))
    } finally {
      setIsBusy(false)
    }
  }
  return (
    <Sheet title={words.get.title} close={closeGet}>
      <form class="get" onSubmit={event => void submit(event)}>
        <Fields wanted={wanted()} change={change} />
        <OutlookBox outlook={outlook()} wanted={wanted()} isAsking={isAsking()} relax={setWanted} />
        <Refusal words={failure() ?? refusal()} />
        <div class="tools end">
          <button type="button" class="btn quiet" onClick={closeGet}>
            {words.doing.cancel}
          </button>
          <button
            class="btn primary"
            disabled={
              isBusy() || !isLive() || wanted().class === '' || outlook()?.when === 'never' || refusal() !== null
            }
            title={isLive() ? undefined : words.doing.offline}
          >
            {outlook()?.when === 'later' ? words.get.wait : words.get.get(wanted().count)}
          </button>
        </div>
      </form>
    </Sheet>
  )
}

const Fields: Component<{ wanted: Wanted; change: (some: Partial<Wanted>) => void }> = props => {
  const [lengthMs, setLengthMs] = createSignal(LENGTH_MS)
  const [waitMs, setWaitMs] = createSignal(WAIT_MS)
  const traits = createMemo(() => {
    const found = new Set<string>()
    for (const machine of fleet.machines())
      if (machine.class === props.wanted.class) for (const trait of fleet.traitsOf(machine)) found.add(trait)
    return found.size > 0 ? [...found].sort() : fleet.traits()
  })
  return (
    <>
      <div class="get-pair">
        <ClassField isBookable={false} value={props.wanted.class} onValue={kind => props.change({ class: kind })} />
        <CountField
          label={words.booking.count}
          value={props.wanted.count}
          max={COUNT_MAX}
          onValue={count => props.change({ count })}
        />
      </div>
      <div class="get-traits">
        <span class="dim">{words.get.traits}</span>
        <TraitsField
          value={props.wanted.traits}
          options={traits()}
          onValue={chosen => props.change({ traits: chosen })}
        />
      </div>
      <Show when={props.wanted.machines.length > 0}>
        <p class="dim">{words.get.onlyThese(props.wanted.machines.map(uuid => fleet.machine(uuid)?.name ?? uuid))}</p>
      </Show>
      <div class="get-pair">
        <SpanField
          label={words.booking.length}
          value={props.wanted.lengthMs ?? lengthMs()}
          isDisabled={props.wanted.lengthMs === null}
          onValue={ms => props.change({ lengthMs: setLengthMs(ms) })}
        />
        <SpanField
          label={words.get.waitFor}
          value={props.wanted.waitMs ?? waitMs()}
          isDisabled={props.wanted.waitMs === null}
          onValue={ms => props.change({ waitMs: setWaitMs(ms) })}
        />
        <CheckField
          label={words.get.noEnd}
          value={props.wanted.lengthMs === null}
          onValue={isEndless => props.change({ lengthMs: isEndless ? null : lengthMs() })}
        />
        <CheckField
          label={words.get.waits}
          value={props.wanted.waitMs !== null}
          onValue={isPatient => props.change({ waitMs: isPatient ? waitMs() : null })}
        />
      </div>
      <TextField
        label={words.get.name}
        value={props.wanted.name}
        placeholder={words.get.nameExample}
        onValue={name => props.change({ name })}
      />
      <TextField
        label={words.get.note}
        value={props.wanted.note}
        max={NOTE_MAX}
        lines={2}
        onValue={note => props.change({ note })}
      />
    </>
  )
}

/** Who waits has it for as long as was asked for, from its start on: so the queue is asked about the latest start. */
async function forecastOf({ allocations }: Holdfast, wanted: Wanted): Promise<Outlook> {
  const now = serverNow()
  const soon = await allocations.forecast(requestOf(wanted, now))
  if (soon.fits || wanted.waitMs === null) return outlookOf(soon, wanted)
  const late = await allocations.forecast(requestOf(wanted, now, now + wanted.waitMs))
  return outlookOf({ ...soon, queue: late.queue ?? null }, wanted)
}

/** What would come of it, asked again when the fleet or the queue changes. */
function useOutlook(wanted: () => Wanted) {
  const [outlook, setOutlook] = createSignal<Outlook | null>(null)
  const [refusal, setRefusal] = createSignal<string | null>(null)
  const [isAsking, setIsAsking] = createSignal(false)
  const asking = createAsking<Wanted, Outlook>({
    ask: (question, signal) => forecastOf(server().within(signal), question),
    answered: found => {
      setRefusal(null)
      setOutlook(found)
    },
    failed: error => {
      setOutlook(null)
      setRefusal(reasonOf(error))
    },
    asking: setIsAsking,
    calmMs: CALM_MS,
    againMs: AGAIN_MS,
    timers: browserTimers,
  })
  /** Names and notes change nothing. */
  const question = createMemo(wanted, undefined, {
    equals: (a, b) => JSON.stringify({ ...a, name: '', note: '' }) === JSON.stringify({ ...b, name: '', note: '' }),
  })
  createEffect(
    on(question, now => {
      if (now.class === '') {
        asking.drop()
        setOutlook(null)
      } else asking.change(now)
    }),
  )
  createEffect(on([fleet.version, fleet.waiting], () => asking.again(), { defer: true }))
  onCleanup(() => asking.drop())
  return { outlook, refusal, isAsking }
}
