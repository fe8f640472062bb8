import { MINUTE } from '../../infra/clock.ts'
import type { AppContext } from '../../infra/context.ts'
import type { Mount } from '../../infra/http/mount.ts'
import { accountPorts } from '../../ports.ts'
import type { TestClient } from '../../testing/client.ts'
import type { TestShop } from '../../testing/shop.ts'
import { accountRoutes } from './index.ts'
import { captchas, loginFailures } from './tables.ts'
import { addRow } from '../../testing/rows.ts'

/** The domain's calls with the ports of the whole shop. */
export const accountRoutesWithPorts = (mount: Mount, ctx: AppContext): void =>
  accountRoutes(mount, ctx, accountPorts(ctx))

let clients = 0

/** A visitor with its own address, so that limits for each client do not affect other tests. */
export function visitorFromAnywhere(shop: TestShop): TestClient {
  clients += 1
  return shop.visitor({ ip: `100.${clients >> 8}.${clients & 255}.1` })
}

export type MailedCode = { email_code_id: string; email_code: string }

/** Requests a code and reads it from the mail. */
export async function mailedCode(
  shop: TestShop,
  client: TestClient,
  email: string,
  type: 'register' | 'forgot'
): Promise<MailedCode> {
  // Earlier mails to this address must not be taken for the requested one.
  await shop.drain()
  const before = shop.outbox.mails.filter(mail => mail.to === email).length
  const asked = await client.post<{ email_code_id: string }>('/api/users/email_validate', { email, type })
  if (asked.code !== 2000) throw new Error(`no code: ${asked.msg}`)
  const mails = await shop.outbox.waitFor(email, before + 1)
  const code = /\b\d{6}\b/.exec(mails.at(-1)?.text ?? '')?.[0]
  if (!code) throw new Error('the mail holds no code')
  return { email_code_id: asked.data.email_code_id, email_code: code }
}

export const PASSWORD = 'Abcdef#1'

export const signUpForm = (username: string, email: string, code: MailedCode, more: object = {}) => ({
  username,
  email,
  ...code,
  password: PASSWORD,
  repassword: PASSWORD,
  ...more
})

export const wrongCode = ({ email_code, email_code_id }: MailedCode): MailedCode => ({
  email_code_id,
  email_code: email_code === '000000' ? '000001' : '000000'
})

export const A_MINUTE_LATER = MINUTE + 1000

/** A captcha that was just shown, with its answer, without drawing one. */
export async function solvedCaptcha({ ctx }: TestShop): Promise<{ captcha_id: string; captcha: number }> {
  const [createdAt, captcha] = [ctx.now(), 42]
  const expiresAt = new Date(createdAt.getTime() + MINUTE)
  const row = await addRow(ctx, captchas, { answer: captcha, createdAt, expiresAt })
  return { captcha_id: row.id, captcha }
}

/** Adds failures for a key. */
export async function failed({ ctx }: TestShop, key: string, count: number): Promise<void> {
  const at = ctx.now()
  await ctx.db.insert(loginFailures).values(Array.from({ length: count }, () => ({ key, at })))
}
