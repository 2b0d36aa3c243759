// The sheets and questions about machines, shown by the shell when something is asked.
import { type Component, Match, Switch } from 'solid-js'
import { asked, closeAsked, type Asked } from './asked.ts'
import { EndQuestion } from './end-question.tsx'
import { ExtendSheet } from './extend-sheet.tsx'
import { DeleteQuestion, PowerQuestion, ProvisionQuestion, Report } from './questions.tsx'
import { MaintenanceSheet, NoteSheet, PurposeSheet, TraitsSheet } from './text-sheets.tsx'

const VerbSheets: Component = () => {
  const about = <What extends Asked['what']>(what: What) => {
    const question = asked()
    return question?.what === what ? (question as Extract<Asked, { what: What }>) : null
  }
  return (
    <Switch>
      <Match when={about('extend')} keyed>
        {({ machines, byMs }) => <ExtendSheet machines={machines} byMs={byMs} close={closeAsked} />}
      </Match>
      <Match when={about('end')} keyed>
        {({ machines }) => <EndQuestion machines={machines} close={closeAsked} />}
      </Match>
      <Match when={about('maintenance')} keyed>
        {({ machines }) => <MaintenanceSheet machines={machines} close={closeAsked} />}
      </Match>
      <Match when={about('note')} keyed>
        {({ machines }) => <NoteSheet machines={machines} close={closeAsked} />}
      </Match>
      <Match when={about('purpose')} keyed>
        {({ machines }) => <PurposeSheet machines={machines} close={closeAsked} />}
      </Match>
      <Match when={about('traits')} keyed>
        {({ machines }) => <TraitsSheet machines={machines} close={closeAsked} />}
      </Match>
      <Match when={about('delete')} keyed>
        {({ machines }) => <DeleteQuestion machines={machines} close={closeAsked} />}
      </Match>
      <Match when={about('provision')} keyed>
        {({ machines, verb }) => <ProvisionQuestion machines={machines} verb={verb} close={closeAsked} />}
      </Match>
      <Match when={about('power')} keyed>
        {({ machines, target }) => <PowerQuestion machines={machines} target={target} close={closeAsked} />}
      </Match>
      <Match when={about('report')} keyed>
        {({ title, failed }) => <Report title={title} failed={failed} close={closeAsked} />}
      </Match>
    </Switch>
  )
}

export default VerbSheets
