// Mutants of TypeScript by rule: each is one change of the text, found in its syntax tree.
import { parseAst } from 'vite'
import { sqlChanges } from './sql-rules.ts'

/** One change of a text. */
export interface Change {
  rule: string
  start: number
  from: string
  to: string
}

interface Node {
  type: string
  start: number
  end: number
  [part: string]: unknown
}

const SWAPPED: Record<string, string> = {
  '<': '<=',
  '<=': '<',
  '>': '>=',
  '>=': '>',
  '===': '!==',
  '!==': '===',
  '+': '-',
  '-': '+',
  '*': '/',
  '/': '*',
  '%': '*',
  '&&': '||',
  '||': '&&',
  '+=': '-=',
  '-=': '+=',
  '++': '--',
  '--': '++',
}

const OTHER_METHOD: Record<string, string> = {
  some: 'every',
  every: 'some',
  min: 'max',
  max: 'min',
  floor: 'ceil',
  ceil: 'floor',
  startsWith: 'endsWith',
  endsWith: 'startsWith',
  innerJoin: 'leftJoin',
  leftJoin: 'innerJoin',
  union: 'intersection',
  intersection: 'union',
}

/** What a chain does without: a filter, an order, a guard in SQL. Locks are left out: what they are for only a race shows. */
const DROPPED = new Set(
  ['filter', 'toSorted', 'sort', 'toReversed', 'slice', 'trim', 'toLowerCase'].concat([
    'where',
    'whereRef',
    'having',
    'limit',
    'orderBy',
    'distinct',
    'onConflict',
  ]),
)

/** Comparisons that Kysely takes as text. */
const OTHER_COMPARISON: Record<string, string> = {
  '<': '<=',
  '<=': '<',
  '>': '>=',
  '>=': '>',
  '=': '!=',
  '!=': '=',
  is: 'is not',
  'is not': 'is',
  in: 'not in',
  'not in': 'in',
}
const COMPARES = new Set(['where', 'whereRef', 'having', 'on', 'onRef', 'when', 'eb', 'filterWhere', 'and', 'or'])

/** Types say nothing at run time, but for what wraps a value. */
const WRAPPERS = new Set(['TSAsExpression', 'TSNonNullExpression', 'TSSatisfiesExpression'])

const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && typeof (value as Node).type === 'string'

const partsOf = (node: Node): Node[] =>
  Object.values(node)
    .flatMap(value => (Array.isArray(value) ? (value as unknown[]) : [value]))
    .filter(isNode)

const isText = (node: Node): boolean =>
  node.type === 'TemplateLiteral' ||
  (node.type === 'Literal' && typeof node['value'] === 'string') ||
  (node.type === 'BinaryExpression' && node['operator'] === '+' && partsOf(node).some(isText))

/** Every change that a rule makes of this source, in the order of the text. */
export function changesOf(text: string): Change[] {
  const found: Change[] = []
  const add = (rule: string, start: number, from: string, to: string) => found.push({ rule, start, from, to })
  const textOf = ({ start, end }: Node) => text.slice(start, end)
  const replace = (rule: string, node: Node, to: string) => add(rule, node.start, textOf(node), to)
  const swapOperator = (node: Node, left: Node) => {
    const operator = node['operator'] as string
    const to = SWAPPED[operator]
    if (to !== undefined) add('operator', text.indexOf(operator, left.end), operator, to)
  }

  const rules: Record<string, (node: Node, parent: Node) => void> = {
    BinaryExpression(node) {
      if (!partsOf(node).some(isText) || node['operator'] !== '+') swapOperator(node, node['left'] as Node)
    },
    LogicalExpression(node) {
      const left = node['left'] as Node
      if (node['operator'] === '??') replace('no fallback', node, textOf(left))
      else swapOperator(node, left)
    },
    UnaryExpression(node) {
      if (node['operator'] === '!') add('not', node.start, '!', '')
    },
    UpdateExpression(node) {
      const operator = node['operator'] as string
      const start = node['prefix'] ? node.start : node.end - operator.length
      add('operator', start, operator, SWAPPED[operator]!)
    },
    AssignmentExpression(node) {
      if (!isText(node['right'] as Node)) swapOperator(node, node['left'] as Node)
    },
    ConditionalExpression(node) {
      const [a, b] = [node['consequent'] as Node, node['alternate'] as Node]
      const to = `${text.slice(node.start, a.start)}${textOf(b)}${text.slice(a.end, b.start)}${textOf(a)}`
      replace('branches', node, `${to}${text.slice(b.end, node.end)}`)
    },
    IfStatement(node) {
      const test = node['test'] as Node
      replace('never', test, 'false')
      replace('always', test, 'true')
    },
    ExpressionStatement(node) {
      const isSuper = /^super\b/.test(textOf(node))
      if (node['directive'] == null && !isSuper) replace('no statement', node, ';')
    },
    ThrowStatement: node => replace('no statement', node, ';'),
    ContinueStatement: node => replace('no statement', node, ';'),
    BreakStatement(node, parent) {
      if (parent.type !== 'SwitchCase') replace('no statement', node, ';')
    },
    ReturnStatement(node, parent) {
      if (node['argument'] === null && parent.type === 'BlockStatement') replace('no statement', node, ';')
    },
    Literal(node, parent) {
      if (parent['key'] === node) return
      const { value } = node
      if (typeof value === 'boolean') replace('constant', node, String(!value))
      if (typeof value === 'number' && Number.isSafeInteger(value)) replace('constant', node, String(value + 1))
    },
    CallExpression(node) {
      const callee = node['callee'] as Node
      const isMember = callee.type === 'MemberExpression' && !callee['computed']
      const method = isMember ? (callee['property'] as Node) : callee
      const name = textOf(method)
      const other = OTHER_METHOD[name]
      if (isMember && other !== undefined && Object.hasOwn(OTHER_METHOD, name)) replace('method', method, other)
      if (isMember && DROPPED.has(name)) {
        const dot = text.lastIndexOf('.', method.start)
        const start = text[dot - 1] === '?' ? dot - 1 : dot
        add('no call', start, text.slice(start, node.end), '')
      }
      const [, comparison] = node['arguments'] as Node[]
      if (COMPARES.has(name) && comparison?.type === 'Literal') {
        const to = OTHER_COMPARISON[comparison['value'] as string]
        if (to !== undefined) replace('comparison', comparison, `'${to}'`)
      }
      // What an update writes: without one of its columns.
      if (isMember && (name === 'set' || name === 'doUpdateSet')) {
        for (const written of node['arguments'] as Node[]) {
          if (written.type !== 'ObjectExpression') continue
          for (const one of written['properties'] as Node[]) replace('no column', one, '...{}')
        }
      }
    },
    TaggedTemplateExpression(node) {
      if (!/^sql\b/.test(textOf(node['tag'] as Node))) return
      for (const quasi of (node['quasi'] as Node)['quasis'] as Node[]) {
        for (const change of sqlChanges(textOf(quasi))) found.push({ ...change, start: quasi.start + change.start })
      }
    },
  }

  const walk = (node: Node, parent: Node): void => {
    if (node.type === 'ImportDeclaration' || (node.type.startsWith('TS') && !WRAPPERS.has(node.type))) return
    if (Object.hasOwn(rules, node.type)) rules[node.type]!(node, parent)
    for (const part of partsOf(node)) walk(part, node)
  }
  const program = parseAst(text, { lang: 'ts' }) as unknown as Node
  walk(program, program)
  return found.toSorted((a, b) => a.start - b.start)
}
