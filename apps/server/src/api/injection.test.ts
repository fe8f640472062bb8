// What one person enters and another one, a program or the shop itself then reads.
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { products } from '../domains/catalog/tables.ts'
import { DEFAULT_BRAND } from '../domains/mail/mail.fixture.ts'
import { renderTemplate, TEMPLATES, type Template } from '../domains/mail/templates/index.ts'
import { orders } from '../domains/orders/tables.ts'
import { faqs, tickets } from '../domains/support/tables.ts'
import { eq } from '../infra/db/drizzle.ts'
import { calls, components, send } from './attack.fixture.ts'
import { exampleOf, type JsonSchema, resolve } from './schemas.ts'
import { startStockedShop, type Buyer, type StockedShop } from './stocked-shop.fixture.ts'

let shop: StockedShop
let boss: Buyer

beforeAll(async () => {
  shop = await startStockedShop()
  boss = await shop.admin()
  await shop.buy(await shop.customer())
})
afterAll(() => shop?.close())

/** Frames of mails that an operator reads, without rights for scripts. */
const ALLOWED_MARKUP = ['apps/web/src/admin/mails/page.tsx']
const HOSTILE = `"'><img src=x onerror=alert(1)><script>alert(2)</script>{{7*7}}\${7*7}%s\r\nBcc: all@example.com`

describe('texts of one person that another one sees', () => {
  /** The data with one text replaced, for each text that is not a time, a number or an address. */
  function* hostileData(value: unknown): Generator {
    if (typeof value === 'string') {
      if (!/^[\d.:TZ+-]*$|^https?:/.test(value)) yield HOSTILE
    } else if (typeof value === 'object' && value !== null)
      for (const [key, inner] of Object.entries(value))
        for (const changed of hostileData(inner))
          yield Array.isArray(value) ? value.with(Number(key), changed) : { ...value, [key]: changed }
  }

  test.each(Object.keys(TEMPLATES) as Template[])('are text in the mail %s, and add no header to it', name => {
    const context = {
      shopUrl: 'https://shop.example.com',
      brand: DEFAULT_BRAND,
      now: new Date(0),
      open: () => '123456',
      language: 'en'
    } as const
    for (const data of hostileData(TEMPLATES[name].sample)) {
      let mail
      try {
        mail = renderTemplate(name, data as never, context)
      } catch {
        // It is one of a few words that we choose.
        continue
      }
      expect(mail.html).not.toMatch(/<script|<img src=x|onerror=alert\(1\)>/)
      expect(`${mail.subject}${mail.html}${mail.text}`).not.toMatch(/\b49\b/)
      expect(mail.subject).not.toMatch(/[\r\n]/)
    }
  })

  test('never become markup: the web app and the server have no way to make it from a text', () => {
    const root = fileURLToPath(new URL('../../../..', import.meta.url))
    const files = globSync('apps/{web,server,agent}/src/**/*.{ts,tsx}', { cwd: root }).filter(
      file => !/\.(test|fixture)\./.test(file)
    )
    const ways =
      /dangerouslySetInnerHTML|\.(?:inner|outer)HTML\b|insertAdjacentHTML|document\.write|\beval\(|new Function\(|srcDoc/
    expect(files.length).toBeGreaterThan(900)
    const found = files.filter(file => ways.test(readFileSync(join(root, file), 'utf8')))
    expect(found.map(file => file.replaceAll('\\', '/'))).toEqual(ALLOWED_MARKUP)
  })

  test('stay in their cell, line and header: in pages, CSV, JSON and redirects', async () => {
    const { productId, ctx } = shop
    await ctx.db.update(products).set({ name: HOSTILE, description: HOSTILE }).where(eq(products.id, productId))
    await ctx.db.update(faqs).set({ question: HOSTILE, answer: HOSTILE })
    await ctx.db.update(tickets).set({ username: HOSTILE, message: `=${HOSTILE}` })
    await ctx.db.update(orders).set({ productName: `=${HOSTILE}`, label: HOSTILE })
    const types = new Set<string>()
    const raw = calls.filter(call => call.method === 'GET' && call.raw !== 'text/event-stream')
    for (const call of raw) {
      for (const path of [`${call.path}?limit=100`, `${call.path}?format=csv`]) {
        const reply = await send(shop, call, call.path.includes('logout') ? null : boss, { path })
        const type = reply.headers['content-type'] ?? ''
        types.add(type)
        expect(reply.headers['bcc'], call.id).toBeUndefined()
        expect(type === '' || /charset=utf-8$|^image\//.test(type), `${call.id} ${type}`).toBe(true)
        if (/html|xml/.test(type)) expect(reply.body, call.id).not.toContain('<img src=x')
        if (/csv/.test(type)) expect(reply.body, call.id).not.toMatch(/(^|,)"?=/m)
      }
    }
    expect([...types]).toEqual(expect.arrayContaining(['text/csv; charset=utf-8', 'application/json; charset=utf-8']))
    expect((await shop.app.inject({ url: '/sitemap.xml' })).body).not.toContain('<img src=x')
  })
})

describe('addresses that the shop would call', () => {
  const ADDRESS = /(^|[._])(url|uri|ip|host|target|endpoint|site|domain)$/
  /** Whom each of them makes the shop call. */
  const FIELDS = {
    'webhooks.createEndpoint url': 'public addresses only',
    'webhooks.updateEndpoint url': 'public addresses only',
    'webhooks.createOperatorEndpoint url': 'public addresses only',
    'webhooks.updateOperatorEndpoint url': 'public addresses only',
    'notices.createChannel target': 'public addresses only',
    'notices.updateChannel target': 'public addresses only',
    'fleet.checkIpv6 target': 'from the rented server',
    'fleet.createServer ip': 'the servers of the operator',
    'fleet.updateServer ip': 'the servers of the operator',
    'fleet.planEdit ip': 'none',
    'fleet.requestApi uri': 'paths below /api of the agent',
    'settings.saveConfig shopify_shop_url': "the platform, by the owner's setting",
    'settings.saveConfig discord_redirect_uri': 'none',
    'settings.saveConfig discord_bind_redirect_uri': 'none',
    'settings.saveConfig mailgun_sender_domain': 'none',
    'inventory.checkRule decisions.domain': 'none',
    'inventory.createRule decisions.domain': 'none',
    'inventory.updateRule decisions.domain': 'none'
  }

  /** @param above a shape that holds itself is followed once */
  function namesIn(schema: JsonSchema | undefined, before = '', above: readonly JsonSchema[] = []): string[] {
    if (!schema || above.includes(schema)) return []
    const { properties = {}, items, anyOf = [] } = resolve(schema, components)
    const of = (inner: JsonSchema | undefined, at: string) => namesIn(inner, at, [...above, schema])
    return [
      ...Object.entries(properties).flatMap(([name, inner]) => [before + name, ...of(inner, `${before}${name}.`)]),
      ...of(items, before),
      ...anyOf.flatMap(one => of(one, before))
    ]
  }

  test('are these: a new one has to say whom it makes the shop call', () => {
    const found = calls.flatMap(call =>
      namesIn(call.body)
        .filter(name => ADDRESS.test(name))
        .map(name => `${call.id} ${name}`)
    )
    expect([...new Set(found)].toSorted()).toEqual(Object.keys(FIELDS).toSorted())
  })

  const INSIDE = [
    'https://127.0.0.1/',
    'https://2130706433/',
    'https://0x7f.1/',
    'https://0177.0.0.1/',
    'https://127.1/',
    'https://[::1]/',
    'https://[::ffff:127.0.0.1]/',
    'https://localhost/',
    'https://a.localhost./',
    'https://169.254.169.254/latest/meta-data/',
    'https://[fd00:ec2::254]/',
    'https://10.0.0.1/',
    'https://100.64.0.1/',
    'https://user:pass@example.com/',
    'https://example.com:6379/',
    'https://shop.example.com/',
    'file:///etc/passwd',
    'gopher://127.0.0.1:25/',
    'javascript:alert(1)',
    'data:text/html,x',
    '//127.0.0.1/',
    'https://127.0.0.1\\@example.com/',
    'https://exa mple.com/'
  ]
  let customer: Buyer
  let operator: Buyer
  beforeAll(async () => {
    customer = await shop.customer()
    operator = await shop.admin()
  })
  test.each(INSIDE)('%s is taken from no customer and no operator', async url => {
    const of = async (id: string, by: Buyer, field: string, more = {}) => {
      const call = calls.find(one => one.id === id)
      if (!call) throw new Error('no such call')
      const honest = exampleOf(call.body ?? {}, components) as object
      const reply = await send(shop, call, by, { body: { ...honest, ...more, [field]: url } })
      const { code, data } = reply.json<{ code: number; data: { errors: object } }>()
      return [code, Object.keys(data.errors)]
    }
    expect(await of('webhooks.createEndpoint', customer, 'url')).toEqual([400, ['url']])
    expect(await of('webhooks.createOperatorEndpoint', operator, 'url')).toEqual([400, ['url']])
    expect(await of('notices.createChannel', operator, 'target', { kind: 'chat', secret: '' })).toEqual([
      400,
      ['target']
    ])
  })
})

test('no address of a call carries a password, a code or a key', () => {
  // Of the chat platform, for one use; sealed, for one choice.
  const ONE_USE = ['accounts.discordRedirect code', 'accounts.discordBindRedirect code']
  const SEALED = [
    'mail.openUnsubscribe token',
    'mail.unsubscribe token',
    'status.openUnsubscribe token',
    'status.unsubscribe token'
  ]
  const found = calls.flatMap(call =>
    Object.keys(call.query ? (resolve(call.query, components).properties ?? {}) : {})
      .filter(name => /password|token|secret|code|ticket|api_key/i.test(name))
      .map(name => `${call.id} ${name}`)
  )
  expect(found.toSorted()).toEqual([...ONE_USE, ...SEALED].toSorted())
})
