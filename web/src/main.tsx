import './look/tokens.css'
import './look/base.css'
import './look/parts.css'
import './look/shell.css'
import './data/theme.ts'
import { render } from 'solid-js/web'
import { tell } from './data/doing.ts'
import { words } from './words.ts'

/** Times are reckoned with Temporal, which some browsers don't have yet. */
async function start(): Promise<void> {
  if (!('Temporal' in globalThis)) await import('temporal-polyfill/global')
  const { App } = await import('./app.tsx')
  render(() => <App />, document.querySelector('#app')!)
}

// A page that isn't there any more: the server has a newer dashboard than this browser.
addEventListener('vite:preloadError', () => {
  tell({
    text: words.shell.newVersion,
    kind: 'refused',
    action: { text: words.shell.reload, act: () => location.reload() },
  })
})

void start()
