// The dev server of the web app: it listens on PORT, changes components in the open page, and passes calls on to the
// shop at SHOP_URL.
import { setTimeout as sleep } from 'node:timers/promises'
import type { ServerResponse } from 'node:http'
import { connect } from 'node:net'
import { fileURLToPath } from 'node:url'
import { routes } from '@netlet/contract'
import { createServer, type Plugin } from 'vite'

const port = Number(process.env['PORT'])
const shop = new URL(process.env['SHOP_URL'] ?? '')
const RESTART_DEADLINE_MS = 15_000

// What the shop answers itself; everything else is a page or a module of the web app.
const ownPaths = Object.values(routes).flatMap(domain => Object.values(domain).map(({ path }) => path))
const prefixes = new Set(['/healthz', '/readyz', '/metrics', ...ownPaths.map(path => `/${path.split('/')[1]}`)])
const SHOP_PATHS = `^(${[...prefixes].map(prefix => prefix.replaceAll('.', String.raw`\.`)).join('|')})([/?]|$)`

/** Holds a call back while the shop is started again, instead of failing it. */
function waitForShop(): Plugin {
  const shopPath = new RegExp(SHOP_PATHS)
  return {
    name: 'wait-for-shop',
    configureServer(server) {
      server.middlewares.use((request, reply, next) => {
        if (!shopPath.test(request.url ?? '')) return next()
        void passOn(reply, next)
      })
    }
  }
}

async function passOn(reply: ServerResponse, next: () => void): Promise<void> {
  await listening()
  // A caller who has gone meanwhile would leave a connection to the shop on which no request ever comes.
  if (!reply.destroyed) next()
}

async function listening(): Promise<void> {
  const deadline = Date.now() + RESTART_DEADLINE_MS
  while (Date.now() < deadline && !(await accepts())) await sleep(50)
}

function accepts(): Promise<boolean> {
  return new Promise(answer => {
    const socket = connect(Number(shop.port), shop.hostname)
    socket.once('connect', () => answer(true)).once('error', () => answer(false))
    socket.once('connect', () => socket.destroy())
  })
}

const server = await createServer({
  root: fileURLToPath(new URL('../../apps/web', import.meta.url)),
  logLevel: 'warn',
  clearScreen: false,
  plugins: [waitForShop()],
  server: {
    host: '127.0.0.1',
    port,
    strictPort: true,
    // The shop sees the client's address and the name that the browser asked for.
    proxy: { [SHOP_PATHS]: { target: shop.origin, xfwd: true, changeOrigin: false } }
  }
})
await server.listen()
for (const signal of ['SIGTERM', 'SIGINT'] as const)
  process.on(signal, () => void server.close().finally(() => process.exit(0)))
