// Masks secrets in free-form fields: they are stored as given and never shown again.
import { type Json, jsonIn, jsonText, type JsonText } from '../../shared/json.ts'
import { SECRET_KEY } from '../../shared/secret-keys.ts'

const MASK = '******'

/** Also masked in `instance_info`: a config drive is only for its machine, and an image's URL can give access to it. */
export const INSTANCE_SECRETS = {
  operators: ['configdrive'],
  others: ['configdrive', 'image_url', 'boot_iso', 'ssh_key_contents'],
} as const

/** JSON text with the values of secret keys masked; text without any comes back as it is. */
export function masked(text: JsonText<Json>, also: readonly string[] = []): string {
  if (!SECRET_KEY.test(text) && !also.some(key => text.includes(key))) return text
  return jsonText(maskIn(jsonIn(text), also))
}

function maskIn(value: unknown, also: readonly string[]): unknown {
  if (Array.isArray(value)) return value.map(item => maskIn(item, also))
  if (typeof value !== 'object' || value === null) return value
  const isSecret = (key: string) => SECRET_KEY.test(key) || also.includes(key)
  const entries = Object.entries(value as Json).map(([key, inner]) => [key, isSecret(key) ? MASK : maskIn(inner, also)])
  return Object.fromEntries(entries)
}
