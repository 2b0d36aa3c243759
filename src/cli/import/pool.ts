// Does something with each of many, a few at a time.

export async function pooled<T>(items: readonly T[], width: number, work: (item: T) => Promise<void>): Promise<void> {
  const rest = items.values()
  const worker = async () => {
    for (const item of rest) await work(item)
  }
  await Promise.all(Array.from({ length: Math.min(width, items.length) }, worker))
}
