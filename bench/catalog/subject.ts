// One server under test, a separate process: `shop` is the whole shop on DATABASE_URL; `bare` is node:http that only
// sends the given bytes.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

export type Started = { port: number }
export type Given = { body: string; type: string }

const tell = (port: number) => process.send?.({ port } satisfies Started)

if (process.argv[2] === 'shop') {
  // Import here, so that the bare server does not load it.
  const { createHttpApp } = await import('../../apps/server/src/app.ts')
  const { openApp } = await import('../../apps/server/src/open-app.ts')
  const { readConfig } = await import('../../apps/server/src/infra/config.ts')
  const { ctx } = await openApp(readConfig({ ...process.env, LOG_LEVEL: 'warn' }), { worker: false })
  const app = await createHttpApp(ctx)
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
// End with the benchmark, because nothing else would end this process.
process.on('disconnect', () => process.exit(0))
