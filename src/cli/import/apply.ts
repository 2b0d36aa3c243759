// Carries out a plan, a few requests at a time. Every step can be repeated, so a second import finishes an
// interrupted one.
import { ApiError, type Holdfast, type NewInventory, Unreachable } from '../../client/index.ts'
import { verdictOn } from '../failures.ts'
import type { Plan } from './plan.ts'
import type { NodeStep } from './plan-nodes.ts'
import type { HostStep, ProviderStep } from './plan-providers.ts'
import { atOnce } from '../../shared/at-once.ts'
import type { Progress } from './progress.ts'
import { settle } from './settle.ts'
import type { Step } from './step.ts'

/** Requests at a time; more would only queue in the server. */
const WIDTH = 8

export interface Applied {
  failures: Map<Step, unknown>
  /** Steps not begun after an error that would have failed them too. */
  untried: Set<Step>
}

interface ApplyOptions {
  progress: Progress
  /** How long nodes may take to reach their states; null for no limit. */
  waitMs: number | null
}

/** How many units of progress the plan has. */
export const workIn = ({ nodes, providers, hosts }: Plan) =>
  [...nodes, ...providers, ...hosts].filter(isWork).length + nodes.filter(hasJourney).length

const isWork = ({ action }: Step) => action !== 'unchanged'
const hasJourney = (step: NodeStep) => step.provisionState !== null

export async function apply(server: Holdfast, plan: Plan, options: ApplyOptions): Promise<Applied> {
  const run = new Run(server, options)
  await run.nodes(plan.nodes.filter(isWork))
  await run.providers(plan)
  await run.hosts(plan.hosts.filter(isWork))
  return run.outcome
}

class Run {
  readonly #server: Holdfast
  readonly #options: ApplyOptions
  readonly outcome: Applied = { failures: new Map(), untried: new Set() }
  #isOver = false
  /** UUIDs of the nodes and providers that this run has created or found. */
  readonly #uuids = new Map<Step | string, string>()

  constructor(server: Holdfast, options: ApplyOptions) {
    this.#server = server
    this.#options = options
  }

  async nodes(steps: readonly NodeStep[]): Promise<void> {
    for (const step of steps) if (step.uuid !== null) this.#uuids.set(step, step.uuid)
    const busy = steps.filter(step => step.isBusy && step.patches.length > 0)
    await this.#settle(busy, () => null)
    await this.#each('writing nodes', steps, step => this.#writeNode(step))
    const travellers = this.#alive(steps.filter(hasJourney))
    await this.#settle(travellers, step => step.provisionState)
    const late = this.#alive(steps).filter(
      step => step.latePatches.length > 0 || step.startsMaintenance || step.leasable !== null,
    )
    await this.#each('finishing nodes', late, step => this.#finishNode(step), false)
  }

  #leave(steps: readonly Step[]): void {
    for (const step of steps) this.outcome.untried.add(step)
  }

  #alive = <S extends Step>(steps: readonly S[]) =>
    steps.filter(step => !this.outcome.failures.has(step) && !this.outcome.untried.has(step))

  async #settle(steps: readonly NodeStep[], wanted: (step: NodeStep) => NodeStep['provisionState']): Promise<void> {
    if (this.#isOver) this.#leave(steps)
    if (steps.length === 0 || this.#isOver) return
    const { progress, waitMs } = this.#options
    const travellers = steps.map(step => ({
      uuid: this.#uuids.get(step)!,
      wanted: wanted(step),
      inspects: step.inspects,
      arrived: () => wanted(step) !== null && progress.advance(),
      failed: (error: unknown) => this.#failed(step, error),
    }))
    progress.says('waiting for nodes')
    await settle(this.#server, travellers, {
      width: WIDTH,
      timeoutMs: waitMs,
      show: words => progress.shows(words),
    })
  }

  async #writeNode(step: NodeStep): Promise<void> {
    const { nodes, ports } = this.#server
    const uuid = step.uuid ?? (await nodes.create(step.attributes)).uuid
    this.#uuids.set(step, uuid)
    if (step.endsMaintenance) await nodes.endMaintenance(uuid)
    if (step.patches.length > 0) await nodes.update(uuid, step.patches)
    if (step.traits) await nodes.setTraits(uuid, step.traits)
    for (const port of step.newPorts) await ports.create({ ...port, node_uuid: uuid })
    for (const { uuid: port, patches } of step.changedPorts) await ports.update(port, patches)
  }

  async #finishNode(step: NodeStep): Promise<void> {
    const { nodes, leasableNodes } = this.#server
    const uuid = this.#uuids.get(step)!
    if (step.latePatches.length > 0) await nodes.update(uuid, step.latePatches)
    if (step.leasable === true) await leasableNodes.enrol(uuid)
    if (step.leasable === false) await leasableNodes.withdraw(uuid)
    if (step.startsMaintenance) await nodes.startMaintenance(uuid, step.startsMaintenance.reason ?? undefined)
  }

  async providers({ providers, newClasses, newTraits }: Plan): Promise<void> {
    const steps = providers.filter(isWork)
    if (this.#isOver || steps.length === 0) return this.#leave(steps)
    try {
      await this.#server.resourceClasses.ensure(newClasses)
      await this.#server.traits.ensure(newTraits)
    } catch (error) {
      this.#failed(steps[0]!, error)
      return this.#leave(steps.slice(1))
    }
    // Level by level, so that parents exist before their children.
    for (const level of Map.groupBy(steps, ({ depth }) => depth).values()) {
      await this.#each('writing providers', level, step => this.#writeProvider(step))
    }
  }

  async #writeProvider(step: ProviderStep): Promise<void> {
    const { providers } = this.#server
    const { name } = step
    const parent = step.parent === undefined ? {} : { parent_provider_uuid: await this.#parentUuid(step.parent) }
    if (step.uuid === null) {
      const { uuid } = await providers.create({ name, ...(step.givenUuid && { uuid: step.givenUuid }), ...parent })
      this.#uuids.set(step, uuid).set(name, uuid)
    } else if (step.isRenamed || step.parent !== undefined) await providers.update(step.uuid, { name, ...parent })
    if (!step.inventories && !step.traits && !step.aggregates) return
    const present = await providers.show(step.uuid ?? this.#uuids.get(step)!)
    const { uuid } = present
    let { generation } = present
    if (step.inventories) {
      const inventories: Record<string, Partial<NewInventory>> = { ...present.inventories }
      for (const [name, terms] of Object.entries(step.inventories))
        inventories[name] = { ...inventories[name], ...terms }
      generation = await providers.setInventories(uuid, inventories as Record<string, NewInventory>, generation)
    }
    if (step.traits) generation = await providers.setTraits(uuid, step.traits, generation)
    if (step.aggregates) await providers.setAggregates(uuid, step.aggregates, generation)
  }

  async #parentUuid(parent: string | null): Promise<string | null> {
    return parent === null ? null : (this.#uuids.get(parent) ?? (await this.#server.providers.find(parent)).uuid)
  }

  async hosts(steps: readonly HostStep[]): Promise<void> {
    const { hosts } = this.#server
    await this.#each('writing hosts', steps, async ({ id, name, capabilities }) => {
      if (id === null) await hosts.create(name, capabilities)
      else await hosts.update(id, capabilities)
    })
  }

  async #each<S extends Step>(
    words: string,
    steps: readonly S[],
    work: (step: S) => Promise<void>,
    counts = true,
  ): Promise<void> {
    if (steps.length === 0) return
    const { progress } = this.#options
    progress.says(words)
    const take = async (step: S) => {
      if (this.#isOver) return this.#leave([step])
      if (this.outcome.failures.has(step)) return
      try {
        await work(step)
      } catch (error) {
        this.#failed(step, error)
      }
      if (counts) progress.advance()
    }
    await atOnce(steps, take, { width: WIDTH })
  }

  #failed(step: Step, error: unknown): void {
    // An unexpected error is a bug, and doesn't belong in the summary.
    if (verdictOn(error) === null) throw error
    this.outcome.failures.set(step, error)
    this.#isOver ||= isFinal(error)
  }
}

/** After these errors every other request would fail too. */
const isFinal = (error: unknown) =>
  error instanceof Unreachable || (error instanceof ApiError && (error.status === 401 || error.status === 403))
