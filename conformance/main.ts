// npm run conformance: upstream's own tests against Holdfast. Placement's, or with the word `baremetal` Ironic's.
if (process.argv[2] === 'baremetal') await import('./baremetal.ts')
else await import('./run.ts')

export {}
