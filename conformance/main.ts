// npm run conformance: upstream's own tests against Holdfast. Placement's, with the word `baremetal` Ironic's, with `nova`
// a whole Nova.
const SUITES = { baremetal: './baremetal.ts', nova: './nova.ts' }
await import(SUITES[process.argv[2] as keyof typeof SUITES] ?? './run.ts')
