// Find: a machine, a person, a booking, from anywhere. What is found stands still until other letters are typed; what is
// said of it is live.
import './find.css'
import { useNavigate } from '@solidjs/router'
import { type Component, createMemo, createSignal, For, onCleanup, onMount, Show, untrack } from 'solid-js'
import { when } from '../../data/clock.ts'
import { isFree } from '../../data/free.ts'
import { fleet } from '../../data/fleet.ts'
import { Glyph } from '../../parts/glyph.tsx'
import { Icon, type IconName } from '../../parts/icon.tsx'
import { openBooking, openGet } from '../../parts/booking/open.ts'
import { words } from '../../words.ts'
import { type Found, type FoundKind, search } from './search.ts'

const ICONS: Readonly<Record<Exclude<FoundKind, 'machine'>, IconName>> = {
  class: 'tiles',
  deed: 'plus',
  person: 'person',
  project: 'rows',
  booking: 'calendar',
  page: 'right',
}

const sees = (what: string) => fleet.me().may.includes(`see ${what}`)

const pages = () => [
  { text: words.shell.now, path: '/now' },
  { text: words.shell.calendar, path: '/calendar' },
  { text: words.shell.queue, path: '/queue' },
  { text: words.shell.mine, path: '/mine' },
  ...(sees('capacity') ? [{ text: words.shell.capacity, path: '/capacity' }] : []),
  ...(sees('health') ? [{ text: words.shell.operator, path: '/operator' }] : []),
  { text: words.shell.api, path: '/reference' },
]

const DEEDS: Readonly<Record<string, (name: string) => void>> = {
  'book machine': id => openBooking({ machines: [id] }),
  'book class': name => openBooking({ class: name }),
  'allocate class': name => openGet({ class: name }),
}

/** The best class or machine can also be booked, or had at once. */
function withDeeds(found: readonly Found[]): Found[] {
  const first = found.find(({ kind }) => kind === 'machine' || kind === 'class')
  if (!first || first.because !== null) return [...found]
  const may = first.kind === 'class' ? fleet.me().may : (fleet.machine(first.id)?.may ?? [])
  const deeds = (['allocate', 'book'] as const)
    .filter(verb => may.includes(verb) && `${verb} ${first.kind}` in DEEDS)
    .map((verb): Found => ({
      kind: 'deed',
      id: first.id,
      text: words.find[verb === 'book' ? 'book' : 'get'](first.text),
      to: `${verb} ${first.kind}`,
      because: null,
    }))
  return [...found, ...deeds]
}

export const Find: Component<{ close: () => void }> = props => {
  let dialog!: HTMLDialogElement
  const navigate = useNavigate()
  const [typed, setTyped] = createSignal('')
  const [at, setAt] = createSignal(0)
  onMount(() => dialog.showModal())
  onCleanup(() => dialog.close())
  const found = createMemo(() => {
    const text = typed()
    return untrack(() =>
      withDeeds(
        search(text, { machines: fleet.machines(), traits: fleet.traits(), waiting: fleet.waiting(), pages: pages() }),
      ),
    )
  })
  const type = (text: string) => {
    setTyped(text)
    setAt(0)
  }
  const open = (one: Found | undefined) => {
    if (!one) return
    props.close()
    if (one.kind === 'deed') DEEDS[one.to]?.(one.id)
    else navigate(one.to)
  }
  const onKey = (event: KeyboardEvent) => {
    const count = found().length
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (step !== undefined && count > 0) setAt((at() + step + count) % count)
    else if (event.key === 'Enter') open(found()[at()])
    else return
    event.preventDefault()
    document.querySelector(`#found-${at()}`)?.scrollIntoView({ block: 'nearest' })
  }
  return (
    <dialog
      ref={dialog}
      class="sheet find-box"
      aria-label={words.shell.find}
      onCancel={event => {
        event.preventDefault()
        props.close()
      }}
      onMouseDown={event => event.target === dialog && props.close()}
    >
      <div class="fq">
        <Icon name="search" />
        <input
          type="text"
          role="combobox"
          aria-label={words.shell.find}
          aria-expanded="true"
          aria-controls="found"
          aria-autocomplete="list"
          aria-activedescendant={found().length > 0 ? `found-${at()}` : undefined}
          placeholder={words.find.placeholder}
          autocomplete="off"
          spellcheck={false}
          onInput={({ currentTarget }) => type(currentTarget.value)}
          onKeyDown={onKey}
        />
        <button type="button" class="esc" onClick={() => props.close()}>
          <kbd>Esc</kbd>
          <span class="vh"> {words.doing.close}</span>
        </button>
      </div>
      <div id="found" role="listbox" aria-label={words.find.results} class="found">
        <For each={[...new Set(found().map(({ kind }) => kind))]}>
          {kind => (
            <div role="group" aria-labelledby={`found-kind-${kind}`}>
              <div id={`found-kind-${kind}`} class="fk" role="presentation">
                {words.find.kinds[kind]}
              </div>
              <For each={found().filter(one => one.kind === kind)}>
                {one => (
                  <div
                    id={`found-${found().indexOf(one)}`}
                    role="option"
                    class="fo"
                    aria-selected={found()[at()] === one}
                    onPointerMove={() => setAt(found().indexOf(one))}
                    onClick={() => open(one)}
                  >
                    <Option found={one} />
                    <Show when={found()[at()] === one}>
                      <kbd aria-hidden="true">↵</kbd>
                    </Show>
                  </div>
                )}
              </For>
            </div>
          )}
        </For>
      </div>
      <Show when={found().length === 0}>
        <p class="fn dim">{words.find.nothing(typed().trim())}</p>
      </Show>
      <p class="vh" role="status">
        {typed().trim() === '' ? '' : words.find.found(found().length)}
      </p>
    </dialog>
  )
}

const Option: Component<{ found: Found }> = props => {
  const { kind, id, text, because } = props.found
  return (
    <>
      <Show when={kind !== 'machine'} fallback={<Glyph state={fleet.machine(id)?.state ?? 'unknown'} />}>
        <Icon name={ICONS[kind as Exclude<FoundKind, 'machine'>]} />
      </Show>
      <b class="cut" classList={{ mono: kind === 'machine' }}>
        {text}
      </b>
      <span class="dim cut">{because ?? said(props.found)}</span>
    </>
  )
}

/** What is to be known of it at a glance. */
function said({ kind, id, text, booking }: Found): string {
  if (kind === 'person') return words.find.has(fleet.machines().filter(({ who }) => who === text).length)
  if (kind === 'class') {
    const all = fleet.machines().filter(machine => machine.class === text)
    return words.now.classIs(all.filter(isFree).length, all.length)
  }
  if (kind === 'project') return words.find.has(fleet.machines().filter(({ project }) => project === text).length)
  if (booking) {
    if (booking.isWaiting) return words.find.waits(booking.place)
    if (booking.start !== null) return words.find.from(when(booking.start))
    return words.find.running(booking.until === null ? null : when(booking.until))
  }
  const machine = kind === 'machine' ? fleet.machine(id) : undefined
  if (!machine) return ''
  const word = Object.hasOwn(words.states, machine.state) ? words.states[machine.state].word : machine.state
  const who = machine.kind === null ? word : (machine.who ?? machine.project ?? words.someone)
  const until = machine.until === null ? null : words.now.until(when(machine.until))
  const more = machine.error ?? machine.reason
  return [who, until ?? more ?? machine.class].filter(part => part !== null).join(', ')
}
