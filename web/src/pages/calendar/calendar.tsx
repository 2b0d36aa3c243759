import type { Component } from 'solid-js'
import { fleet } from '../../data/fleet.ts'

const Calendar: Component = () => (
  <div class="page p-calendar">
    <h1>Calendar</h1>
    <p>{fleet.machines().length}</p>
  </div>
)

export default Calendar
