import { expect, test } from 'vitest'
import type { Sandbox } from '../../../../sandbox/src/sandbox.ts'
import { closedUrl, control, launchAlone, secrets } from '../../../../sandbox/src/testing/harness.ts'
import { useStarted } from '../../testing/use-started.ts'
import { createDiscord } from './index.ts'

const verifier = 'v'.repeat(43)
const redirectUri = 'http://127.0.0.1:3000/api/auth/discord/redirect'
let time = Date.now()
const sandbox: Sandbox = useStarted(() => launchAlone('https://shop.example', { now: () => time }))

const client = (options: Partial<Parameters<typeof createDiscord>[0]> = {}) =>
  createDiscord({
    clientId: secrets.discordClientId,
    clientSecret: secrets.discordClientSecret,
    baseUrl: sandbox.url,
    ...options
  })

/** Consents as a browser's form does. @returns the address of the redirect */
async function consent(form: Record<string, string>): Promise<URL> {
  const page = client().authorizeUrl({ redirectUri, state: 's-1', verifier })
  const response = await fetch(page ?? '', { method: 'POST', body: new URLSearchParams(form), redirect: 'manual' })
  return new URL(response.headers.get('location') ?? 'none:')
}

test('the page offers the demo users, and consent leads back with code and state', async () => {
  const page = await (await fetch(client().authorizeUrl({ redirectUri, state: 's-1', verifier }) ?? '')).text()
  expect(page).toContain('Marlow')
  const back = await consent({ user: 'marlow' })
  expect(back.origin + back.pathname).toBe(redirectUri)
  expect(back.searchParams.get('state')).toBe('s-1')
  const token = await client().exchangeCode({ code: back.searchParams.get('code') ?? '', redirectUri, verifier })
  if (!token.ok) throw new Error(token.message)
  expect(await client().currentUser(token.value.accessToken)).toEqual({
    ok: true,
    value: { id: '310000000000000001', username: 'marlow', globalName: 'Marlow', name: 'Marlow' }
  })
})

test('a code works once, for its own redirect address only, and for ten minutes', async () => {
  const once = (await consent({ user: 'marlow' })).searchParams.get('code') ?? ''
  expect(await client().exchangeCode({ code: once, redirectUri, verifier })).toMatchObject({ ok: true })
  expect(await client().exchangeCode({ code: once, redirectUri, verifier })).toMatchObject({ reason: 'invalid_code' })
  const first = (await consent({ user: 'marlow' })).searchParams.get('code') ?? ''
  const elsewhere = `${redirectUri}/bind`
  expect(await client().exchangeCode({ code: first, redirectUri: elsewhere, verifier })).toMatchObject({
    reason: 'invalid_code'
  })
  const second = (await consent({ user: 'marlow' })).searchParams.get('code') ?? ''
  time += 10 * 60_000
  expect(await client().exchangeCode({ code: second, redirectUri, verifier })).toMatchObject({ reason: 'invalid_code' })
})

test('a code is of no use without the verifier of its flow', async () => {
  const page = new URL(client().authorizeUrl({ redirectUri, state: 's-1', verifier }) ?? '')
  expect(page.searchParams.get('code_challenge_method')).toBe('S256')
  expect(page.href).not.toContain(verifier)
  const code = (await consent({ user: 'marlow' })).searchParams.get('code') ?? ''
  const stolen = await client().exchangeCode({ code, redirectUri, verifier: 'w'.repeat(43) })
  expect(stolen).toMatchObject({ reason: 'invalid_code' })
})

test('wrong client, wrong secret, wrong token, nothing set, no server', async () => {
  const page = await fetch(client({ clientId: '7' }).authorizeUrl({ redirectUri, state: 's', verifier }) ?? '')
  expect(page.status).toBe(400)
  const code = (await consent({ user: 'marlow' })).searchParams.get('code') ?? ''
  const exchange = (options: Partial<Parameters<typeof createDiscord>[0]>) =>
    client(options).exchangeCode({ code, redirectUri, verifier })
  const wrong = await exchange({ clientSecret: 'wrong-77' })
  expect(wrong).toMatchObject({ ok: false, reason: 'unauthorized' })
  expect(JSON.stringify(wrong)).not.toContain('wrong-77')
  expect(await exchange({ clientSecret: '' })).toMatchObject({ reason: 'not_configured' })
  expect(await exchange({ baseUrl: await closedUrl() })).toMatchObject({ reason: 'network' })
  expect(await client().currentUser('nonsense')).toMatchObject({ ok: false, reason: 'unauthorized' })
  expect(client({ clientId: '' }).authorizeUrl({ redirectUri, state: 's', verifier })).toBeNull()
})

test.each([
  ['error500', 'server_error'],
  ['throttled', 'throttled'],
  ['html', 'bad_reply'],
  ['half', 'network'],
  ['lost', 'network'],
  ['timeout', 'timeout'],
  ['unauthorized', 'unauthorized'],
  ['forbidden', 'unauthorized']
])('%s: neither the code nor the user is taken, and the next try succeeds', async (kind, reason) => {
  const fault = (body: object) => control(sandbox, 'POST', '/discord/faults', body)
  // Shortens the timeout for a silent platform.
  const discord = client({ timeoutMs: kind === 'timeout' ? 500 : 10_000 })
  const code = (await consent({ user: 'marlow' })).searchParams.get('code') ?? ''
  await fault({ kind, path: 'oauth2/token' })
  expect(await discord.exchangeCode({ code, redirectUri, verifier })).toMatchObject({ ok: false, reason })
  // The platform did not process the request, so the code is still valid.
  const token = await discord.exchangeCode({ code, redirectUri, verifier })
  if (!token.ok) throw new Error(token.message)
  await fault({ kind, path: 'users/@me' })
  const { accessToken } = token.value
  const refused = await discord.currentUser(accessToken)
  expect(refused).toMatchObject({ ok: false, reason })
  expect(JSON.stringify(refused)).not.toContain(accessToken)
  expect(await discord.currentUser(accessToken)).toMatchObject({ ok: true, value: { username: 'marlow' } })
})
