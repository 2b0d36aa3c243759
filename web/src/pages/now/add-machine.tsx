// A new machine: its name, what it is, where it stands, and how it is reached.
import { useNavigate } from '@solidjs/router'
import { type Component, createMemo, createResource, createSignal, Show } from 'solid-js'
import { DEFAULT_DRIVER } from '../../../../src/shared/node-fields.ts'
import { carryOut, reasonOf } from '../../data/doing.ts'
import { fleet } from '../../data/fleet.ts'
import { machinePath } from '../../data/machine-href.ts'
import { server } from '../../data/session.ts'
import { SelectField, TextField } from '../../parts/fields.tsx'
import { Form } from '../../parts/verbs/form.tsx'
import { words } from '../../words.ts'
import { type Draft, EMPTY_DRAFT, macsIn, nodeOf, wrongIn } from './new-machine.ts'

const AddMachine: Component<{ close: () => void }> = props => {
  const navigate = useNavigate()
  const [draft, setDraft] = createSignal<Draft>(EMPTY_DRAFT)
  const [isTried, setIsTried] = createSignal(false)
  const [drivers] = createResource(async () => {
    const all = (await server().conductors.drivers()).map(({ name }) => name).sort()
    const usual = all.includes(DEFAULT_DRIVER) ? DEFAULT_DRIVER : all.length === 1 ? all[0]! : ''
    if (draft().driver === '') change({ driver: usual })
    return all
  })
  const change = (changes: Partial<Draft>) => setDraft(before => ({ ...before, ...changes }))
  // A machine that was made just now has its name.
  let made: { uuid: string; name: string } | null = null
  const portsMade = new Set<string>()
  const wrong = createMemo(() => wrongIn(draft(), name => name !== made?.name && fleet.called(name) !== undefined))
  const error = (field: keyof Draft) => (isTried() ? (wrong()[field] ?? null) : null)

  /** What was made stays made: a second try goes on where the first was refused. */
  const act = async () => {
    setIsTried(true)
    if (Object.keys(wrong()).length > 0) return false
    const { nodes, ports } = server()
    if (made === null) {
      const node = await nodes.create(nodeOf(draft()))
      made = { uuid: node.uuid, name: draft().name.trim() }
    }
    const { uuid, name } = made
    for (const address of macsIn(draft().macs)) {
      if (portsMade.has(address)) continue
      await ports.create({ node_uuid: uuid, address }).catch((refused: unknown) => {
        throw new Error(words.now.new.portRefused(name, address, reasonOf(refused)))
      })
      portsMade.add(address)
    }
    const said = words.now.new.made(name)
    const isDone = await carryOut({ said, act: async () => {}, undo: again => again.nodes.delete(uuid) })
    // Its page says what comes next.
    if (isDone) navigate(machinePath(made))
    return isDone
  }
  return (
    <Form title={words.now.add} verb={words.now.new.make} act={act} close={props.close}>
      <TextField
        label={words.now.new.name}
        value={draft().name}
        onValue={name => change({ name })}
        error={error('name')}
        placeholder="rack-a01-21"
      />
      <TextField
        label={words.now.new.class}
        value={draft().class}
        onValue={name => change({ class: name })}
        error={error('class')}
        placeholder="gpu-a100"
      />
      <SelectField
        label={words.now.new.driver}
        value={draft().driver === '' ? null : draft().driver}
        options={drivers.error ? [] : (drivers() ?? [])}
        onValue={driver => change({ driver })}
        none={words.now.new.driverMissing}
        error={error('driver')}
      />
      <Show when={drivers.error as unknown}>{refused => <p class="refusal">{reasonOf(refused())}</p>}</Show>
      <TextField
        label={words.now.new.rack}
        value={draft().rack}
        onValue={rack => change({ rack })}
        error={error('rack')}
        placeholder="rack-a01"
      />
      <TextField
        label={words.now.new.slot}
        value={draft().slot}
        onValue={slot => change({ slot })}
        error={error('slot')}
        placeholder="21"
      />
      <TextField
        label={words.now.new.macs}
        value={draft().macs}
        onValue={macs => change({ macs })}
        error={error('macs')}
        placeholder="52:54:00:aa:bb:01"
        lines={2}
      />
      <p class="dim">{words.now.new.next}</p>
    </Form>
  )
}

export default AddMachine
