// What was done, with a way back; and what was refused.
import { type Component, For, Show } from 'solid-js'
import { dismiss, toasts } from '../data/doing.ts'
import { words } from '../words.ts'
import { Icon } from './icon.tsx'

export const Toasts: Component = () => (
  <div class="toasts">
    <For each={toasts()}>
      {toast => (
        <div
          classList={{ toast: true, refused: toast.kind === 'refused' }}
          role={toast.kind === 'refused' ? 'alert' : 'status'}
        >
          <span class="grow">{toast.text}</span>
          <For each={[toast.show, toast.action]}>
            {action => (
              <Show when={action}>
                {shown => (
                  <button type="button" onClick={() => shown().act()}>
                    {shown().text}
                  </button>
                )}
              </Show>
            )}
          </For>
          <button type="button" class="icon" aria-label={words.doing.dismiss} onClick={() => dismiss(toast.id)}>
            <Icon name="cross" />
          </button>
        </div>
      )}
    </For>
  </div>
)
