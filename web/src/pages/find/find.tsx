// Find: a machine, a person, a booking, from anywhere.
import type { Component } from 'solid-js'
import { Sheet } from '../../parts/sheet.tsx'
import { words } from '../../words.ts'

export const Find: Component<{ close: () => void }> = props => (
  <Sheet title={words.shell.find} at="middle" close={props.close}>
    <p />
  </Sheet>
)
