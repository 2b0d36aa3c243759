// The answer: where it fits, or why nowhere, and the smallest changes that would help.
import { type Component, createMemo, For, Match, Show, Switch } from 'solid-js'
import type { Candidates, CandidatesExplained } from '../../data/capacity.ts'
import { amountShown } from '../../data/capacity-tree.ts'
import { quoted } from '../../../../src/shared/shell.ts'
import { CopyLine } from '../../parts/copy.tsx'
import { Glyph } from '../../parts/glyph.tsx'
import { words } from '../../words.ts'
import { type Question, questionIn } from './question.ts'
import { changeSaid, plainTraits, togetherSaid } from './sentences.ts'

const PAGE = words.capacity
const SHOWN_MAX = 8

interface AnswerProps {
  explained: CandidatesExplained
  /** null while they are looked for. */
  candidates: Candidates | null
  /** At most so many candidates were asked for. */
  limit: number
  nameOf: (uuid: string) => string
  apply: (query: string) => void
  /** A change is pointed at. */
  point: (query: string | null) => void
}

export const Answer: Component<AnswerProps> = props => (
  <>
    <div class="ans" role="status">
      <Show
        when={props.explained.roots > 0}
        fallback={
          <p class="no">
            <Glyph state="broken" />
            <span>
              <b>{PAGE.fitsNowhere}</b> {reasonOf(props.explained)}
            </span>
          </p>
        }
      >
        <p class="no">
          <Glyph state="free" />
          <span>
            <b>{PAGE.fits(props.explained.roots)}</b>{' '}
            <Show when={props.candidates}>
              {found => {
                const n = () => found().allocation_requests.length
                return <span class="dim">{PAGE.candidates(n(), n() < props.limit)}</span>
              }}
            </Show>
          </span>
        </p>
      </Show>
      <Show when={!props.explained.complete}>
        <p class="dim">{PAGE.incomplete}</p>
      </Show>
    </div>
    <Show when={props.explained.roots === 0}>
      <Changes {...props} />
    </Show>
    <Show when={props.candidates}>
      {found => <First found={found()} roots={props.explained.roots} nameOf={props.nameOf} />}
    </Show>
    <Funnels explained={props.explained} />
    <div class="cmd">
      <p class="lb2">{PAGE.command}</p>
      <CopyLine
        text={`holdfast candidate ${props.explained.roots > 0 ? 'list' : 'explain'} --query ${quoted(props.explained.query)}`}
      />
    </div>
  </>
)

/** The condition that left nobody. */
function reasonOf({ groups, together }: CandidatesExplained): string {
  const removed = groups.find(({ removedBy }) => removedBy !== null)?.removedBy
  if (removed !== null && removed !== undefined) return `${PAGE.nobodyPasses} ${plainTraits(removed)}.`
  const last = together.findLast(({ roots }) => roots > 0)?.condition ?? ''
  const [, trait] = /without trait (\S+)$/.exec(last) ?? []
  return trait === undefined ? PAGE.notTogether : PAGE.noneHas(plainTraits(trait))
}

const Changes: Component<AnswerProps> = props => (
  <div class="ans more">
    <Show when={props.explained.relaxations.length > 0} fallback={<p class="dim">{PAGE.nothingHelps}</p>}>
      <p class="lb2">{PAGE.wouldHelp}</p>
      <ul class="rxs">
        <For each={props.explained.relaxations}>
          {({ sentence, roots, query }, at) => (
            <li>
              <button
                type="button"
                class="rx"
                onClick={() => props.apply(query)}
                onPointerEnter={() => props.point(query)}
                onFocus={() => props.point(query)}
              >
                <b>{changeSaid(sentence)}</b>
                <em>{PAGE.hosts(roots)}</em>
                <Show when={at() < 9}>
                  <kbd aria-hidden="true">{at() + 1}</kbd>
                </Show>
              </button>
            </li>
          )}
        </For>
      </ul>
    </Show>
  </div>
)

const First: Component<{ found: Candidates; roots: number; nameOf: (uuid: string) => string }> = props => {
  const shown = () => props.found.allocation_requests.slice(0, SHOWN_MAX)
  return (
    <Show when={props.roots > 0 && shown().length > 0}>
      <ol class="cand">
        <For each={shown()}>
          {({ allocations }) => (
            <li>
              <For each={Object.entries(allocations)}>
                {([uuid, { resources }]) => (
                  <span>
                    <b>
                      {Object.entries(resources)
                        .map(([name, amount]) => `${amountShown(name, amount)} ${nameShown(name)}`)
                        .join(', ')}
                    </b>{' '}
                    <span class="dim">{props.nameOf(uuid)}</span>
                  </span>
                )}
              </For>
            </li>
          )}
        </For>
      </ol>
    </Show>
  )
}

export const nameShown = (resource: string): string => PAGE.resources[resource] ?? plainTraits(resource)

/** `8 VCPU`, or the group's name. */
function titleOf({ suffix, resourceClass }: CandidatesExplained['groups'][number], { groups }: Question): string {
  if (suffix !== '' || resourceClass === null) return PAGE.groupOf(suffix)
  const asked = groups.find(group => group.suffix === '')?.resources.find(({ name }) => name === resourceClass)
  const name = nameShown(resourceClass)
  return asked === undefined ? name : PAGE.funnelOf(amountShown(resourceClass, Number(asked.amount)), name)
}

const Funnels: Component<{ explained: CandidatesExplained }> = props => {
  const question = createMemo(() => questionIn(props.explained.query))
  const together = createMemo(() => {
    const { together: steps, groups } = props.explained
    return togetherSaid(steps, new Set(groups.map(({ suffix }) => suffix)).size)
  })
  const most = () => Math.max(1, ...together().map(({ roots }) => roots))
  return (
    <div class="fun" aria-label={PAGE.steps} role="group">
      <For each={props.explained.groups}>
        {group => (
          <>
            <h2>{titleOf(group, question())}</h2>
            <ol>
              <Step text={PAGE.all} left={group.providers} of={group.providers} lost={0} />
              <For each={group.steps}>
                {(step, at) => (
                  <Step
                    text={plainTraits(step.condition)}
                    left={step.left}
                    of={group.providers}
                    lost={(at() === 0 ? group.providers : group.steps[at() - 1]!.left) - step.left}
                  />
                )}
              </For>
            </ol>
            <Show when={group.nearest.length > 0}>
              <p class="lb2">{PAGE.nearest}</p>
              <ul class="near">
                <For each={group.nearest}>
                  {({ name, lacks }) => <li>{PAGE.lacks(name, lacks.map(plainTraits))}</li>}
                </For>
              </ul>
            </Show>
          </>
        )}
      </For>
      <Show when={together().length > 0}>
        <h2>{PAGE.together}</h2>
        <ol>
          <For each={together()}>
            {(step, at) => (
              <Step
                text={step.text}
                left={step.roots}
                of={most()}
                lost={at() === 0 ? 0 : together()[at() - 1]!.roots - step.roots}
              />
            )}
          </For>
        </ol>
      </Show>
    </div>
  )
}

/** Bars on a root scale: a few of very many are still seen. */
const Step: Component<{ text: string; left: number; of: number; lost: number }> = props => (
  <li classList={{ zero: props.left === 0 }}>
    <span class="cd cut" title={props.text}>
      {props.text}
    </span>
    <span class="fb">
      <i style={{ width: `${Math.sqrt(props.left / Math.max(1, props.of)) * 100}%` }} />
    </span>
    <b>{props.left}</b>
    <em>
      <Switch>
        <Match when={props.lost > 0}>{PAGE.lost(props.lost)}</Match>
      </Switch>
    </em>
  </li>
)
