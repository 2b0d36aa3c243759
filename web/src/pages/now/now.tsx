import type { Component } from 'solid-js'
import { fleet } from '../../data/fleet.ts'

const Now: Component = () => (
  <div class="page p-now">
    <h1>Now</h1>
    <p>{fleet.machines().length}</p>
  </div>
)

export default Now
