import type { FastifyReply, FastifyRequest } from 'fastify'
import { DAY } from '../../infra/clock.ts'
import type { Config } from '../../infra/config.ts'
import { clearCookie, readCookie, readFormer, writeCookie } from './sessions.ts'
import { equalInConstantTime, randomToken, type Secrets } from '../../infra/secrets.ts'

const COOKIE = { name: 'netlet_device', path: '/api' } as const

/** A browser's user. The signature contains the password's hash, so a new password invalidates all device cookies. */
export type DeviceOwner = { id: number; passwordHash: string }

/** The browser's proof of its last login, if it has one. */
export const deviceCookieOf = (request: FastifyRequest, config: Pick<Config, 'secureCookies'>): string | undefined =>
  readCookie(request, config, COOKIE) ?? readFormer(request, config, COOKIE)

/** The cookie that proves a browser's login to this account. */
export function signDevice(secrets: Secrets, owner: DeviceOwner): string {
  const nonce = randomToken(16)
  return `${owner.id}.${nonce}.${secrets.mac(signed(owner, nonce)).toString('base64url')}`
}

/** The device's id if the cookie proves a login to this account; else undefined. */
export function knownDevice(secrets: Secrets, cookie: string | undefined, owner: DeviceOwner): string | undefined {
  const [id, nonce, signature] = cookie?.split('.') ?? []
  if (id !== String(owner.id) || !nonce || !signature) return undefined
  const macs = secrets.macs(signed(owner, nonce))
  return macs.some(mac => equalInConstantTime(signature, mac.toString('base64url'))) ? nonce : undefined
}

const signed = ({ id, passwordHash }: DeviceOwner, nonce: string): string => `device ${id} ${nonce} ${passwordHash}`

export const setDeviceCookie = (reply: FastifyReply, config: Pick<Config, 'secureCookies'>, device: string): void =>
  writeCookie(reply, config, COOKIE, device, 400 * DAY)

export const clearDeviceCookie = (reply: FastifyReply, config: Pick<Config, 'secureCookies'>): void =>
  clearCookie(reply, config, COOKIE)
