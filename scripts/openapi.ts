// Writes docs/openapi from the code: node scripts/openapi.ts
import { mkdirSync, writeFileSync } from 'node:fs'
import { APIS, documentBytes } from '../src/api/documents.ts'

export const FOLDER = new URL('../docs/openapi/', import.meta.url)
export const fileOf = (api: string) => new URL(`${api}.json`, FOLDER)

if (import.meta.main) {
  mkdirSync(FOLDER, { recursive: true })
  for (const api of Object.keys(APIS)) writeFileSync(fileOf(api), documentBytes(api)!)
}
