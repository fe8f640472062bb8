import type { AppContext } from '../../infra/context.ts'
import { findRefusal } from '../notices/index.ts'
import { readSettings } from '../settings/index.ts'
import { checkPlatform } from './check-platform.ts'
import { accessOf, credentialsOf, openTokens } from './token.ts'
import { eraseEndedSecrets } from './webhook-secrets.ts'

/**
 * Erases former webhook secrets that have ended, renews the platform's token when due, and retries refused credentials,
 * because the app may be installed now.
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
