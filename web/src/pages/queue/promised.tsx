// What is promised next: the leases that have not begun.
import { type Component, createEffect, createResource, For, on, onCleanup, Show } from 'solid-js'
import type { Lease } from '../../../../src/client/leases.ts'
import { left } from '../../data/clock.ts'
import { fleet } from '../../data/fleet.ts'
import { leasesAhead } from '../../data/queue.ts'
import { startOf } from '../../data/requests.ts'
import { Glyph } from '../../parts/glyph.tsx'
import { When } from '../../parts/time.tsx'
import { words } from '../../words.ts'

const PAGE = words.queue
const SHOWN_MAX = 8
/** So often at most is it asked again when machines change. */
const AGAIN_MS = 5_000

export const Promised: Component = () => {
  const [leases, { refetch }] = createResource<Lease[] | null>(() => leasesAhead().catch(() => null))
  let due: ReturnType<typeof setTimeout> | undefined
  createEffect(
    on(
      fleet.version,
      () => {
        due ??= setTimeout(() => {
          due = undefined
          void refetch()
        }, AGAIN_MS)
      },
      { defer: true },
    ),
  )
  onCleanup(() => clearTimeout(due))
  return (
    <Show when={leases.latest}>
      {found => (
        <section class="card sd" aria-labelledby="queue-promised">
          <header>
            <h2 id="queue-promised">{PAGE.promised}</h2>
            <a class="btn small quiet" href="/ui/calendar">
              {PAGE.toCalendar}
            </a>
          </header>
          <ul class="nx">
            <For each={found().slice(0, SHOWN_MAX)} fallback={<li class="dim">{PAGE.nothingPromised}</li>}>
              {lease => (
                <li>
                  <Glyph state="booked" />
                  <span class="grow cut">
                    <b class="med">{lease.name}</b>
                    <br />
                    <span class="dimmer">{whatOf(lease)}</span>
                  </span>
                  <span class="right nowrap">
                    <When at={startOf(lease)} />
                    <br />
                    <span class="dimmer">{PAGE.inTime(left(startOf(lease)))}</span>
                  </span>
                </li>
              )}
            </For>
          </ul>
          <Show when={found().length > SHOWN_MAX}>
            <p class="sp">
              <a class="dim" href="/ui/calendar">
                {PAGE.moreAhead(found().length - SHOWN_MAX)}
              </a>
            </p>
          </Show>
        </section>
      )}
    </Show>
  )
}

/** `2 gpu-a100`, `6 × 4 VCPU`, `2 hosts`. */
function whatOf({ reservations }: Lease): string {
  return reservations
    .map(one => {
      if (one['amount'] !== undefined) {
        return PAGE.slots(Number(one['amount'] ?? 1), `${Number(one['vcpus'] ?? 1)} VCPU`)
      }
      const count = Number(one['max'] ?? one['min'] ?? 1)
      const kind = one['resource_class']
      return typeof kind === 'string' ? PAGE.wants(count, kind) : PAGE.hosts(count)
    })
    .join(', ')
}
