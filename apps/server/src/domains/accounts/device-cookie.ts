import { createHmac } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { DAY } from '../../infra/clock.ts'
import type { Config } from '../../infra/config.ts'
import { randomToken, sameText } from '../../infra/secrets.ts'

const COOKIE = 'netlet_device'

/** Whose browser it is. The password's hash is part of the signature: a new password makes every browser unknown. */
export type DeviceOwner = { id: number; passwordHash: string }

/** What the browser holds of its last login, if anything. */
export const deviceCookieOf = (request: FastifyRequest): string | undefined => request.cookies[COOKIE]

/** The value of the cookie by which a browser is known to have logged in to this account. */
export function signDevice({ appSecret }: Pick<Config, 'appSecret'>, owner: DeviceOwner): string {
  const nonce = randomToken(16)
  return `${owner.id}.${nonce}.${signature(appSecret, owner, nonce)}`
}

/** The id of the device where the cookie says that it has logged in to this account; undefined where it does not. */
export function knownDevice(
  { appSecret }: Pick<Config, 'appSecret'>,
  cookie: string | undefined,
  owner: DeviceOwner
): string | undefined {
  const [id, nonce, signed] = cookie?.split('.') ?? []
  if (id !== String(owner.id) || !nonce || !signed) return undefined
  return sameText(signed, signature(appSecret, owner, nonce)) ? nonce : undefined
}

const signature = (appSecret: string, { id, passwordHash }: DeviceOwner, nonce: string): string =>
  createHmac('sha256', appSecret).update(`device ${id} ${nonce} ${passwordHash}`).digest('base64url')

export function setDeviceCookie(reply: FastifyReply, config: Pick<Config, 'secureCookies'>, device: string): void {
  reply.setCookie(COOKIE, device, {
    path: '/api',
    httpOnly: true,
    // Lax: a login by the chat platform comes back from another site.
    sameSite: 'lax',
    secure: config.secureCookies,
    maxAge: (400 * DAY) / 1000
  })
}

export function clearDeviceCookie(reply: FastifyReply, config: Pick<Config, 'secureCookies'>): void {
  reply.clearCookie(COOKIE, { path: '/api', httpOnly: true, sameSite: 'lax', secure: config.secureCookies })
}
