// Questions about a request: wait longer, try again, cancel, remove.
import { type Component, createResource, createSignal, Match, Show, Switch } from 'solid-js'
import type { Holdfast } from '../../../../src/client/index.ts'
import type { Waiting } from '../../../../src/client/status.ts'
import { minute, serverNow, when } from '../../data/clock.ts'
import { carryOut, reasonOf, tell } from '../../data/doing.ts'
import { requestName } from '../../data/requests.ts'
import { server } from '../../data/session.ts'
import { TimeField } from '../../parts/fields.tsx'
import { Question, Refusal, Sheet } from '../../parts/sheet.tsx'
import { words } from '../../words.ts'

const PAGE = words.queue
const HOUR_MS = 3_600_000

export interface Asked {
  kind: 'wait' | 'retry' | 'cancel' | 'remove'
  row: Waiting
}

export const Sheets: Component<{ asked: Asked; close: () => void }> = props => (
  <Switch>
    <Match when={props.asked.kind === 'wait' || props.asked.kind === 'retry'}>
      <Until row={props.asked.row} isAgain={props.asked.kind === 'retry'} close={props.close} />
    </Match>
    <Match when={true}>
      <Ending row={props.asked.row} close={props.close} />
    </Match>
  </Switch>
)

/** Until when it may wait: at once with a way back. */
const Until: Component<{ row: Waiting; isAgain: boolean; close: () => void }> = props => {
  const given = props.row.gives_up === null ? null : Date.parse(props.row.gives_up)
  const from = () => Math.max(given ?? 0, serverNow())
  const [until, setUntil] = createSignal<number | null>(from() + 24 * HOUR_MS)
  const [isBusy, setIsBusy] = createSignal(false)
  const [refusal, setRefusal] = createSignal<string | null>(null)
  const name = () => requestName(props.row)
  const act = async (event: Event) => {
    event.preventDefault()
    const at = until()
    if (at === null || at <= serverNow() || isBusy()) return
    setIsBusy(true)
    const { uuid, gives_up } = props.row
    const iso = new Date(at).toISOString()
    setRefusal(null)
    try {
      const { allocations } = server()
      await (props.isAgain ? allocations.retry(uuid, iso) : allocations.waitUntil(uuid, iso))
    } catch (error) {
      setRefusal(reasonOf(error))
      return
    } finally {
      setIsBusy(false)
    }
    props.close()
    const said = props.isAgain ? PAGE.again(name()) : PAGE.longer(name(), when(at))
    const undo = (holdfast: Holdfast) => holdfast.allocations.waitUntil(uuid, gives_up!)
    // It is done already: only the way back is left to offer.
    await carryOut({ said, act: () => Promise.resolve(), ...(!props.isAgain && gives_up !== null && { undo }) })
  }
  return (
    <Sheet title={props.isAgain ? PAGE.againTitle(name()) : PAGE.longerTitle(name())} at="middle" close={props.close}>
      <form class="until" onSubmit={event => void act(event)}>
        <p class="dim">{props.isAgain ? PAGE.againWhy : PAGE.longerWhy}</p>
        <TimeField
          label={PAGE.waitUntil}
          value={until()}
          onValue={setUntil}
          onClear={() => setUntil(null)}
          isRequired
          check={at => (at <= minute() ? PAGE.passed : null)}
        />
        <div class="tools">
          {PAGE.waitSteps.map(([text, hours]) => (
            <button type="button" class="btn small" onClick={() => setUntil(from() + hours * HOUR_MS)}>
              {text}
            </button>
          ))}
        </div>
        <Refusal words={refusal()} />
        <div class="tools end">
          <button type="button" class="btn quiet" onClick={() => props.close()}>
            {words.doing.cancel}
          </button>
          <button type="submit" class="btn primary" disabled={until() === null || isBusy()}>
            {props.isAgain ? PAGE.againVerb : PAGE.waitVerb}
          </button>
        </div>
      </form>
    </Sheet>
  )
}

/** It can't be taken back: a question first, with what ends with it. */
const Ending: Component<{ row: Waiting; close: () => void }> = props => {
  const isWaiting = props.row.state === 'waiting'
  const name = () => requestName(props.row)
  const [touched] = createResource(
    () => props.row.uuid,
    uuid =>
      server()
        .allocations.explainDeletion(uuid)
        .catch(() => null),
  )
  const others = () => (touched()?.objects ?? []).filter(({ id }) => id !== props.row.uuid)
  /** It may have got a machine while this was asked: to end it then would take that away. */
  const requireSame = async () => {
    const { state, node_name, node_uuid } = await server().allocations.show(props.row.uuid)
    if (state === 'active') throw new Error(PAGE.servedMeanwhile(name(), node_name ?? node_uuid ?? ''))
    if (!isWaiting && state !== 'error') throw new Error(PAGE.triedMeanwhile(name()))
  }
  const place = () => {
    const { place: at, of } = props.row
    return at === null ? null : PAGE.placeOf(at, of)
  }
  return (
    <Question
      title={isWaiting ? PAGE.cancelTitle(name()) : PAGE.removeTitle(name())}
      verb={isWaiting ? PAGE.cancelVerb : PAGE.removeVerb}
      safe={PAGE.keepIt}
      isDangerous
      act={async () => {
        await requireSame()
        await server().allocations.delete(props.row.uuid)
        tell({ text: isWaiting ? PAGE.cancelled(name()) : PAGE.removed(name()), kind: 'done', action: null })
        return true
      }}
      close={props.close}
    >
      <p>{isWaiting ? PAGE.cancelWhy(props.row.who ?? words.someone, place()) : PAGE.removeWhy}</p>
      <Show when={others().length > 0}>
        <p>{PAGE.cancelToo(others().map(({ kind, id }) => `${kind} ${id}`))}</p>
      </Show>
    </Question>
  )
}
