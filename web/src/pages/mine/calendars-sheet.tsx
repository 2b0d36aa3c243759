// Addresses that calendar programs subscribe to. The address is a secret, and shown once.
import { type Component, createSignal, Show } from 'solid-js'
import type { Calendar } from '../../../../src/client/calendars.ts'
import { when } from '../../data/clock.ts'
import { reasonOf } from '../../data/doing.ts'
import type { Kept } from '../../data/kept.ts'
import { server } from '../../data/session.ts'
import { Refusal, Sheet } from '../../parts/sheet.tsx'
import { words } from '../../words.ts'
import { Once, Things } from './things.tsx'

export const CalendarsSheet: Component<{ kept: Kept<Calendar[]>; close: () => void }> = props => {
  const [address, setAddress] = createSignal<string | null>(null)
  const [refusal, setRefusal] = createSignal<string | null>(null)
  const [isBusy, setIsBusy] = createSignal(false)
  const make = async () => {
    if (isBusy()) return
    setIsBusy(true)
    setRefusal(null)
    try {
      setAddress((await server().calendars.create()).url)
      await props.kept.again()
    } catch (error) {
      setRefusal(reasonOf(error))
    } finally {
      setIsBusy(false)
    }
  }
  const things = () =>
    (props.kept.value() ?? []).map(({ id, of, created_at, last_read_at }) => ({
      id,
      name: words.mine.calendar.kinds['user' in of ? 'user' : 'project' in of ? 'project' : 'node'],
      about: `${words.mine.calendar.made(when(created_at))}, ${words.mine.calendar.read(last_read_at === null ? null : when(last_read_at))}`,
    }))
  return (
    <Sheet title={words.mine.calendar.title} close={props.close}>
      <p class="dim">{words.mine.calendar.what}</p>
      <Things
        things={things()}
        lost={words.mine.calendar.lost}
        delete={(at, id) => at.calendars.delete(id)}
        again={props.kept.again}
      />
      <Refusal words={refusal()} />
      <Show
        when={address()}
        fallback={
          <div class="tools end">
            <button type="button" class="btn primary" disabled={isBusy()} onClick={() => void make()}>
              {words.mine.make}
            </button>
          </div>
        }
      >
        {text => <Once lines={[{ label: words.mine.calendar.address, text: text() }]} done={() => setAddress(null)} />}
      </Show>
    </Sheet>
  )
}
