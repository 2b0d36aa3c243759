import type { Component } from 'solid-js'
import { fleet } from '../../data/fleet.ts'

const Machine: Component = () => (
  <div class="page p-machine">
    <h1>Machine</h1>
    <p>{fleet.machines().length}</p>
  </div>
)

export default Machine
