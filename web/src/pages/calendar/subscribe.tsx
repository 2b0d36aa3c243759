// A calendar for other programs: made once, its address shown once.
import { type Component, createSignal, For, Show } from 'solid-js'
import type { Calendar, NewCalendar } from '../../../../src/client/calendars.ts'
import { when } from '../../data/clock.ts'
import { carryOut, reasonOf } from '../../data/doing.ts'
import { fleet } from '../../data/fleet.ts'
import { login, server } from '../../data/session.ts'
import { CopyLine } from '../../parts/copy.tsx'
import { createSheet, Question, Refusal, Sheet } from '../../parts/sheet.tsx'
import { words } from '../../words.ts'

const kindOf = ({ of }: Calendar) => ('project' in of ? 'project' : 'node' in of ? 'node' : 'user')

export const Subscribe: Component<{ close: () => void }> = props => {
  const [isProject, setIsProject] = createSignal(false)
  const [made, setMade] = createSignal<NewCalendar | null>(null)
  const [refusal, setRefusal] = createSignal<string | null>(null)
  const [isBusy, setIsBusy] = createSignal(false)
  const [all, setAll] = createSignal<readonly Calendar[]>([])
  // Not a resource: the page behind would wait for it, and the sheet with it.
  const load = async () => {
    try {
      setAll(await server().calendars.list())
    } catch (error) {
      setRefusal(reasonOf(error))
    }
  }
  void load()
  const project = () => login()?.project ?? null
  const make = async () => {
    if (isBusy()) return
    setIsBusy(true)
    setRefusal(null)
    const id = project()
    try {
      setMade(await server().calendars.create(isProject() && id !== null ? { project: id } : undefined))
      void load()
    } catch (error) {
      setRefusal(reasonOf(error))
    } finally {
      setIsBusy(false)
    }
  }
  const ending = createSheet<Calendar>()
  const end = async ({ id }: Calendar) => {
    const isDone = await carryOut({
      said: words.calendar.subscriptionEnded,
      act: ({ calendars }) => calendars.delete(id),
    })
    if (made()?.id === id) setMade(null)
    void load()
    return isDone
  }
  return (
    <Sheet title={words.calendar.subscribe} close={props.close}>
      <p class="dim">{words.calendar.subscribeMeans}</p>
      <Show
        when={made()}
        fallback={
          <>
            <Show when={project() !== null}>
              <div class="seg" role="group" aria-label={words.calendar.whose}>
                <button type="button" aria-pressed={!isProject()} onClick={() => setIsProject(false)}>
                  {words.calendar.whoseMine}
                </button>
                <button type="button" aria-pressed={isProject()} onClick={() => setIsProject(true)}>
                  {words.calendar.whoseProject(fleet.me().project ?? '')}
                </button>
              </div>
            </Show>
            <Refusal words={refusal()} />
            <div class="tools">
              <button type="button" class="btn primary" disabled={isBusy()} onClick={() => void make()}>
                {words.calendar.makeAddress}
              </button>
            </div>
          </>
        }
      >
        {calendar => (
          <div role="status">
            <CopyLine text={calendar().url} />
            <p class="dim">{words.calendar.once}</p>
          </div>
        )}
      </Show>
      <Show when={all().length > 0}>
        <h3>{words.calendar.subscriptions}</h3>
        <ul class="subscriptions">
          <For each={all()}>
            {calendar => (
              <li>
                <span class="grow">
                  {words.calendar.subscriptionOf[kindOf(calendar)]}{' '}
                  <span class="dimmer">
                    {calendar.last_read_at === null
                      ? words.calendar.neverRead(when(calendar.created_at))
                      : words.calendar.lastRead(when(calendar.last_read_at))}
                  </span>
                </span>
                <button type="button" class="btn small danger" onClick={() => ending.open(calendar)}>
                  {words.calendar.endSubscription}
                </button>
              </li>
            )}
          </For>
        </ul>
      </Show>
      <Show when={ending.value()} keyed>
        {calendar => (
          <Question
            title={words.calendar.endSubscriptionTitle}
            verb={words.calendar.endSubscriptionIt}
            isDangerous
            act={() => end(calendar)}
            close={ending.close}
          >
            {words.calendar.endSubscriptionMeans}
          </Question>
        )}
      </Show>
    </Sheet>
  )
}
