import { SUCCESS, type Envelope } from '@netlet/contract'
import { randomUUID } from 'node:crypto'
import type { createHttpApp } from '../../../apps/server/src/app.ts'

type Method = 'GET' | 'POST' | 'PUT' | 'DELETE'

const LOG_IN = '/api/auth/login'
const SIGN_UP = '/api/users/u/'
type Account = { username: string; password: string }

/** A person's browser: keeps cookies, calls the shop from its own address, and logs in again when its session ended. */
export type Browser = {
  /** @throws if the shop refuses, because the story makes only valid calls */
  call<T = unknown>(method: Method, path: string, body?: object): Promise<T>
  /** Deletes the session's cookies, as after a logout. */
  forget(): void
}

/** @param ip from a range reserved for documentation */
export function openBrowser(
  app: Awaited<ReturnType<typeof createHttpApp>>,
  { ip, userAgent, language }: { ip: string; userAgent: string; language: string }
): Browser {
  const cookies = new Map<string, string>()
  let account: Account | undefined
  return {
    forget: () => {
      account = undefined
      cookies.clear()
    },
    async call<T>(method: Method, path: string, body?: object): Promise<T> {
      if (path === LOG_IN || path === SIGN_UP) account = body as Account
      const reply = await app.inject({
        method,
        url: path,
        remoteAddress: ip,
        cookies: Object.fromEntries(cookies),
        headers: { 'user-agent': userAgent, 'accept-language': language, 'idempotency-key': randomUUID() },
        ...(body === undefined ? {} : { payload: body })
      })
      for (const { name, value } of reply.cookies) {
        if (value === '') cookies.delete(name)
        else cookies.set(name, value)
      }
      const { code, data, msg } = reply.json<Envelope<T>>()
      if (code === 401 && account && path !== LOG_IN) {
        await this.call('POST', LOG_IN, account)
        return this.call<T>(method, path, body)
      }
      if (code === 403 && account && (data as { reason?: string } | null)?.reason === 'confirmation_needed') {
        await this.call('POST', '/api/users/confirm', { password: account.password })
        return this.call<T>(method, path, body)
      }
      if (code !== SUCCESS) throw new Error(`${method} ${path} was refused: ${msg} (${JSON.stringify(data)})`)
      return data
    }
  }
}
