// The web app's dev server: listens on PORT, reloads changed components, and forwards calls to the shop at SHOP_URL.
import { setTimeout as sleep } from 'node:timers/promises'
import type { ServerResponse } from 'node:http'
import { connect } from 'node:net'
import { fileURLToPath } from 'node:url'
import { routes } from '@netlet/contract'
import { createServer, type Plugin } from 'vite'

const port = Number(process.env['PORT'])
const shop = new URL(process.env['SHOP_URL'] ?? '')
const RESTART_DEADLINE_MS = 15_000

// Paths that the shop answers. Everything else is a page or module of the web app.
const ownPaths = Object.values(routes).flatMap(domain => Object.values(domain).map(({ path }) => path))
const prefixes = new Set(['/healthz', '/readyz', '/metrics', ...ownPaths.map(path => `/${path.split('/')[1]}`)])
const SHOP_PATHS = `^(${[...prefixes].map(prefix => prefix.replaceAll('.', String.raw`\.`)).join('|')})([/?]|$)`

/** Delays calls while the shop restarts, instead of failing them. */
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
  // If the caller has gone, forwarding would leave an unused connection to the shop.
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
    // Pass the client's address and the requested host name to the shop.
    proxy: { [SHOP_PATHS]: { target: shop.origin, xfwd: true, changeOrigin: false } }
  }
})
await server.listen()
for (const signal of ['SIGTERM', 'SIGINT'] as const)
  process.on(signal, () => void server.close().finally(() => process.exit(0)))
