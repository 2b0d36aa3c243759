// Query strings that /allocation_candidates and the provider list must refuse, each with the versions it is about.

export interface BadQuery {
  /** TRAIT, U and V stand for a trait and two aggregates. */
  query: string
  /** The first and last minor version that refuse it, and with which code from 1.23 on. */
  from: number
  to: number
  code: string
}

const LAST = 39
const UNDEFINED = 'placement.undefined_code'
const BAD_VALUE = 'placement.query.bad_value'
const MISSING = 'placement.query.missing_value'
const DUPLICATE = 'placement.query.duplicate_key'

function bad(from: number, to: number, code: string, ...queries: string[]): BadQuery[] {
  return queries.map(query => ({ query, from, to, code }))
}

const since = (from: number, ...queries: string[]) => bad(from, LAST, UNDEFINED, ...queries)
const until = (to: number, ...queries: string[]) => bad(10, to, UNDEFINED, ...queries)
const between = (from: number, to: number, ...queries: string[]) => bad(from, to, UNDEFINED, ...queries)

const VCPU = 'resources=VCPU:1'
const TWO = 'resources1=VCPU:1&resources2=VCPU:1'
const POLICY = 'group_policy=none'

export const BAD_CANDIDATE_QUERIES: BadQuery[] = [
  // Nothing asked for.
  ...until(35, ''),
  ...bad(36, LAST, MISSING, ''),

  // Amounts.
  ...since(
    10,
    'resources=',
    'resources=%20',
    'resources=VCPU',
    'resources=VCPU:',
    'resources=VCPU:0',
    'resources=VCPU:-1',
    'resources=VCPU:1.5',
    'resources=VCPU:one',
    'resources=VCPU:1:2',
    'resources=VCPU:1,',
    'resources=,VCPU:1',
    'resources=VCPU=1',
    'resources=:1',
  ),
  ...bad(10, LAST, DUPLICATE, 'resources=VCPU:1&resources=x'),
  ...since(25, 'resources1=', 'resources1=VCPU', 'resources1=VCPU:0', 'resources1=VCPU:x'),
  // Classes that don't exist.
  ...since(10, 'resources=CUSTOM_NOPE:1', 'resources=vcpu:1', 'resources=VCPU:1,NOPE:1'),
  ...since(25, `${VCPU}&resources1=CUSTOM_NOPE:1`),

  // Parameters that this version doesn't know, or none does.
  ...since(10, `${VCPU}&foo=1`, `${VCPU}&Limit=1`, `${VCPU}&resources.a=VCPU:1`, `${VCPU}&limit1=1`),
  ...since(10, `${VCPU}&root_required1=TRAIT`, `${VCPU}&member_of%20=U`),
  ...until(15, `${VCPU}&limit=1`),
  ...until(16, `${VCPU}&required=TRAIT`),
  ...until(20, `${VCPU}&member_of=U`),
  ...until(24, `${VCPU}&${POLICY}`, `${VCPU}&resources1=VCPU:1`, 'resources1=VCPU:1'),
  ...until(30, `${VCPU}&in_tree=U`, `${VCPU}&resources1=VCPU:1&in_tree1=U`),
  ...until(32, 'resources_A=VCPU:1', 'resourcesCOMPUTE=VCPU:1', 'resources0=VCPU:1', 'resources01=VCPU:1'),
  ...until(34, `${VCPU}&root_required=TRAIT`),
  ...until(35, 'resources1=VCPU:1&same_subtree=1'),
  ...since(33, `resources${'a'.repeat(65)}=VCPU:1`, 'resources$=VCPU:1', 'resources%C3%A9=VCPU:1'),

  // How many.
  ...since(16, ...['0', '-1', 'x', '', '1.5', '01', '%201'].map(limit => `${VCPU}&limit=${limit}`)),

  // Traits.
  ...since(17, `${VCPU}&required=`, `${VCPU}&required=TRAIT,,TRAIT`, `${VCPU}&required=,TRAIT`),
  ...since(17, `${VCPU}&required=CUSTOM_NOPE`, `${VCPU}&required=TRAIT,nope`),
  ...between(17, 21, `${VCPU}&required=!TRAIT`),
  ...since(22, `${VCPU}&required=!`, `${VCPU}&required=!CUSTOM_NOPE`),
  ...since(22, `${VCPU}&required=TRAIT,!TRAIT`, `${VCPU}&required=TRAIT,!!TRAIT`),
  ...since(25, 'resources1=VCPU:1&required1=TRAIT,!TRAIT', 'resources1=VCPU:1&required1='),
  ...between(17, 38, `${VCPU}&required=in:TRAIT,HW_CPU_X86_VMX`),
  ...since(39, `${VCPU}&required=in:`, `${VCPU}&required=in:TRAIT,`, `${VCPU}&required=in:TRAIT,!HW_CPU_X86_VMX`),
  ...since(39, `${VCPU}&required=in:TRAIT,CUSTOM_NOPE`, `${VCPU}&required=TRAIT&required=!TRAIT`),
  ...since(39, `${VCPU}&required=in:TRAIT,HW_CPU_X86_VMX&required=!TRAIT,!HW_CPU_X86_VMX`),
  ...since(39, `${VCPU}&required=&required=TRAIT`),

  // Aggregates.
  ...since(21, `${VCPU}&member_of=`, `${VCPU}&member_of=x`, `${VCPU}&member_of=U,V`, `${VCPU}&member_of=in:`),
  ...since(21, `${VCPU}&member_of=in:U,x`, `${VCPU}&member_of=in:U,`, `${VCPU}&member_of=in:U,!V`),
  ...since(21, `${VCPU}&member_of=in:!U`, `${VCPU}&member_of=!!U`, `${VCPU}&member_of=!x`, `${VCPU}&member_of=!U,V`),
  ...between(21, 23, `${VCPU}&member_of=U&member_of=V`),
  ...between(21, 31, `${VCPU}&member_of=!U`, `${VCPU}&member_of=!in:U,V`),
  ...since(25, 'resources1=VCPU:1&member_of1=x', 'resources1=VCPU:1&member_of1=U,V'),

  // Trees.
  ...since(31, `${VCPU}&in_tree=`, `${VCPU}&in_tree=x`, 'resources1=VCPU:1&in_tree1=in:U'),

  // Groups.
  ...since(25, `${VCPU}&group_policy=`, `${VCPU}&group_policy=some`, `${TWO}&group_policy=NONE`),
  ...since(25, TWO, `${VCPU}&${TWO}`),
  ...between(25, 35, 'resources1=VCPU:1&required2=TRAIT', 'resources1=VCPU:1&member_of2=U'),
  ...between(25, 35, 'resources1=VCPU:1&required=TRAIT', 'required=TRAIT', 'required1=TRAIT', POLICY),
  ...between(31, 35, 'resources1=VCPU:1&in_tree2=U', 'in_tree=U'),
  ...bad(36, LAST, BAD_VALUE, `resources1=VCPU:1&required2=TRAIT&${POLICY}`, 'resources1=VCPU:1&member_of2=U'),
  ...bad(36, LAST, BAD_VALUE, 'resources1=VCPU:1&in_tree2=U', 'resources1=VCPU:1&required=TRAIT'),
  ...bad(36, LAST, MISSING, 'required=TRAIT', 'required1=TRAIT&same_subtree=1', 'member_of=U', POLICY),

  // The root.
  ...bad(35, LAST, DUPLICATE, `${VCPU}&root_required=TRAIT&root_required=HW_CPU_X86_VMX`),
  ...bad(35, LAST, BAD_VALUE, `${VCPU}&root_required=TRAIT,!TRAIT`),
  ...since(35, `${VCPU}&root_required=`, `${VCPU}&root_required=TRAIT,`, `${VCPU}&root_required=!`),
  ...since(35, `${VCPU}&root_required=in:TRAIT`, `${VCPU}&root_required=CUSTOM_NOPE`),
  ...since(35, `${VCPU}&root_required=!CUSTOM_NOPE`),

  // Subtrees.
  ...bad(36, LAST, BAD_VALUE, `${TWO}&${POLICY}&same_subtree=1,3`, `${TWO}&${POLICY}&same_subtree=`),
  ...bad(36, LAST, BAD_VALUE, `${TWO}&${POLICY}&same_subtree=1,`, `${TWO}&${POLICY}&same_subtree=1,2&same_subtree=x`),
  ...bad(36, LAST, BAD_VALUE, `${TWO}&required3=TRAIT&${POLICY}&same_subtree=1,2`),
]

export const BAD_LIST_QUERIES: BadQuery[] = [
  ...bad(0, LAST, UNDEFINED, 'foo=1', 'uuid=x', 'limit=1', 'resources1=VCPU:1'),
  ...bad(0, 2, UNDEFINED, 'member_of=U'),
  ...bad(0, 3, UNDEFINED, VCPU),
  ...bad(0, 13, UNDEFINED, 'in_tree=U'),
  ...bad(0, 17, UNDEFINED, 'required=TRAIT'),
  ...since(3, 'member_of=', 'member_of=x', 'member_of=U,V', 'member_of=in:U,x', 'member_of=in:U,!V', 'member_of=in:!U'),
  ...bad(3, 23, UNDEFINED, 'member_of=U&member_of=V'),
  ...bad(3, 31, UNDEFINED, 'member_of=!U', 'member_of=!in:U,V'),
  ...since(4, 'resources=', 'resources=VCPU', 'resources=VCPU:0', 'resources=VCPU:x', 'resources=VCPU:1,'),
  ...since(4, 'resources=CUSTOM_NOPE:1'),
  ...since(14, 'in_tree=x', 'in_tree='),
  ...since(18, 'required=', 'required=TRAIT,,TRAIT', 'required=CUSTOM_NOPE'),
  ...bad(18, 21, UNDEFINED, 'required=!TRAIT'),
  ...bad(18, 38, UNDEFINED, 'required=in:TRAIT,HW_CPU_X86_VMX'),
  ...since(39, 'required=in:', 'required=in:TRAIT,', 'required=in:!TRAIT'),
]
