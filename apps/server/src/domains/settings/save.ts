import { refuse, SECRET_KEPT, type Refusal, type Settings } from '@netlet/contract'
import { shopBase } from '../../integrations/shopify/index.ts'
import type { Actor } from '../../infra/actor.ts'
import { command, type Unit } from '../../infra/command.ts'
import type { AppContext } from '../../infra/context.ts'
import { lock } from '../../infra/db/locks.ts'
import { ok, type Result } from '../../infra/result.ts'
import { findGeofeedError } from './geofeed.ts'
import { isSecret, readSettings, upsertSettings } from './read.ts'

export type SettingsPorts = {
  /** Runs in the command that changes the connection to the e-commerce platform. */
  onPlatformChange(unit: Unit): Promise<unknown>
}

/** The settings as a browser may see them: a secret that is set shows as `SECRET_KEPT`. */
export function maskSecrets(settings: Settings): Settings {
  return Object.fromEntries(
    Object.entries(settings).map(([key, value]) => [key, isSecret(key) && value !== '' ? SECRET_KEPT : value])
  ) as Settings
}

/**
 * Saves what the form sends and leaves the rest. A secret that comes back masked stays as it is; an empty one is
 * deleted. Nothing is saved where any of it is wrong.
 */
export async function saveSettings(
  ctx: AppContext,
  by: Actor,
  { onPlatformChange }: SettingsPorts,
  form: Partial<Settings>
): Promise<Result<Settings>> {
  const wrong = checkSettings(form)
  if (wrong) return wrong
  return command(ctx, by, async unit => {
    const { tx } = unit
    // Two administrators who save at once: the second one's log entry shows what the first one left.
    await lock(tx, 'settings')
    const before = await readSettings(tx, ctx.secrets)
    const changes = Object.fromEntries(
      Object.entries(form).filter(
        ([key, value]) => value !== undefined && value !== before[key as keyof Settings] && !isKept(key, value)
      )
    ) as Partial<Settings>
    const keys = Object.keys(changes) as (keyof Settings)[]
    if (keys.length === 0) return ok(maskSecrets(before))
    await upsertSettings(unit, ctx.secrets, changes)
    const shown = (values: Partial<Settings>) =>
      Object.fromEntries(keys.map(key => [key, isSecret(key) ? (values[key] === '' ? '' : '[secret]') : values[key]]))
    unit.audit('settings.save', 'web', { before: shown(before), after: shown(changes) })
    if (keys.some(key => key.startsWith('shopify_'))) await onPlatformChange(unit)
    return ok(maskSecrets({ ...before, ...changes }))
  })
}

const isKept = (key: string, value: unknown) => isSecret(key) && value === SECRET_KEPT

function checkSettings(form: Partial<Settings>): Refusal | undefined {
  const errors: Record<string, string> = {}
  if (form.shopify_shop_url && !shopBase(form.shopify_shop_url))
    errors['shopify_shop_url'] = 'Must be a domain, such as my-shop.myshopify.com, or a web address'
  const geofeed = form.geofeed === undefined ? undefined : findGeofeedError(form.geofeed)
  if (geofeed) errors['geofeed'] = geofeed
  const [first] = Object.values(errors)
  return first === undefined ? undefined : refuse('invalid', { msg: first, data: { errors } })
}
