// Priorities of projects, for admins: raised and lowered at once, with a way back.
import {
  type Component,
  createEffect,
  createMemo,
  createResource,
  createSignal,
  For,
  on,
  onCleanup,
  Show,
} from 'solid-js'
import { carryOut } from '../../data/doing.ts'
import { fleet } from '../../data/fleet.ts'
import { isLive } from '../../data/live.ts'
import { projectId, type Standings, standings } from '../../data/queue.ts'
import { Icon } from '../../parts/icon.tsx'
import { words } from '../../words.ts'

const PAGE = words.queue
const PRIORITY_MAX = 10
const SHARE_MAX = 1_000
/** Several clicks in a row are one change. */
const SETTLE_MS = 500
const AGAIN_MS = 30_000

interface Row {
  /** null if nobody has set or used anything yet. */
  id: string | null
  name: string
  priority: number
  share: number
  actual: number
  due: number
}

/** Whether the viewer sets priorities. */
export const setsPriorities = () =>
  fleet.me().may.includes('set quota') || fleet.waiting().some(({ may }) => may.includes('priority'))

export const Priorities: Component = () => {
  const [known, { refetch }] = createResource<Standings | null>(() => standings().catch(() => null))
  const timer = setInterval(() => void refetch(), AGAIN_MS)
  onCleanup(() => clearInterval(timer))
  const names = createMemo(() =>
    [...new Set(fleet.waiting().flatMap(({ project }) => project ?? []))].sort().join('\n'),
  )
  createEffect(on(names, () => void refetch(), { defer: true }))
  const rows = createMemo(() => rowsOf(known.latest ?? null, names() === '' ? [] : names().split('\n')))
  const counts = createMemo(() => {
    const has = new Map<string, number>()
    for (const { project } of fleet.machines()) if (project !== null) has.set(project, (has.get(project) ?? 0) + 1)
    const waits = new Map<string, number>()
    for (const { project, state } of fleet.waiting()) {
      if (project !== null && state === 'waiting') waits.set(project, (waits.get(project) ?? 0) + 1)
    }
    return { has, waits }
  })
  const isFair = () => known.latest?.order === 'fair'
  const nameList = createMemo(() => rows().map(({ name }) => name), [], {
    equals: (a, b) => a.join('\n') === b.join('\n'),
  })
  const rowOf = (name: string) => rows().find(row => row.name === name)!
  return (
    <Show when={known.latest}>
      <section class="card sd" aria-labelledby="queue-priorities">
        <header>
          <h2 id="queue-priorities">{PAGE.priorities}</h2>
        </header>
        <p class="dim sp">
          {isFair() ? PAGE.fair : PAGE.fifo} {PAGE.level}
        </p>
        <Show when={rows().length > 0} fallback={<p class="dim sp">{PAGE.noProjects}</p>}>
          <table>
            <thead>
              <tr>
                <th scope="col">{PAGE.project}</th>
                <th scope="col">{PAGE.priority}</th>
                <Show when={isFair()}>
                  <th scope="col">{PAGE.share}</th>
                  <th scope="col" class="right">
                    {PAGE.used}
                  </th>
                </Show>
                <th scope="col" class="right">
                  {PAGE.has}
                </th>
                <th scope="col" class="right">
                  {PAGE.waitsColumn}
                </th>
              </tr>
            </thead>
            <tbody>
              <For each={nameList()}>
                {name => (
                  <tr>
                    <th scope="row">{name}</th>
                    <td>
                      <Stepper
                        value={rowOf(name).priority}
                        min={-PRIORITY_MAX}
                        max={PRIORITY_MAX}
                        lower={PAGE.lower(name)}
                        raise={PAGE.raise(name)}
                        said={value => PAGE.setTo(name, value)}
                        save={async priority => setFor(rowOf(name), { priority }, refetch)}
                      />
                    </td>
                    <Show when={isFair()}>
                      <td>
                        <Stepper
                          value={rowOf(name).share}
                          min={1}
                          max={SHARE_MAX}
                          lower={PAGE.lessShare(name)}
                          raise={PAGE.moreShare(name)}
                          said={value => PAGE.shareIs(name, value)}
                          save={async share => setFor(rowOf(name), { share }, refetch)}
                        />
                      </td>
                      <td class="right">{PAGE.usedOf(rowOf(name).actual, rowOf(name).due)}</td>
                    </Show>
                    <td class="right">{counts().has.get(name) ?? 0}</td>
                    <td classList={{ right: true, dimmer: !counts().waits.has(name) }}>
                      {counts().waits.get(name) ?? 0}
                    </td>
                  </tr>
                )}
              </For>
            </tbody>
          </table>
        </Show>
      </section>
    </Show>
  )
}

function rowsOf(known: Standings | null, waiting: readonly string[]): Row[] {
  const rows: Row[] = (known?.projects ?? []).map(one => ({
    id: one.project_id,
    name: one.project,
    priority: one.priority,
    share: one.share,
    actual: one.actual_percent,
    due: one.due_percent,
  }))
  const missing = waiting.filter(name => !rows.some(row => row.name === name))
  const unknown = missing.map(name => ({ id: null, name, priority: 0, share: 1, actual: 0, due: 0 }))
  return [...rows, ...unknown].toSorted((a, b) => (a.name < b.name ? -1 : 1))
}

/** Sets it, with the value before as the way back. */
async function setFor(
  row: Row,
  wanted: { priority?: number; share?: number },
  refetch: () => unknown,
): Promise<boolean> {
  const { id, name, priority, share } = row
  const before = wanted.priority === undefined ? { share } : { priority }
  const said = wanted.priority === undefined ? PAGE.shareIs(name, wanted.share!) : PAGE.setTo(name, wanted.priority)
  const isDone = await carryOut({
    said,
    act: async holdfast => holdfast.queue.set(id ?? (await projectId(name)), wanted),
    undo: async holdfast => {
      await holdfast.queue.set(id ?? (await projectId(name)), before)
      await refetch()
    },
  })
  await refetch()
  return isDone
}

interface StepperProps {
  value: number
  min: number
  max: number
  lower: string
  raise: string
  said: (value: number) => string
  save: (value: number) => Promise<boolean>
}

/** Steps are shown at once, and sent when the clicks have ended. */
const Stepper: Component<StepperProps> = props => {
  const [wanted, setWanted] = createSignal<number | null>(null)
  const shown = () => wanted() ?? props.value
  let due: ReturnType<typeof setTimeout> | undefined
  const send = async () => {
    due = undefined
    const value = wanted()
    if (value !== null && value !== props.value) await props.save(value)
    if (due === undefined) setWanted(null)
  }
  const step = (by: number) => {
    setWanted(Math.max(props.min, Math.min(props.max, shown() + by)))
    clearTimeout(due)
    due = setTimeout(() => void send(), SETTLE_MS)
  }
  onCleanup(() => {
    if (due === undefined) return
    clearTimeout(due)
    void send()
  })
  return (
    <span class="step">
      <button
        type="button"
        aria-label={props.lower}
        disabled={shown() <= props.min || !isLive()}
        title={isLive() ? undefined : words.doing.offline}
        onClick={() => step(-1)}
      >
        <Icon name="minus" />
      </button>
      <b aria-live="polite">
        <span aria-hidden="true">{shown()}</span>
        <span class="vh">{props.said(shown())}</span>
      </b>
      <button
        type="button"
        aria-label={props.raise}
        disabled={shown() >= props.max || !isLive()}
        title={isLive() ? undefined : words.doing.offline}
        onClick={() => step(1)}
      >
        <Icon name="plus" />
      </button>
    </span>
  )
}
