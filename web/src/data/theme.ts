// Light or dark: as the system says, until the viewer says otherwise.
import { createSignal } from 'solid-js'
import { keep, kept } from './settings.ts'

type Theme = 'light' | 'dark'

const system = matchMedia('(prefers-color-scheme: dark)')
const ofSystem = (): Theme => (system.matches ? 'dark' : 'light')
const said = kept('theme')
const [theme, setTheme] = createSignal<Theme>(said === 'light' || said === 'dark' ? said : ofSystem())
export { theme }

const show = () => (document.documentElement.dataset['theme'] = theme())
show()
system.addEventListener('change', () => {
  if (kept('theme') !== null) return
  setTheme(ofSystem())
  show()
})

export function switchTheme(): void {
  setTheme(theme() === 'dark' ? 'light' : 'dark')
  keep('theme', theme() === ofSystem() ? null : theme())
  show()
}
