import { createHmac } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { DAY } from '../../infra/clock.ts'
import type { Config } from '../../infra/config.ts'
import { randomToken, equalInConstantTime } from '../../infra/secrets.ts'

const COOKIE = 'netlet_device'

/** A browser's user. The signature contains the password's hash, so a new password invalidates all device cookies. */
export type DeviceOwner = { id: number; passwordHash: string }

/** The browser's proof of its last login, if it has one. */
export const deviceCookieOf = (request: FastifyRequest): string | undefined => request.cookies[COOKIE]

/** The cookie that proves a browser's login to this account. */
export function signDevice({ appSecret }: Pick<Config, 'appSecret'>, owner: DeviceOwner): string {
  const nonce = randomToken(16)
  return `${owner.id}.${nonce}.${signature(appSecret, owner, nonce)}`
}

/** The device's id if the cookie proves a login to this account; else undefined. */
export function knownDevice(
  { appSecret }: Pick<Config, 'appSecret'>,
  cookie: string | undefined,
  owner: DeviceOwner
): string | undefined {
  const [id, nonce, signed] = cookie?.split('.') ?? []
  if (id !== String(owner.id) || !nonce || !signed) return undefined
  return equalInConstantTime(signed, signature(appSecret, owner, nonce)) ? nonce : undefined
}

const signature = (appSecret: string, { id, passwordHash }: DeviceOwner, nonce: string): string =>
  createHmac('sha256', appSecret).update(`device ${id} ${nonce} ${passwordHash}`).digest('base64url')

export function setDeviceCookie(reply: FastifyReply, config: Pick<Config, 'secureCookies'>, device: string): void {
  reply.setCookie(COOKIE, device, {
    path: '/api',
    httpOnly: true,
    // Lax, because a login by the chat platform returns from another site.
    sameSite: 'lax',
    secure: config.secureCookies,
    maxAge: (400 * DAY) / 1000
  })
}

export function clearDeviceCookie(reply: FastifyReply, config: Pick<Config, 'secureCookies'>): void {
  reply.clearCookie(COOKIE, { path: '/api', httpOnly: true, sameSite: 'lax', secure: config.secureCookies })
}
