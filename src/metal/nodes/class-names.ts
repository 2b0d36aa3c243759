// The resource class that a node has in Placement.

/** Upper case, other characters to _: `gpu-a` and `gpu.a` share a class there. */
export function placementClass(resourceClass: string | null): string {
  const name = (resourceClass ?? 'node').toUpperCase().replaceAll(/[^A-Z0-9_]/g, '_')
  return `CUSTOM_${name}`
}
