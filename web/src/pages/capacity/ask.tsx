// The question: as chips and as the text of a query, which are the same.
import { type Component, createEffect, createSignal, createUniqueId, For, on, Show } from 'solid-js'
import { ChipsField } from '../../parts/chips.tsx'
import { CopyButton } from '../../parts/copy.tsx'
import { Icon } from '../../parts/icon.tsx'
import { traitShown } from '../../parts/trait.ts'
import { words } from '../../words.ts'
import { type Group, keyOf, type Question, questionIn, textOf, withGroup, withNewGroup } from './question.ts'

const PAGE = words.capacity

export interface Known {
  resources: readonly string[]
  traits: readonly string[]
  roots: readonly { uuid: string; name: string }[]
}

interface AskProps {
  text: string
  known: Known
  /** What stands in the way. */
  bad: ReadonlySet<string>
  error: string | null
  ask: (text: string) => void
}

export const Ask: Component<AskProps> = props => {
  const question = () => questionIn(props.text)
  const change = (next: Question) => props.ask(textOf(next))
  const groups = () => {
    const all = question().groups
    // There is always a place to begin.
    return all.some(({ suffix }) => suffix === '')
      ? all.map(({ suffix }) => suffix)
      : ['', ...all.map(one => one.suffix)]
  }
  const groupOf = (suffix: string) => question().groups.find(group => group.suffix === suffix)
  return (
    <>
      <For each={groups()}>
        {suffix => (
          <GroupOf
            suffix={suffix}
            group={groupOf(suffix)}
            known={props.known}
            bad={props.bad}
            change={part => change(withGroup(question(), suffix, part))}
            addGroup={suffix === '' ? resource => change(withNewGroup(question(), resource)) : null}
          />
        )}
      </For>
      <div class="res">
        <For each={question().rest}>
          {([name, value], at) => (
            <Chip
              text={`${name}=${value}`}
              drop={() => change({ ...question(), rest: question().rest.filter((_, place) => place !== at()) })}
            />
          )}
        </For>
      </div>
      <QueryText text={props.text} error={props.error} ask={props.ask} />
    </>
  )
}

interface GroupProps {
  suffix: string
  group: Group | undefined
  known: Known
  bad: ReadonlySet<string>
  change: (part: Partial<Group>) => void
  /** Adds another group with this resource; only in one place. */
  addGroup: ((resource: string) => void) | null
}

const GroupOf: Component<GroupProps> = props => {
  const isBad = (kind: keyof Group) => (value: string) => props.bad.has(keyOf(props.suffix, kind, value))
  const resources = () => props.group?.resources ?? []
  const names = () => resources().map(({ name }) => name)
  const setAmount = (name: string, amount: string) =>
    props.change({ resources: resources().map(one => (one.name === name ? { name, amount } : one)) })
  const addResource = (all: readonly string[]) => {
    const added = all.filter(name => !names().includes(name)).map(name => ({ name, amount: '1' }))
    props.change({ resources: [...resources(), ...added] })
  }
  const rootNamed = (uuid: string) => props.known.roots.find(root => root.uuid === uuid)?.name ?? uuid
  return (
    <div class="grp" role="group" aria-label={props.suffix === '' ? PAGE.ask : PAGE.groupOf(props.suffix)}>
      <Show when={props.suffix !== ''}>
        <p class="lb2">{PAGE.groupOf(props.suffix)}</p>
      </Show>
      <div class="res">
        <For each={resources()}>
          {resource => (
            <Amount
              {...resource}
              isBad={isBad('resources')(resource.name)}
              set={amount => setAmount(resource.name, amount)}
              drop={() => props.change({ resources: resources().filter(({ name }) => name !== resource.name) })}
            />
          )}
        </For>
        <ChipsField
          noun={PAGE.resource}
          value={[]}
          options={props.known.resources.filter(name => !names().includes(name))}
          onValue={addResource}
        />
        <Show when={props.suffix !== ''}>
          <button
            type="button"
            class="btn quiet small"
            onClick={() => props.change({ resources: [], required: [], forbidden: [], memberOf: [], inTree: null })}
          >
            {PAGE.dropGroup(props.suffix)}
          </button>
        </Show>
      </div>
      <Show when={props.group}>
        {group => (
          <div class="res">
            <Show when={group().required.length > 0}>
              <span class="lb">{PAGE.with}</span>
            </Show>
            <ChipsField
              noun={PAGE.trait}
              value={group().required}
              options={props.known.traits}
              shown={traitsShown}
              isBad={isBad('required')}
              onValue={required => props.change({ required })}
            />
            <Show when={group().forbidden.length > 0}>
              <span class="lb">{PAGE.notWith}</span>
            </Show>
            <ChipsField
              noun={PAGE.without}
              value={group().forbidden}
              options={props.known.traits}
              shown={traitShown}
              isBad={isBad('forbidden')}
              onValue={forbidden => props.change({ forbidden })}
            />
            <For each={group().memberOf}>
              {value => (
                <Chip
                  text={PAGE.memberOf(value)}
                  isBad={isBad('memberOf')(value)}
                  drop={() => props.change({ memberOf: group().memberOf.filter(one => one !== value) })}
                />
              )}
            </For>
            <Show
              when={group().inTree}
              fallback={
                <ChipsField
                  noun={PAGE.inTree}
                  value={[]}
                  options={props.known.roots.map(({ uuid }) => uuid)}
                  shown={rootNamed}
                  onValue={([uuid]) => uuid !== undefined && props.change({ inTree: uuid })}
                />
              }
            >
              {uuid => (
                <Chip
                  text={PAGE.treeOf(rootNamed(uuid()))}
                  isBad={isBad('inTree')(uuid())}
                  drop={() => props.change({ inTree: null })}
                />
              )}
            </Show>
            <Show when={props.addGroup}>
              {add => (
                <ChipsField
                  noun={PAGE.group}
                  value={[]}
                  options={props.known.resources}
                  onValue={([resource]) => resource !== undefined && add()(resource)}
                />
              )}
            </Show>
          </div>
        )}
      </Show>
    </div>
  )
}

/** `in:A,B` is one of several. */
const traitsShown = (value: string): string =>
  value.startsWith('in:') ? PAGE.anyOf(value.slice(3).split(',').map(traitShown)) : traitShown(value)

const Chip: Component<{ text: string; isBad?: boolean; drop: () => void }> = props => (
  <span classList={{ field: true, slim: true, chipf: true, bad: props.isBad ?? false }}>
    <b class="cut">{props.text}</b>
    <button type="button" aria-label={PAGE.leaveOut(props.text)} onClick={() => props.drop()}>
      <Icon name="cross" />
    </button>
  </span>
)

interface AmountProps {
  name: string
  amount: string
  isBad: boolean
  set: (amount: string) => void
  drop: () => void
}

/** Taken over when it is left, or at Enter. Placement says what is wrong with it. */
const Amount: Component<AmountProps> = props => (
  <span classList={{ field: true, slim: true, chipf: true, amount: true, bad: props.isBad }}>
    <input
      type="text"
      inputmode="numeric"
      autocomplete="off"
      aria-label={PAGE.amountOf(props.name)}
      value={props.amount}
      size={Math.max(1, props.amount.length)}
      onChange={event => {
        const value = event.currentTarget.value.trim()
        if (value !== props.amount) props.set(value)
      }}
      onFocus={event => event.currentTarget.select()}
    />
    <b title={props.name}>{traitShown(props.name)}</b>
    <button type="button" aria-label={PAGE.leaveOut(props.name)} onClick={() => props.drop()}>
      <Icon name="cross" />
    </button>
  </span>
)

const QueryText: Component<{ text: string; error: string | null; ask: (text: string) => void }> = props => {
  const id = createUniqueId()
  const [typed, setTyped] = createSignal(props.text)
  createEffect(on(() => props.text, setTyped, { defer: true }))
  const send = (event: Event) => {
    event.preventDefault()
    props.ask(textOf(questionIn(typed())))
  }
  return (
    <form class="text" onSubmit={send}>
      <label class="vh" for={id}>
        {PAGE.query}
      </label>
      <div classList={{ cli: true, wrong: props.error !== null }}>
        <input
          id={id}
          class="mono"
          type="text"
          autocomplete="off"
          autocapitalize="none"
          spellcheck={false}
          placeholder="resources=VCPU:8,MEMORY_MB:32768"
          value={typed()}
          aria-invalid={props.error !== null}
          aria-describedby={`${id}-error`}
          onInput={event => setTyped(event.currentTarget.value)}
        />
        <Show when={typed() !== props.text}>
          <button type="submit" class="btn small">
            {PAGE.askIt}
          </button>
        </Show>
        <CopyButton text={props.text} label={words.doing.copy} />
      </div>
      <p id={`${id}-error`} class="error" role="alert">
        {props.error}
      </p>
    </form>
  )
}
