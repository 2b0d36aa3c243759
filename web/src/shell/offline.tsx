// Says that the connection is lost, since when, and when it is tried again; and that there is a newer dashboard.
import { type Component, Show } from 'solid-js'
import { second, wallTime } from '../data/clock.ts'
import { liveness, reconnect } from '../data/live.ts'
import { isNewer, useNewer } from '../data/newer.ts'
import { Icon } from '../parts/icon.tsx'
import { words } from '../words.ts'

export const Offline: Component = () => {
  useNewer()
  const lost = () => {
    const found = liveness()
    return found.state === 'lost' ? found : null
  }
  const refused = () => {
    const found = liveness()
    return found.state === 'refused' ? found : null
  }
  const seconds = (retryAt: number) => Math.max(0, Math.ceil((retryAt - second()) / 1_000))
  return (
    <>
      <Show when={lost()}>
        {found => (
          <div class="offline" role="alert">
            <Icon name="warn" />
            <span class="grow">
              <b>{words.shell.notLiveSince(wallTime(found().since))}</b> {words.shell.trueThen}{' '}
              <span aria-hidden="true">{words.shell.tryingIn(seconds(found().retryAt))}</span>
            </span>
            <button type="button" class="btn small" onClick={reconnect}>
              {words.shell.tryNow}
            </button>
          </div>
        )}
      </Show>
      <Show when={refused()}>
        {found => (
          <div class="offline" role="alert">
            <Icon name="warn" />
            <span class="grow">{found().reason}</span>
            <button type="button" class="btn small" onClick={reconnect}>
              {words.shell.tryAgain}
            </button>
          </div>
        )}
      </Show>
      <Show when={isNewer()}>
        <div class="offline" role="status">
          <Icon name="warn" />
          <span class="grow">{words.shell.newVersion}</span>
          <button type="button" class="btn small" onClick={() => location.reload()}>
            {words.shell.reload}
          </button>
        </div>
      </Show>
    </>
  )
}
