import { eq } from '../../infra/db/drizzle.ts'
import { expect, test } from 'vitest'
import { SYSTEM } from '../../infra/actor.ts'
import { StartupError } from '../../infra/db/migrate.ts'
import { auditLog } from '../../infra/tables.ts'
import { startTestShop } from '../../testing/shop.ts'
import { createUser, ensureAdmin } from './index.ts'
import { users } from './tables.ts'
import { accountRoutesWithPorts } from './accounts.fixture.ts'
import { useStarted } from '../../testing/use-started.ts'

const shop = useStarted(() => startTestShop({ routes: accountRoutesWithPorts }))

const configured = { username: 'first1', email: 'first@example.com', password: 'Harbour#2026' }
const as = (admin: typeof configured | undefined) => ({ ...shop.ctx, config: { ...shop.ctx.config, admin } })
const admins = () => shop.ctx.db.$count(users, eq(users.isSuperuser, true))

test('the first administrator comes from the configuration, once, even if several processes start together', async () => {
  await ensureAdmin(as(undefined))
  expect(await admins()).toBe(0)
  await expect(ensureAdmin(as({ ...configured, password: 'weak' }))).rejects.toThrow(StartupError)
  await expect(ensureAdmin(as({ ...configured, password: 'Password@123' }))).rejects.toThrow('easy to guess')
  await shop.customer({ username: 'first1' })
  await expect(ensureAdmin(as(configured))).rejects.toThrow('already taken')
  const admin = { ...configured, username: 'first2' }
  await Promise.all([ensureAdmin(as(admin)), ensureAdmin(as(admin)), ensureAdmin(as(admin))])
  expect(await admins()).toBe(1)
  const entries = await shop.ctx.db.select().from(auditLog).where(eq(auditLog.action, 'user.create'))
  expect(entries).toMatchObject([{ actorName: 'system', after: { username: 'first2', email: configured.email } }])
  expect(JSON.stringify(entries)).not.toMatch(/2026#|#2026|argon2/)
  const login = await shop.visitor().post('/api/auth/login', { username: 'first2', password: configured.password })
  expect(login).toMatchObject({ code: 2000, data: { is_superuser: true } })
  await ensureAdmin(as({ username: 'other1', email: 'other@example.com', password: 'Other#2026' }))
  expect(await admins()).toBe(1)
})

test('a user made for the first run obeys the rules of the sign-up form', async () => {
  const user = { username: 'demo1', email: 'demo1@example.com', password: 'Demo#2026' }
  expect(await createUser(shop.ctx, SYSTEM, { ...user, username: 'no' })).toMatchObject({
    msg: 'Length should be 4 to 10'
  })
  expect(await createUser(shop.ctx, SYSTEM, user)).toMatchObject({ ok: true })
  expect(await createUser(shop.ctx, SYSTEM, { ...user, email: 'x@example.com' })).toMatchObject({
    reason: 'username_taken'
  })
  expect(await createUser(shop.ctx, SYSTEM, { ...user, username: 'demo2' })).toMatchObject({ reason: 'email_taken' })
})
