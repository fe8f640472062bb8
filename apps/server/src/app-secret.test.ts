import { getTableName, sql } from './infra/db/drizzle.ts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { knownDevice, signDevice } from './domains/accounts/device-cookie.ts'
import { makeRecoveryCodes, useRecoveryCode } from './domains/accounts/second-factor/check.ts'
import { secondFactors, secondFactorTickets } from './domains/accounts/second-factor/tables.ts'
import { formerWebhookSecrets, platformTokens } from './domains/commerce/tables.ts'
import { unsubscribe, unsubscribeToken } from './domains/mail/choices.ts'
import { noticeChannels } from './domains/notices/tables.ts'
import { servers } from './domains/servers/tables.ts'
import { checkAppSecret, opensSecrets, readSettings, secretChange, settingsJobs } from './domains/settings/index.ts'
import { webhookEndpoints } from './domains/webhooks/tables.ts'
import { SYSTEM } from './infra/actor.ts'
import { DAY } from './infra/clock.ts'
import { command, type Unit } from './infra/command.ts'
import type { AppContext } from './infra/context.ts'
import { createSecrets, canOpen, type Secrets } from './infra/secrets.ts'
import { sealedTables } from './sealed-tables.ts'
import { addRow, addRows } from './testing/rows.ts'
import { startTestShop, type TestShop } from './testing/shop.ts'

const NEW = 'the next secret of the tests, as it is after a leak'

let shop: TestShop
let ids: { customer: number }
beforeAll(async () => {
  shop = await startTestShop({ routes: () => {} })
  await checkAppSecret(shop.ctx)
  ids = { customer: (await shop.customer()).user.id }
  await sealEverywhere(shop.ctx)
})
afterAll(() => shop?.close())

/** The shop as another process has it. */
const processWith = (secret: string, previous?: string): AppContext => ({
  ...shop.ctx,
  secrets: createSecrets(secret, previous ?? '')
})
const OLD = () => shop.ctx.config.appSecret

/** A row with each sealed value. */
const sealEverywhere = (ctx: AppContext) =>
  command(ctx, SYSTEM, async unit => {
    const { now } = unit
    const soon = new Date(now.getTime() + DAY)
    const sealed = (text: string) => ctx.secrets.seal(text)
    await addRow(unit, formerWebhookSecrets, { secret: sealed('former'), endsAt: soon })
    const token = { token: sealed('token'), obtainedAt: now, endsAt: soon }
    await addRow(unit, platformTokens, { credentials: Buffer.alloc(32), ...token })
    const wanted = { source: 'pasted', certificate: '', key: sealed('tls key').toString('base64') } as never
    const ip = '192.0.2.1'
    await addRow(unit, servers, {
      ip,
      name: 'full',
      sshPassword: sealed('ssh'),
      agentToken: sealed('agent'),
      agentSettings: { AGENT_UDP: 'off', proxy_tls: { wanted, hash: 'h' } }
    })
    const lost = createSecrets('x'.repeat(32)).seal('lost')
    await addRows(unit, servers, [
      { ip, name: 'empty' },
      { ip, name: 'of another shop', sshPassword: lost }
    ])
    // More than one batch.
    const many = Array.from({ length: 450 }, (_, at) => ({ ip, name: `many ${at}`, agentToken: sealed('agent') }))
    await addRows(unit, servers, many)
    const userId = ids.customer
    const endpoint = { userId, url: 'https://example.com', description: '', events: [] }
    const secrets = { secret: sealed('hook'), formerSecret: sealed('hook before'), formerUntil: soon }
    await addRow(unit, webhookEndpoints, { ...endpoint, ...secrets })
    const channel = { target: sealed('https://example.com'), secret: sealed('sign') }
    const chat = { name: 'chat', kind: 'webhook', host: 'example.com', digest: false } as const
    await addRow(unit, noticeChannels, { ...chat, ...channel, severities: [] })
    await addRow(unit, secondFactors, { userId, kind: 'totp', name: 'Phone', secret: sealed('totp'), lastStep: 0 })
    const ticket = { userId, tokenHash: Buffer.alloc(32), purpose: 'enrol', kind: 'totp', expiresAt: soon } as const
    await addRow(unit, secondFactorTickets, { ...ticket, secret: sealed('begun') })
  })

/** Columns that hold hashes, nonces, public keys or the shop's logo, which nothing opens. */
const NOT_SEALED =
  /hash$|^platform_tokens\.credentials$|^chat_account_points\.account$|^chat_told\.account$|public_key$|^shop_logo\.content$|^notice\w+\.token$|\.token$/

const sealedColumns = (): string[] =>
  sealedTables.flatMap(({ table, columns }) =>
    Object.keys(columns).map(
      name => `${getTableName(table)}.${name.replaceAll(/[A-Z]/g, at => `_${at.toLowerCase()}`)}`
    )
  )

/** All sealed values of the database that these secrets do not open. */
async function unopened(ctx: AppContext): Promise<string[]> {
  const found: string[] = []
  for (const name of sealedColumns().filter(one => !one.endsWith('agent_settings'))) {
    const [table = '', column = ''] = name.split('.')
    const { rows } = await ctx.db.execute<{ value: Buffer }>(
      sql`select ${sql.identifier(column)} as value from ${sql.identifier(table)} where ${sql.identifier(column)} is not null`
    )
    expect(rows.length, name).toBeGreaterThan(0)
    found.push(...rows.flatMap(({ value }) => (canOpen(ctx.secrets, value) ? [] : [name])))
  }
  return found
}

const reseal = async (ctx: AppContext): Promise<void> => {
  for (const { run } of settingsJobs(sealedTables)) await run(ctx, {} as never, 'test')
}

test('every column with bytes is sealed again after a change of APP_SECRET, or holds no secret', async () => {
  const { rows } = await shop.ctx.db.execute<{ name: string }>(
    sql`select table_name || '.' || column_name as name from information_schema.columns
      where table_schema in ('public', 'inventory') and udt_name = 'bytea'`
  )
  const sealed = new Set(sealedColumns())
  expect(rows.map(({ name }) => name).filter(name => !sealed.has(name) && !NOT_SEALED.test(name))).toEqual([])
})

const unit = <T>(work: (it: Unit) => Promise<T>) => command(shop.ctx, SYSTEM, work)
const recoveryCodesOf = async (secrets: Secrets): Promise<string[]> =>
  (await unit(it => makeRecoveryCodes(it, secrets, ids.customer))).map(code => code.replace('-', ''))
const recovers = (secrets: Secrets, code: string) => unit(it => useRecoveryCode(it, secrets, ids.customer, code))

test('APP_SECRET changes while processes with the old and the new one run', async () => {
  const started = await checkAppSecret(shop.ctx)
  const device = signDevice(started, { id: 1, passwordHash: 'hash' })
  const link = unsubscribeToken(started, 'link@example.com', 'payments')
  const [first = '', second = ''] = await recoveryCodesOf(started)

  // First, all processes may open what the new secret seals, and then one of them has it.
  const old = processWith(OLD(), NEW)
  const next = processWith(NEW, OLD())
  const only = processWith(NEW)
  await checkAppSecret(old)
  expect(await secretChange(old, sealedTables)).toMatchObject({ left: 0 })
  await reseal(old)
  expect(await opensSecrets(shop.ctx.db, shop.ctx.secrets)).toBe(true)
  const both = await checkAppSecret(next)
  await expect(checkAppSecret(only)).rejects.toThrow(/^APP_SECRET is not the one/)
  await expect(checkAppSecret(processWith(NEW, `${OLD()}!`))).rejects.toThrow(/^Neither APP_SECRET nor APP_SECRET_PREV/)
  expect(await unopened(next)).toEqual(['servers.ssh_password'])
  expect(knownDevice(both, device, { id: 1, passwordHash: 'hash' })).toBeDefined()
  expect(await recovers(both, first)).toBe(true)

  // Settings, 451 servers, and one row of each other table, and the check value.
  const left = (await secretChange(next, sealedTables))?.left ?? 0
  expect(left).toBeGreaterThan(457)
  expect(await secretChange(next, sealedTables)).toMatchObject({ removable_at: null })

  // A run that dies after two batches leaves the rest, and the check value; two runs at once do it once.
  let opened = 0
  const dying = {
    ...next.secrets,
    resealed(sealed: Buffer) {
      if (++opened > 900) throw new Error('killed')
      return next.secrets.resealed(sealed)
    }
  }
  await expect(reseal({ ...next, secrets: dying })).rejects.toThrow('killed')
  const middle = (await secretChange(next, sealedTables))?.left ?? 0
  expect(middle).toBeLessThan(left)
  expect(middle).toBeGreaterThan(1)
  expect(await unopened(old)).toEqual(['servers.ssh_password'])
  await Promise.all([reseal(next), reseal(next)])
  // The former check value stays as it was.
  expect(await unopened(only)).toEqual(['settings.secret', 'servers.ssh_password'])
  const [server] = await shop.ctx.db
    .select()
    .from(servers)
    .where(sql`name = 'full'`)
  const { proxy_tls: tls, ...more } = (server?.agentSettings ?? {}) as unknown as {
    proxy_tls: { wanted: { key: string } }
  }
  expect(only.secrets.open(Buffer.from(tls.wanted.key, 'base64'))).toBe('tls key')
  expect(more).toEqual({ AGENT_UDP: 'off' })
  expect((await readSettings(shop.ctx.db, only.secrets)).sendgrid_api_key).toBe('test')
  const done = await secretChange(next, sealedTables)
  expect(done?.left).toBe(0)
  expect(Date.parse(done?.removable_at ?? '') - Date.now()).toBeGreaterThan(DAY / 2)

  // A process that still has the old secret seals one more; it opens what is new all the while.
  await shop.ctx.db
    .update(servers)
    .set({ sshPassword: old.secrets.seal('late') })
    .where(sql`name = 'empty'`)
  expect((await readSettings(shop.ctx.db, old.secrets)).sendgrid_api_key).toBe('test')
  expect(await secretChange(next, sealedTables)).toEqual({ left: 1, removable_at: null })
  await reseal(next)

  // Without the previous one, all opens: also what nothing seals or hashes again.
  const alone = await checkAppSecret(only)
  expect(await secretChange(only, sealedTables)).toBeNull()
  expect(await unopened(only)).toEqual(['settings.secret', 'servers.ssh_password'])
  expect(knownDevice(alone, device, { id: 1, passwordHash: 'hash' })).toBeDefined()
  expect(await unsubscribe({ ...only, secrets: alone }, SYSTEM, link)).toMatchObject({ ok: true })
  expect(alone.codeOf('proxy password of X', 14)).toBe(started.codeOf('proxy password of X', 14))
  expect(await recovers(alone, second)).toBe(true)
  expect(await recovers(alone, second)).toBe(false)
  await expect(checkAppSecret(shop.ctx)).rejects.toThrow(/^APP_SECRET is not the one/)

  // A previous secret that the database never had is a line of the log, and stops nothing.
  const lines: unknown[] = []
  const log = { warn: (line: unknown) => lines.push(line) } as never
  await checkAppSecret({ ...next, log })
  expect(lines).toEqual([])
  await checkAppSecret({ ...processWith(NEW, `${OLD()}!`), log })
  expect(lines).toEqual([expect.stringMatching(/^APP_SECRET_PREVIOUS was never/)])
})

test('what APP_SECRET itself had hashed, before the kept keys, outlives its change, too', async () => {
  const [code = ''] = await recoveryCodesOf(createSecrets(NEW))
  await shop.ctx.db.execute(sql`delete from settings where key = 'kept_keys'`)
  const before = processWith(NEW)
  const upgraded = await checkAppSecret({ ...before, config: { ...before.config, appSecret: NEW } })
  expect(upgraded.mac('x')).not.toEqual(before.secrets.mac('x'))
  await reseal(processWith('the secret after the next one, for tests', NEW))
  const last = await checkAppSecret(processWith('the secret after the next one, for tests'))
  expect(await recovers(last, code)).toBe(true)
})
