// The list of keys that work here, and the switch that turns single keys off.
import { type Component, For } from 'solid-js'
import { areKeysOn, keyGroups, switchKeys } from '../data/keys.ts'
import { Sheet } from '../parts/sheet.tsx'
import { words } from '../words.ts'

export const KeyList: Component<{ close: () => void }> = props => (
  <Sheet title={words.keys.title} at="middle" close={props.close}>
    <label>
      <input type="checkbox" checked={areKeysOn()} onChange={switchKeys} /> {words.keys.off}
    </label>
    <p class="dimmer">{words.keys.offWhy}</p>
    <For each={keyGroups()}>
      {group => (
        <section>
          <h3>{group.title}</h3>
          <dl class="key-list">
            <For each={group.keys.filter(key => key.words !== null)}>
              {key => (
                <>
                  <dt>
                    <For each={key.keys.split(' ')}>
                      {one => <kbd>{one.length === 1 ? one.toUpperCase() : one}</kbd>}
                    </For>
                  </dt>
                  <dd>{key.words}</dd>
                </>
              )}
            </For>
          </dl>
        </section>
      )}
    </For>
  </Sheet>
)
