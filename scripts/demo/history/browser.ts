import { SUCCESS, type Envelope } from '@netlet/contract'
import type { createHttpApp } from '../../../apps/server/src/app.ts'

type Method = 'GET' | 'POST' | 'PUT' | 'DELETE'

/** A person's browser: keeps its cookies, and calls the shop from an address of its own. */
export type Browser = {
  /** @throws where the shop refuses: the story asks for nothing that it may */
  call<T = unknown>(method: Method, path: string, body?: object): Promise<T>
  /** Forgets the cookies of a session, as after a log-out. */
  forget(): void
}

/** @param ip of a range that is kept for examples */
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
        headers: { 'user-agent': userAgent, 'accept-language': language },
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
