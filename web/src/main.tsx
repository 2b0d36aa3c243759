import './look/tokens.css'
import './look/base.css'
import './look/parts.css'
import './look/shell.css'
import './data/theme.ts'
import { render } from 'solid-js/web'

/** Times are reckoned with Temporal, which some browsers don't have yet. */
async function start(): Promise<void> {
  if (!('Temporal' in globalThis)) await import('temporal-polyfill/global')
  const { App } = await import('./app.tsx')
  render(() => <App />, document.querySelector('#app')!)
}

void start()
