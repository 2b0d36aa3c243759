import type { Component } from 'solid-js'
import { fleet } from '../../data/fleet.ts'

const Capacity: Component = () => (
  <div class="page p-capacity">
    <h1>Capacity</h1>
    <p>{fleet.machines().length}</p>
  </div>
)

export default Capacity
