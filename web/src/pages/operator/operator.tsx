// Operator: is it well, what needs a person, who changed what.
import './operator.css'
import { type Component, createMemo, Show } from 'solid-js'
import { fleet } from '../../data/fleet.ts'
import { Empty } from '../../parts/empty.tsx'
import { words } from '../../words.ts'
import { Audit } from './audit.tsx'
import { FailedMachines } from './failed.tsx'
import { createHealth, HealthCards } from './health.tsx'
import { InMaintenance } from './maintenance.tsx'
import { Quotas } from './quotas.tsx'

const Operator: Component = () => (
  <Show when={fleet.isLoaded()}>
    <Show when={fleet.me().may.includes('see health')} fallback={<Empty title={words.operator.notYours} />}>
      <Page />
    </Show>
  </Show>
)

const Page: Component = () => {
  const health = createHealth()
  const failed = createMemo(() => fleet.machines().filter(({ state }) => state === 'broken').length)
  return (
    <div class="page p-operator">
      <div class="oh">
        <h1>{words.operator.sentence(health.troubles(), failed())}</h1>
        <span class="grow" />
        <button type="button" class="btn" disabled={health.isChecking()} onClick={() => void health.check()}>
          {words.operator.runFsck}
        </button>
        <a class="btn" href="/ui/reference">
          {words.operator.reference}
        </a>
      </div>
      <HealthCards health={health} />
      <div class="cols">
        <div class="lc">
          <FailedMachines />
          <InMaintenance />
        </div>
        <div class="lc">
          <Audit />
          <Quotas />
        </div>
      </div>
    </div>
  )
}

export default Operator
