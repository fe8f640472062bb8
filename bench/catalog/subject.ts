// One server to be measured, a process of its own: `shop` is the whole shop on DATABASE_URL; `bare` is node:http that
// sends the bytes it is given, and nothing else.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

export type Started = { port: number }
export type Given = { body: string; type: string }

const tell = (port: number) => process.send?.({ port } satisfies Started)

if (process.argv[2] === 'shop') {
  // Loaded here, so that the bare server is one.
  const { createShopApp } = await import('../../apps/server/src/app.ts')
  const { openShop } = await import('../../apps/server/src/open-shop.ts')
  const { readConfig } = await import('../../apps/server/src/platform/config.ts')
  const { shop } = await openShop(readConfig({ ...process.env, LOG_LEVEL: 'warn' }), { worker: false })
  const app = await createShopApp(shop)
  await app.listen({ host: '127.0.0.1', port: 0 })
  tell((app.server.address() as AddressInfo).port)
} else {
  process.once('message', ({ body, type }: Given) => {
    const bytes = Buffer.from(body)
    const server = createServer((_request, response) => {
      response.writeHead(200, { 'content-type': type, 'content-length': bytes.length })
      response.end(bytes)
    })
    server.listen(0, '127.0.0.1', () => tell((server.address() as AddressInfo).port))
  })
}
// The benchmark is gone: nobody else would end this.
process.on('disconnect', () => process.exit(0))
