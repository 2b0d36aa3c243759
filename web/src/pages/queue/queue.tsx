import type { Component } from 'solid-js'
import { fleet } from '../../data/fleet.ts'

const Queue: Component = () => (
  <div class="page p-queue">
    <h1>Queue</h1>
    <p>{fleet.machines().length}</p>
  </div>
)

export default Queue
