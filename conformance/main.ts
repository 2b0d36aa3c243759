// npm run conformance: upstream's own tests against Holdfast. Placement's, or with the word `baremetal` Ironic's.
await import(process.argv[2] === 'baremetal' ? './baremetal.ts' : './run.ts')
