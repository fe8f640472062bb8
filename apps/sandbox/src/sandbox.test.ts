import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { OutboxMail } from './outbox/reports.ts'
import type { Sandbox } from './sandbox.ts'
import { control, launch, newDataDir, removeDataDir } from './testing/harness.ts'

const shopUrl = 'http://127.0.0.1:1'
let dir: string
let sandbox: Sandbox

beforeEach(async () => {
  dir = await newDataDir()
  sandbox = await launch(dir, shopUrl)
})
afterEach(async () => {
  vi.unstubAllEnvs()
  await sandbox.close()
  await removeDataDir(dir)
})

const send = (subject: string, html = '<p>hi</p>') =>
  fetch(`${sandbox.url}/v3/mail/send`, {
    method: 'POST',
    headers: { authorization: 'Bearer key', 'content-type': 'application/json' },
    body: JSON.stringify({
      personalizations: [{ to: [{ email: 'a@b.test' }] }],
      from: { email: 's@b.test', name: 'Shop' },
      subject,
      content: [
        { type: 'text/plain', value: 'hi' },
        { type: 'text/html', value: html }
      ]
    })
  })
const mails = async () => (await (await fetch(`${sandbox.url}/outbox.json`)).json()) as OutboxMail[]

test('it does not start in production', async () => {
  vi.stubEnv('NODE_ENV', 'production')
  await expect(launch(dir, shopUrl)).rejects.toThrow('do not start')
})

test('echo returns the caller’s address; the check sites answer 204', async () => {
  const echo = await (await fetch(`${sandbox.url}/echo`, { headers: { 'x-test': '1' } })).json()
  expect(echo).toMatchObject({ ip: '127.0.0.1', method: 'GET', headers: { 'x-test': '1' } })
  for (const site of ['google', 'bing', 'amazon'])
    expect((await fetch(`${sandbox.url}/check/${site}`)).status).toBe(204)
})

test('the outbox: newest first, at most 500, kept over a restart', async () => {
  for (let index = 0; index < 505; index += 5)
    await Promise.all([0, 1, 2, 3, 4].map(offset => send(`mail ${index + offset}`)))
  await send('the last')
  await sandbox.close()
  sandbox = await launch(dir, shopUrl)
  const list = await mails()
  expect(list).toHaveLength(500)
  expect(list[0]).toMatchObject({ subject: 'the last', to: 'a@b.test', from: 'Shop <s@b.test>', text: 'hi' })
  expect(new Set(list.map(mail => mail.subject)).size).toBe(500)
})

test('a mail’s HTML is shown without scripts and without our origin', async () => {
  await send('<b>bold</b>', '<script>top.location="/"</script>')
  const [mail] = await mails()
  expect(await (await fetch(`${sandbox.url}/outbox`)).text()).toContain('&lt;b&gt;bold&lt;/b&gt;')
  const page = await (await fetch(`${sandbox.url}/outbox/${mail?.id}`)).text()
  expect(page).not.toContain('<script')
  expect(page).toContain('sandbox="allow-popups"')
  const frame = await fetch(`${sandbox.url}/outbox/${mail?.id}/html`)
  expect(frame.headers.get('content-security-policy')).toMatch(/sandbox allow-popups; default-src 'none'/)
})

test('mail without a key or without a recipient is refused as the services do', async () => {
  const bare = await fetch(`${sandbox.url}/v3/mail/send`, { method: 'POST' })
  expect(bare.status).toBe(401)
  const empty = await fetch(`${sandbox.url}/v3/x.test/messages`, {
    method: 'POST',
    headers: { authorization: 'Basic YTpi' },
    body: new URLSearchParams({ from: 'a@b.test', text: 'x' })
  })
  expect(empty.status).toBe(400)
  expect(await mails()).toEqual([])
})

test('a control request that is not understood is a 400 with the reason', async () => {
  await expect(control(sandbox, 'POST', '/discounts', { code: 'X', value: 'much' })).rejects.toThrow(/400.*value/)
  await expect(control(sandbox, 'POST', '/webhooks/faults', { action: 'explode' })).rejects.toThrow(/400/)
  const broken = await fetch(`${sandbox.url}/sandbox/discounts`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{'
  })
  expect(broken.status).toBe(400)
})

test('a state file that is not JSON is set aside, not overwritten', async () => {
  await sandbox.close()
  const file = join(dir, 'sandbox', 'state.json')
  await writeFile(file, 'not json')
  sandbox = await launch(dir, shopUrl)
  expect(await readFile(`${file}.set-aside`, 'utf8')).toBe('not json')
  expect(await control(sandbox, 'GET', '/orders')).toEqual([])
})
