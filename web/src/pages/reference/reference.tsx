import type { Component } from 'solid-js'
import { fleet } from '../../data/fleet.ts'

const Reference: Component = () => (
  <div class="page p-reference">
    <h1>Reference</h1>
    <p>{fleet.machines().length}</p>
  </div>
)

export default Reference
