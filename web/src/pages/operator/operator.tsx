import type { Component } from 'solid-js'
import { fleet } from '../../data/fleet.ts'

const Operator: Component = () => (
  <div class="page p-operator">
    <h1>Operator</h1>
    <p>{fleet.machines().length}</p>
  </div>
)

export default Operator
