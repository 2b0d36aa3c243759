// What ends next, with what helps.
import { type Component, Show } from 'solid-js'
import type { Machine } from '../../../../src/client/status.ts'
import { left, utc, when } from '../../data/clock.ts'
import { machineHref } from '../../data/machine-href.ts'
import { Glyph } from '../../parts/glyph.tsx'
import { actionOf } from '../../parts/verbs/actions.ts'
import { ask } from '../../parts/verbs/asked.ts'
import { extendNow } from '../../parts/verbs/extend-now.ts'
import { words } from '../../words.ts'

const HOUR_MS = 3_600_000

export const Hero: Component<{ machine: Machine }> = props => {
  const extend = () => actionOf('extend', props.machine)
  const release = () => actionOf('release', props.machine)
  const until = () => props.machine.until ?? ''
  return (
    <section class="hero card">
      <div class="hl">
        <Glyph state="taken" />
        <div>
          <p class="dimmer">{words.mine.endsNext}</p>
          <p>
            <b class="strong">{props.machine.what ?? props.machine.name}</b> {words.mine.on}{' '}
            <a class="mono" href={machineHref(props.machine)}>
              {props.machine.name ?? props.machine.uuid}
            </a>
          </p>
        </div>
      </div>
      <p class="cd" title={`${when(until())}, ${utc(until())}`}>
        {left(until())}
      </p>
      <div class="ha">
        <Show when={extend()}>
          {action => (
            <>
              <button
                type="button"
                class="btn primary"
                disabled={action().whyNot !== null}
                onClick={() => void extendNow(props.machine, 4 * HOUR_MS)}
              >
                {words.verbs.plus4h}
              </button>
              <button
                type="button"
                class="btn"
                disabled={action().whyNot !== null}
                onClick={() => void extendNow(props.machine, 24 * HOUR_MS)}
              >
                {words.verbs.plus1d}
              </button>
              <button
                type="button"
                class="btn"
                disabled={action().whyNot !== null}
                onClick={() => ask({ what: 'extend', machines: [props.machine], byMs: 'until' })}
              >
                {words.verbs.until}
              </button>
            </>
          )}
        </Show>
        <Show when={release()}>
          {action => (
            <button
              type="button"
              class="btn quiet danger"
              disabled={action().whyNot !== null}
              onClick={() => action().act()}
            >
              {action().text}
            </button>
          )}
        </Show>
      </div>
    </section>
  )
}
