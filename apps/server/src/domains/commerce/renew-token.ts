import type { AppContext } from '../../infra/context.ts'
import { findRefusal } from '../notices/index.ts'
import { readSettings } from '../settings/index.ts'
import { checkPlatform } from './check-platform.ts'
import { accessOf, credentialsOf, openTokens } from './token.ts'
import { eraseEndedSecrets } from './webhook-secrets.ts'

/**
 * Erases former secrets of webhooks whose time is over, renews the platform's token where it is due, and asks again where what is saved was refused: the
 * app may be installed now.
 */
export async function renewToken(ctx: AppContext): Promise<void> {
  await eraseEndedSecrets(ctx)
  const settings = await readSettings(ctx.db, ctx.secrets)
  const access = accessOf(settings)
  if (access === null) return
  if (access === 'grant') await openTokens(ctx, settings).current()
  const refused = await findRefusal(ctx.db, 'platform', credentialsOf(settings))
  if (refused.length > 0) await checkPlatform(ctx)
}
