import {
  message,
  refusals,
  refuse,
  SECRET_KEPT,
  sentenceOf,
  type Refusal,
  type Settings,
  type ShownSettings
} from '@netlet/contract'
import type { Actor } from '../../infra/actor.ts'
import { command, type Unit } from '../../infra/command.ts'
import type { AppContext } from '../../infra/context.ts'
import { lock } from '../../infra/db/locks.ts'
import { formRefusal } from '../../infra/refusals.ts'
import { ok, type Result } from '../../infra/result.ts'
import { staleEdit, versionOf, type Edit } from '../../infra/version.ts'
import { checkGeofeed } from './geofeed.ts'
import { isSecret, readSettings, upsertSettings } from './read.ts'

export type SettingsPorts = {
  /** Runs in the command that changes the connection to the e-commerce platform. */
  onPlatformChange: (unit: Unit, change: { before: Settings; after: Settings }) => Promise<unknown>
}

/** The settings for a browser: secrets show as `SECRET_KEPT`, also in their version. */
export function presentSettings(settings: Settings): ShownSettings {
  const shown = maskSecrets(settings)
  return { ...shown, version: versionOf(shown) }
}

function maskSecrets(settings: Settings): Settings {
  return Object.fromEntries(
    Object.entries(settings).map(([key, value]) => [key, isSecret(key) && value !== '' ? SECRET_KEPT : value])
  ) as Settings
}

/**
 * Saves what the form contains and keeps the rest. A masked secret stays, an empty one is deleted. If any value is
 * wrong, nothing is saved.
 */
export async function saveSettings(
  ctx: AppContext,
  by: Actor,
  { onPlatformChange }: SettingsPorts,
  { version, ...form }: Edit<Partial<Settings>>
): Promise<Result<ShownSettings>> {
  const wrong = checkSettings(form)
  if (wrong) return wrong
  return command(ctx, by, async unit => {
    const { tx } = unit
    // Serializes concurrent saves, so that the second one's log entry starts from the first one's result.
    await lock(tx, 'settings')
    const before = await readSettings(tx, ctx.secrets)
    const stale = staleEdit(version, presentSettings(before), { now: maskSecrets(before), sent: form })
    if (stale) return stale
    const changes = Object.fromEntries(
      Object.entries(form).filter(
        ([key, value]) => value !== undefined && value !== before[key as keyof Settings] && !isKept(key, value)
      )
    ) as Partial<Settings>
    const unsafe = secretsAgain(before, form)
    if (unsafe) return unsafe
    if (WITHOUT_CENTS.has(changes.shop_currency ?? ''))
      return formRefusal({ shop_currency: message('must_have_cents') })
    const keys = Object.keys(changes) as (keyof Settings)[]
    if (keys.length === 0) return ok(presentSettings(before))
    await upsertSettings(unit, ctx.secrets, changes)
    const after = { ...before, ...changes }
    const shown = (values: Partial<Settings>) =>
      Object.fromEntries(keys.map(key => [key, isSecret(key) ? (values[key] === '' ? '' : '[secret]') : values[key]]))
    unit.audit('settings.save', 'web', { before: shown(before), after: shown(changes) })
    if (keys.some(key => key.startsWith('shopify_'))) await onPlatformChange(unit, { before, after })
    return ok(presentSettings(after))
  })
}

/** The platform's stored secrets are sent only to the address that they were entered for. */
function secretsAgain(before: Settings, form: Partial<Settings>): Refusal | undefined {
  const { shopify_shop_url: address = before.shopify_shop_url } = form
  if (before.shopify_shop_url === '' || address === before.shopify_shop_url) return undefined
  const kept = (['shopify_api_secret', 'shopify_app_key'] as const).filter(
    key => before[key] !== '' && (form[key] === undefined || form[key] === SECRET_KEPT)
  )
  const errors = Object.fromEntries(kept.map(key => [key, refusals.secret_of_address[1]]))
  return kept.length > 0 ? refuse('secret_of_address', { data: { errors } }) : undefined
}

/** Currencies with other decimals than two (ISO 4217): what the shop would show, round and compare is not what the platform charges. */
const WITHOUT_CENTS: ReadonlySet<string> = new Set(
  'BHD BIF CLF CLP DJF GNF IQD ISK JOD JPY KMF KRW KWD LYD OMR PYG RWF TND UGX UYI UYW VND VUV XAF XOF XPF'.split(' ')
)

const isKept = (key: string, value: unknown) => isSecret(key) && value === SECRET_KEPT

/** Checks that the schema cannot express. */
function checkSettings({ geofeed }: Partial<Settings>): Refusal | undefined {
  const wrong = geofeed === undefined ? undefined : checkGeofeed(geofeed)
  return wrong && { ...wrong, data: { errors: { geofeed: sentenceOf(wrong) } } }
}
