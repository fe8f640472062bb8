import { eq } from './infra/db/drizzle.ts'
import { testChat } from './domains/accounts/index.ts'
import { users } from './domains/accounts/tables.ts'
import { testPlatform, testWebhookSecret } from './domains/commerce/index.ts'
import { sendTestMail } from './domains/mail/index.ts'
import type { SettingTestResult } from '@netlet/contract'
import type { SettingTests } from './domains/settings/index.ts'
import type { AppContext } from './infra/context.ts'

/** How Web Settings test saved settings, each by the domain that uses them. */
export const settingTests = (ctx: AppContext): SettingTests => ({
  async mail(by): Promise<SettingTestResult> {
    const [user] = await ctx.db
      .select({ to: users.email, language: users.language })
      .from(users)
      .where(eq(users.id, by.id))
    if (!user) return { ok: false, outcome: 'failed', params: {}, detail: null }
    const sent = await sendTestMail(ctx, user)
    if (sent.ok) return { ok: true, outcome: 'mail_sent', params: { to: user.to }, detail: null }
    const outcome = sent.reason === 'not_configured' ? 'not_configured' : 'failed'
    return { ok: false, outcome, params: {}, detail: sent.message }
  },
  platform: () => testPlatform(ctx),
  chat: () => testChat(ctx),
  webhook_secret: () => testWebhookSecret(ctx)
})
