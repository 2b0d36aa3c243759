// Masks secrets in free-form fields: they are stored as given and never shown again.
import { type Json, type JsonText, jsonText, MEMBERS, shownIn, shownText } from '../../shared/json.ts'
import { MASK, SECRET_KEY, withoutUrlSecrets } from '../../shared/secret-keys.ts'

/**
 * Also masked in `instance_info`: a config drive is only for its machine, and the address of what a machine boots can be
 * all that it takes to get it.
 */
export const INSTANCE_SECRETS = {
  operators: ['configdrive'],
  others: [
    'configdrive',
    'meta_data',
    'network_data',
    'user_data',
    'vendor_data',
    'ssh_key_contents',
    'boot_iso',
    'image_source',
    'image_url',
    'kernel',
    'kernel_append_params',
    'ramdisk',
  ],
} as const

const HAS_URL = /:\/\/[^"]*[@?]/

/** JSON text with the values of secret keys and the secrets in URLs masked; text without any comes back as it is, if it can be read. */
export function masked(text: JsonText<Json>, also: readonly string[] = []): string {
  if (!SECRET_KEY.test(text) && !HAS_URL.test(text) && !also.some(key => text.includes(key))) {
    return shownText(text, MEMBERS)
  }
  return jsonText(maskIn(shownIn(text, MEMBERS), also))
}

function maskIn(value: unknown, also: readonly string[]): unknown {
  if (Array.isArray(value)) return value.map(item => maskIn(item, also))
  if (typeof value === 'string') return withoutUrlSecrets(value)
  if (typeof value !== 'object' || value === null) return value
  const isSecret = (key: string) => SECRET_KEY.test(key) || also.includes(key)
  const entries = Object.entries(value as Json).map(([key, inner]) => [key, isSecret(key) ? MASK : maskIn(inner, also)])
  return Object.fromEntries(entries)
}
