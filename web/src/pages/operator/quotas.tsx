// What projects may have, and how much of it they have.
import { type Component, createResource, createSignal, For, Show } from 'solid-js'
import type { Limit, QuotaInFull } from '../../../../src/client/quotas.ts'
import { carryOut, reasonOf } from '../../data/doing.ts'
import { fleet } from '../../data/fleet.ts'
import { isLive } from '../../data/live.ts'
import { learnNames, nameOf } from '../../data/names.ts'
import { server } from '../../data/session.ts'
import { Refusal, Sheet } from '../../parts/sheet.tsx'
import { words } from '../../words.ts'

/** The project whose limits hold for all without their own. */
const DEFAULT = 'default'
const PROJECTS_MAX = 50
/** Shown in the table; the others are in the sheet. */
const COLUMNS = ['nodes', 'vcpus', 'leases']

async function quotasOfAll(): Promise<QuotaInFull[]> {
  const { projects } = await server().names.all()
  const set = await server().quotas.list()
  const ids = [...new Set([...projects.map(({ id }) => id), ...set.map(({ project }) => project)])]
  const shown = ids.filter(id => id !== DEFAULT).slice(0, PROJECTS_MAX)
  await learnNames(shown)
  return Promise.all(shown.map(id => server().quotas.show(id)))
}

export const Quotas: Component = () => {
  const [quotas, { refetch }] = createResource(quotasOfAll)
  const [edited, setEdited] = createSignal<QuotaInFull | null>(null)
  const maySet = () => fleet.me().may.includes('set quota') && isLive()
  return (
    <section class="card" aria-labelledby="quotas">
      <header class="ch">
        <h2 id="quotas">{words.operator.quotas}</h2>
      </header>
      <Refusal words={quotas.error ? reasonOf(quotas.error) : null} />
      <Show when={!quotas.error && quotas()}>
        {found => (
          <Show when={found().length > 0} fallback={<p class="none dim">{words.operator.noProjects}</p>}>
            <div class="scroll">
              <table class="qt">
                <thead>
                  <tr>
                    <th>{words.operator.project}</th>
                    <For each={COLUMNS}>{name => <th>{words.operator.limits[name] ?? name}</th>}</For>
                    <th>
                      <span class="vh">{words.operator.editQuota('')}</span>
                    </th>
                  </tr>
                </thead>
                <tbody>
                  <For each={found()}>
                    {quota => (
                      <tr>
                        <td>
                          <b class="med">{nameOf(quota.project)}</b>
                        </td>
                        <For each={COLUMNS}>
                          {name => (
                            <td>
                              <Used limit={quota.limits.find(limit => limit.name === name)} />
                            </td>
                          )}
                        </For>
                        <td>
                          <button
                            type="button"
                            class="btn small quiet"
                            disabled={!maySet()}
                            aria-label={words.operator.editQuota(nameOf(quota.project))}
                            onClick={() => setEdited(quota)}
                          >
                            {words.operator.edit}
                          </button>
                        </td>
                      </tr>
                    )}
                  </For>
                </tbody>
              </table>
            </div>
          </Show>
        )}
      </Show>
      <Show when={edited()}>
        {quota => <EditQuota quota={quota()} close={() => setEdited(null)} done={() => void refetch()} />}
      </Show>
    </section>
  )
}

const Used: Component<{ limit: Limit | undefined }> = props => (
  <Show when={props.limit} fallback="–">
    {limit => (
      <span class="mm">
        <em>{limit().used ?? 0}</em>
        <Show
          when={limit().max !== null && limit().max}
          fallback={<span class="dimmer">{words.operator.noLimit}</span>}
        >
          {max => (
            <span class="of">
              <span class="mt">
                <i style={{ width: `${Math.min(100, ((limit().used ?? 0) / max()) * 100)}%` }} />
              </span>
              <span class="dimmer">{words.operator.ofLimit(max())}</span>
            </span>
          )}
        </Show>
      </span>
    )}
  </Show>
)

const EditQuota: Component<{ quota: QuotaInFull; close: () => void; done: () => void }> = props => {
  const [refusal, setRefusal] = createSignal<string | null>(null)
  const submit = async (event: SubmitEvent) => {
    event.preventDefault()
    const form = new FormData(event.currentTarget as HTMLFormElement)
    const { project, limits } = props.quota
    const wanted: Record<string, number | null> = {}
    const before: Record<string, number | null> = {}
    for (const { name, max, is_default } of limits) {
      const typed = form.get(name)
      const text = typeof typed === 'string' ? typed.trim() : ''
      if (text !== '' && !/^\d{1,9}$/.test(text)) return setRefusal(words.operator.wrongLimit(name, text))
      const value = text === '' ? null : Number(text)
      const known = is_default ? null : max
      if (value === known) continue
      wanted[name] = value
      before[name] = known
    }
    if (Object.keys(wanted).length === 0) return props.close()
    const isDone = await carryOut({
      said: words.operator.quotaSet(nameOf(project)),
      act: to => to.quotas.set(project, wanted),
      undo: async to => {
        await to.quotas.set(project, before)
        props.done()
      },
    })
    if (!isDone) return
    props.done()
    props.close()
  }
  return (
    <Sheet title={words.operator.quotaOf(nameOf(props.quota.project))} close={props.close}>
      <form class="quota-form" onSubmit={event => void submit(event)}>
        <p class="dim">{words.operator.quotaHelp}</p>
        <For each={props.quota.limits}>
          {limit => (
            <label class="stacked">
              {words.operator.limits[limit.name] ?? limit.name}
              <span class="tools">
                <input
                  class="field"
                  name={limit.name}
                  inputmode="numeric"
                  autocomplete="off"
                  value={limit.is_default || limit.max === null ? '' : limit.max}
                  placeholder={limit.max === null ? words.operator.noLimit : words.operator.byDefault(limit.max)}
                />
                <span class="dimmer">{limit.used === null ? '' : words.operator.used(limit.used)}</span>
              </span>
            </label>
          )}
        </For>
        <Refusal words={refusal()} />
        <div class="tools end">
          <button type="button" class="btn quiet" onClick={() => props.close()}>
            {words.doing.cancel}
          </button>
          <button class="btn primary">{words.operator.setQuota}</button>
        </div>
      </form>
    </Sheet>
  )
}
