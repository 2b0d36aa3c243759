// The report of a bench, and how it is printed: the measurements, the limits to compare them with, and the goals.

export interface Goal {
  text: string
  value: number
  atLeast: number
}

export interface Table {
  columns: string[]
  rows: (string | number)[][]
}

export interface Report {
  title: string
  measured: Table
  limits: Table
  goals: Goal[]
  /** Wrong answers or a broken ledger: then the numbers can't be trusted. And what the guard found to be slower. */
  faults: string[]
}

export function formatReport(report: Report, markdown: boolean): string {
  const goals: Table = {
    columns: ['goal', 'measured', 'at least', ''],
    rows: report.goals.map(({ text, value, atLeast }) => [
      text,
      value.toFixed(2),
      atLeast.toFixed(2),
      value >= atLeast ? 'met' : 'missed',
    ]),
  }
  const tables = [report.measured, report.limits, goals].filter(table => table.rows.length > 0)
  return [
    markdown ? `## ${report.title}` : report.title,
    ...tables.map(markdown ? markdownTable : textTable),
    ...report.faults.map(fault => `FAULT: ${fault}`),
  ].join('\n\n')
}

/** 12345.6 → 12,346; small numbers keep their decimals. */
export function figure(value: number): string {
  if (value >= 100) return Math.round(value).toLocaleString('en-US')
  return value >= 10 ? value.toFixed(1) : value.toFixed(2)
}

function textTable({ columns, rows }: Table): string {
  const cells = [columns, ...rows.map(row => row.map(String))]
  const widths = columns.map((_, at) => Math.max(...cells.map(row => row[at]?.length ?? 0)))
  // Words are aligned left, numbers right.
  const pad = (cell: string, at: number) => (at === 0 ? cell.padEnd(widths[at] ?? 0) : cell.padStart(widths[at] ?? 0))
  const line = (row: string[]) => row.map(pad).join('  ').trimEnd()
  return [line(columns), line(widths.map(width => '-'.repeat(width))), ...cells.slice(1).map(line)].join('\n')
}

function markdownTable({ columns, rows }: Table): string {
  const rule = columns.map((_, at) => (at === 0 ? '---' : '---:'))
  return [columns, rule, ...rows].map(row => `| ${row.join(' | ')} |`).join('\n')
}
