// A terminal of plain text. A full one would need styles inside the page, which its security policy doesn't take.
import { type Component, createSignal, onCleanup, onMount, Show } from 'solid-js'
import { openConsole, type OpenConsole } from '../../data/console.ts'
import { bytesOf, ConsoleScreen } from '../../data/console-screen.ts'
import { words } from '../../words.ts'

const Terminal: Component<{ uuid: string; name: string }> = props => {
  const screen = new ConsoleScreen()
  const [text, setText] = createSignal('')
  const [said, setSaid] = createSignal<string>(words.machine.console.opening)
  const [found, setFound] = createSignal<OpenConsole | undefined>()
  let isOver = false
  let box: HTMLDivElement | undefined

  const shown = (bytes: ArrayBuffer) => {
    screen.print(bytes)
    setText(screen.text)
    if (box) box.scrollTop = box.scrollHeight
  }
  const stream = () => {
    const console = found()
    return console?.kind === 'stream' ? console : null
  }
  onMount(async () => {
    try {
      const ended = (why: string) => setSaid(words.machine.console.ended(why))
      const opened = await openConsole(props.uuid, { shown, told: setSaid, ended })
      setFound(() => opened)
      if (opened === null) setSaid(words.machine.console.none)
      if (opened?.kind === 'link') setSaid('')
      if (isOver) stream()?.close()
      else box?.focus()
    } catch (error) {
      setSaid(error instanceof Error ? error.message : String(error))
    }
  })
  onCleanup(() => {
    isOver = true
    stream()?.close()
  })
  const press = (event: KeyboardEvent) => {
    if (event.ctrlKey && event.key === ']') {
      event.preventDefault()
      box?.closest('section')?.querySelector('button')?.focus()
      return
    }
    const bytes = bytesOf(event)
    if (bytes === null) return
    event.preventDefault()
    stream()?.type(bytes)
  }
  const paste = (event: ClipboardEvent) => {
    event.preventDefault()
    stream()?.type((event.clipboardData?.getData('text') ?? '').replaceAll(/\r?\n/g, '\r'))
  }
  const link = () => {
    const console = found()
    return console?.kind === 'link' ? console.url : null
  }
  return (
    <>
      <Show when={stream()}>
        <div
          ref={element => (box = element)}
          class="terminal"
          role="textbox"
          tabindex="0"
          aria-multiline="true"
          aria-label={words.machine.console.label(props.name)}
          aria-description={words.machine.console.help}
          on:keydown={press}
          on:paste={paste}
        >
          {text()}
          <span class="cursor"> </span>
        </div>
        <p class="dimmer">{words.machine.console.help}</p>
      </Show>
      <Show when={link()}>
        {href => (
          <p>
            <a class="btn small" href={href()} target="_blank" rel="noopener noreferrer">
              {words.machine.console.link}
            </a>
          </p>
        )}
      </Show>
      <p class="dim" role="status">
        {said()}
      </p>
    </>
  )
}

export default Terminal
