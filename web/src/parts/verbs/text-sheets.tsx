// Sheets with a text: maintenance and its reason, notes, traits. All of it can be taken back.
import { type Component, createSignal, For, Show } from 'solid-js'
import type { Machine } from '../../../../src/client/status.ts'
import { carryOut } from '../../data/doing.ts'
import { fleet } from '../../data/fleet.ts'
import { words } from '../../words.ts'
import { Icon } from '../icon.tsx'
import { called, onAll, onEach } from './deeds.ts'
import { Form } from './form.tsx'
import { hadOf } from './promises.ts'

interface SheetProps {
  machines: readonly Machine[]
  close: () => void
}

const focus = (element: HTMLElement) => queueMicrotask(() => element.focus())

export const MaintenanceSheet: Component<SheetProps> = props => {
  const [reason, setReason] = createSignal('')
  const act = async () => {
    const why = reason().trim()
    return onEach(props.machines, {
      said: words.verbs.maintenanceStarted,
      act: ({ nodes }, { machine }) => nodes.startMaintenance(machine.uuid, why === '' ? undefined : why),
      undo: ({ nodes }, { machine }) => nodes.endMaintenance(machine.uuid),
    })
  }
  return (
    <Form
      title={words.verbs.maintenanceOf(called(props.machines))}
      verb={words.verbs.start}
      act={act}
      close={props.close}
    >
      <p class="dim">{words.verbs.maintenanceMeans}</p>
      <label class="stacked">
        {words.verbs.reason}
        <input ref={focus} class="field" maxlength="255" onInput={({ target }) => setReason(target.value)} />
      </label>
    </Form>
  )
}

/** The note of the machine itself. */
export const NoteSheet: Component<SheetProps> = props => {
  const write = (uuid: string, note: string | null) =>
    [uuid, [{ op: 'add', path: '/description', value: note }]] as const
  const act = async (note: string | null) => {
    return onEach(props.machines, {
      said: note === null ? words.verbs.noteGone : words.verbs.noted,
      act: ({ nodes }, { machine }) => nodes.update(...write(machine.uuid, note)),
      undo: ({ nodes }, { machine }) => nodes.update(...write(machine.uuid, machine.note)),
    })
  }
  const [first] = props.machines
  return (
    <NoteForm
      title={words.verbs.noteOf(called(props.machines))}
      hint={words.verbs.noteMeans}
      before={props.machines.length === 1 ? (first?.note ?? null) : null}
      act={act}
      close={props.close}
    />
  )
}

/** The note of what has the machine. */
export const PurposeSheet: Component<SheetProps> = props => {
  const had = hadOf(props.machines, 'purpose')
  const before = (machines: readonly Machine[]) => machines[0]?.purpose ?? null
  const act = async (note: string | null) => {
    return onAll(had, {
      said: () => words.verbs.noted(had.map(({ name }) => name).join(', ')),
      act: ({ allocations }, { id }) => allocations.note(id, note),
      undo: ({ allocations }, { id, machines }) => allocations.note(id, before(machines)),
    })
  }
  return (
    <NoteForm
      title={words.verbs.noteOf(had.length === 1 ? had[0]!.name : called(props.machines))}
      hint={words.verbs.purposeMeans}
      before={had.length === 1 ? before(had[0]!.machines) : null}
      act={act}
      close={props.close}
    />
  )
}

interface NoteFormProps {
  title: string
  hint: string
  before: string | null
  act: (note: string | null) => Promise<boolean>
  close: () => void
}

const NoteForm: Component<NoteFormProps> = props => {
  const [text, setText] = createSignal(props.before ?? '')
  return (
    <Form
      title={props.title}
      verb={words.verbs.write}
      isReady={text().trim() !== (props.before ?? '')}
      act={() => props.act(text().trim() || null)}
      close={props.close}
    >
      <label class="stacked">
        {words.verbs.note}
        <textarea
          ref={focus}
          class="field"
          rows="4"
          maxlength="1000"
          value={text()}
          onInput={({ target }) => setText(target.value)}
        />
      </label>
      <p class="dimmer">{props.hint}</p>
    </Form>
  )
}

/** Adds a trait, or takes one away. Each happens at once. */
export const TraitsSheet: Component<SheetProps> = props => {
  const [text, setText] = createSignal('')
  const current = () => props.machines.map(machine => fleet.machine(machine.uuid) ?? machine)
  const common = () => [...new Set(current().flatMap(fleet.traitsOf))].toSorted()
  const has = (machine: Machine, trait: string) => fleet.traitsOf(machine).includes(trait)
  const add = async () => {
    const trait = text().trim().toUpperCase()
    const without = current().filter(machine => !has(machine, trait))
    return onEach(without, {
      said: what => words.verbs.traitAdded(trait, what),
      act: ({ nodes }, { machine }) => nodes.addTrait(machine.uuid, trait),
      undo: ({ nodes }, { machine }) => nodes.removeTrait(machine.uuid, trait),
    })
  }
  const remove = (trait: string) => {
    const having = current().filter(machine => has(machine, trait))
    void carryOut({
      said: words.verbs.traitRemoved(trait, called(having)),
      act: ({ nodes }) => Promise.all(having.map(({ uuid }) => nodes.removeTrait(uuid, trait))),
      undo: ({ nodes }) => Promise.all(having.map(({ uuid }) => nodes.addTrait(uuid, trait))),
    })
  }
  return (
    <Form
      title={words.verbs.traitsOf(called(props.machines))}
      verb={words.verbs.addTrait}
      isReady={text().trim() !== ''}
      act={add}
      close={props.close}
    >
      <Show when={common().length > 0}>
        <ul class="traits-list" aria-label={words.verbs.traits}>
          <For each={common()}>
            {trait => (
              <li class="tok">
                <span class="mono">{trait}</span>
                <button
                  type="button"
                  class="icon"
                  aria-label={words.verbs.removeTrait(trait)}
                  onClick={() => remove(trait)}
                >
                  <Icon name="cross" />
                </button>
              </li>
            )}
          </For>
        </ul>
      </Show>
      <label class="stacked">
        {words.verbs.newTrait}
        <input
          ref={focus}
          class="field mono"
          maxlength="255"
          autocapitalize="characters"
          spellcheck={false}
          placeholder="CUSTOM_NVLINK"
          onInput={({ target }) => setText(target.value)}
        />
      </label>
    </Form>
  )
}
