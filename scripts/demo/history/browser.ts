import { SUCCESS, type Envelope } from '@netlet/contract'
import { randomUUID } from 'node:crypto'
import type { createHttpApp } from '../../../apps/server/src/app.ts'

type Method = 'GET' | 'POST' | 'PUT' | 'DELETE'

/** A person's browser: keeps cookies and calls the shop from its own address. */
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
  return {
    forget: () => cookies.clear(),
    async call<T>(method: Method, path: string, body?: object) {
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
      if (code !== SUCCESS) throw new Error(`${method} ${path} was refused: ${msg} (${JSON.stringify(data)})`)
      return data
    }
  }
}
