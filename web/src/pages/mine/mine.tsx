import type { Component } from 'solid-js'
import { fleet } from '../../data/fleet.ts'

const Mine: Component = () => (
  <div class="page p-mine">
    <h1>Mine</h1>
    <p>{fleet.machines().length}</p>
  </div>
)

export default Mine
