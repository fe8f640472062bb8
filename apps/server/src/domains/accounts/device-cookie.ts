import { createHmac } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { DAY } from '../../infra/clock.ts'
import type { Config } from '../../infra/config.ts'
import { clearCookie, readCookie, readFormer, writeCookie } from './cookies.ts'
import { randomToken, equalInConstantTime } from '../../infra/secrets.ts'

const COOKIE = { name: 'netlet_device', path: '/api' } as const

/** A browser's user. The signature contains the password's hash, so a new password invalidates all device cookies. */
export type DeviceOwner = { id: number; passwordHash: string }

/** The browser's proof of its last login, if it has one. */
export const deviceCookieOf = (request: FastifyRequest, config: Pick<Config, 'secureCookies'>): string | undefined =>
  readCookie(request, config, COOKIE) ?? readFormer(request, config, COOKIE)

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

export const setDeviceCookie = (reply: FastifyReply, config: Pick<Config, 'secureCookies'>, device: string): void =>
  writeCookie(reply, config, COOKIE, device, 400 * DAY)

export const clearDeviceCookie = (reply: FastifyReply, config: Pick<Config, 'secureCookies'>): void =>
  clearCookie(reply, config, COOKIE)
