// Whether what a page shows is what a command printed: `…` stands for anything, ids and times are compared by their form.
const UUID = '[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}'
const INSTANT = String.raw`\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d)?(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)?`
const FORMS = [UUID, INSTANT]

/** Spaces count as one; in JSON they count for nothing. */
export function isAsShown(shown: string, printed: string, language: string): boolean {
  const spaces = language === 'json' ? '' : ' '
  const level = (text: string) => text.trim().replaceAll(/[\s─]+/g, spaces)
  return new RegExp(`^${patternOf(level(shown))}$`, 's').test(level(printed))
}

function patternOf(shown: string): string {
  const special = new RegExp(`(${FORMS.join('|')}|…)`)
  return shown
    .split(special)
    .map(part => {
      if (part === '…') return '.*?'
      return FORMS.find(form => new RegExp(`^${form}$`).test(part)) ?? RegExp.escape(part)
    })
    .join('')
}
