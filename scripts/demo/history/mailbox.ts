import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'

/** The part of the shop's request that we read. */
type Posted = {
  personalizations: [{ to: [{ email: string }] }]
  content: { type: string; value: string }[]
}

/** A mail service that accepts every mail and keeps the newest text for each address. */
export async function openMailbox() {
  const texts = new Map<string, string>()
  const server = createServer((request, response) => {
    const taken = async () => {
      const { personalizations, content } = (await json(request)) as Posted
      texts.set(personalizations[0].to[0].email, content.find(part => part.type === 'text/plain')?.value ?? '')
      response.writeHead(202, { 'x-message-id': crypto.randomUUID() }).end()
    }
    taken().catch(() => response.writeHead(400).end())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** @throws if the newest mail to this address has no code */
    codeFor(email: string): string {
      const code = /\b\d{6}\b/.exec(texts.get(email) ?? '')?.[0]
      if (!code) throw new Error(`No code was mailed to ${email}`)
      return code
    },
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    }
  }
}
