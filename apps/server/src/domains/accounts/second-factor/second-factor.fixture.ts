import type { PasskeyCreation, PasskeyRequest, SecondFactorMethod, SecondFactors } from '@netlet/contract'
import { generateSync } from 'otplib'
import { expect } from 'vitest'
import type { TestClient, TestReply } from '../../../testing/client.ts'
import { TEST_PASSWORD, type TestShop } from '../../../testing/shop.ts'
import { testPasskey, type TestPasskey } from './authenticator.fixture.ts'

export const OWN = '/api/users/second_factor/'
export const STEP = '/api/auth/second_factor'
export const password = TEST_PASSWORD

type Begun = { totp: { secret: string; uri: string } | null; passkey: PasskeyCreation | null }
type Added = { factor: { id: number; name: string }; recovery_codes: string[] | null }
export type Asked = { reason: string; second_factor: SecondFactorMethod[]; ticket: string }

/** The app's code at the shop's time. @param steps of 30 seconds from now */
export const codeOf = ({ ctx }: TestShop, secret: string, steps = 0): string =>
  generateSync({ secret, epoch: Math.floor(ctx.now().getTime() / 1000) + 30 * steps })

export const wrongCodeOf = (shop: TestShop, secret: string): string => {
  const right = new Set([-2, -1, 0, 1, 2].map(steps => codeOf(shop, secret, steps)))
  return ['000000', '000001', '000002', '000003', '000004', '000005'].find(code => !right.has(code)) ?? ''
}

/** Adds an authenticator app, and waits until its next code counts. */
export async function addApp(shop: TestShop, client: TestClient, name = 'Phone') {
  const begun = await client.post<Begun>(OWN, { method: 'totp', password })
  const secret = begun.data.totp?.secret ?? ''
  const added = await client.post<Added>(`${OWN}confirm`, { code: codeOf(shop, secret), name })
  expect(added.msg).toBe('success')
  shop.advance(30_000)
  return { secret, id: added.data.factor.id, codes: added.data.recovery_codes ?? [] }
}

export async function addPasskey(shop: TestShop, client: TestClient, name = 'Laptop') {
  const begun = await client.post<Begun>(OWN, { method: 'passkey', password })
  if (!begun.data.passkey) throw new Error(begun.msg)
  const passkey = testPasskey(shop.ctx.config.publicUrl)
  const attestation = passkey.create(begun.data.passkey)
  const added = await client.post<Added>(`${OWN}confirm`, { attestation, name })
  expect(added.msg).toBe('success')
  return { passkey, id: added.data.factor.id, codes: added.data.recovery_codes ?? [] }
}

export const factorsOf = async (client: TestClient): Promise<SecondFactors> =>
  (await client.get<SecondFactors>(OWN)).data

/** The first step of a log-in. @returns the ticket */
export async function firstStep(client: TestClient, username: string, secret = password): Promise<string> {
  const asked = await client.post<Asked>('/api/auth/login', { username, password: secret })
  expect(asked).toMatchObject({ status: 401, code: 401, data: { reason: 'second_factor_needed' } })
  return asked.data.ticket
}

/** Answers a log-in's challenge with a passkey. */
export async function stepByPasskey(
  client: TestClient,
  ticket: string,
  passkey: TestPasskey,
  wrong?: Parameters<TestPasskey['answer']>[1]
): Promise<TestReply<unknown>> {
  const request = await client.post<PasskeyRequest>(`${STEP}/options`, { ticket })
  return client.post(STEP, { ticket, method: 'passkey', assertion: passkey.answer(request.data, wrong) })
}

/** Logs in by a passkey alone. */
export async function loginByPasskey(
  client: TestClient,
  passkey: TestPasskey,
  wrong?: Parameters<TestPasskey['answer']>[1]
): Promise<TestReply<unknown>> {
  const offer = await client.post<{ ticket: string; passkey: PasskeyRequest }>('/api/auth/passkey/options')
  return client.post('/api/auth/passkey', {
    ticket: offer.data.ticket,
    assertion: passkey.answer(offer.data.passkey, wrong)
  })
}
