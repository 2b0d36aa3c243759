// A button with a list of things to do.
import { type Component, createSignal, For, type JSX, Show } from 'solid-js'
import { Popover } from './popover.tsx'

export interface MenuItem {
  text: string
  act: () => void
  isDangerous?: boolean
  /** Why it can't be done now. */
  whyNot?: string | null
}

interface MenuProps {
  label: string
  face: JSX.Element
  class?: string
  /** -1 where arrow keys lead to it, such as in rows. */
  tabindex?: number
  items: readonly MenuItem[]
}

export const Menu: Component<MenuProps> = props => {
  const [isOpen, setIsOpen] = createSignal(false)
  let button!: HTMLButtonElement
  const choose = (item: MenuItem) => {
    if (item.whyNot) return
    setIsOpen(false)
    item.act()
  }
  const move = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (step === undefined) return
    event.preventDefault()
    const all = [...(event.currentTarget as HTMLElement).querySelectorAll('button')]
    const at = all.indexOf(document.activeElement as HTMLButtonElement)
    all.at((at + step) % all.length)?.focus()
  }
  return (
    <>
      <button
        ref={button}
        type="button"
        class={props.class ?? 'icon'}
        tabindex={props.tabindex}
        aria-haspopup="menu"
        aria-expanded={isOpen()}
        onClick={() => setIsOpen(!isOpen())}
      >
        <span class="vh">{props.label}</span>
        <span class="menu-face" aria-hidden="true">
          {props.face}
        </span>
      </button>
      <Show when={isOpen()}>
        <Popover anchor={button} label={props.label} close={() => setIsOpen(false)} takesFocus class="menu">
          <ul role="menu" onKeyDown={move}>
            <For each={props.items}>
              {item => (
                <li role="none">
                  <button
                    type="button"
                    role="menuitem"
                    classList={{ danger: item.isDangerous ?? false }}
                    aria-disabled={item.whyNot ? true : undefined}
                    title={item.whyNot ?? undefined}
                    onClick={() => choose(item)}
                  >
                    {item.text}
                    <Show when={item.whyNot}>
                      <span class="dimmer">{item.whyNot}</span>
                    </Show>
                  </button>
                </li>
              )}
            </For>
          </ul>
        </Popover>
      </Show>
    </>
  )
}
