import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { demoPlans } from './shopify/catalogue.ts'
import { newDataDir, removeDataDir, startReceiver, until } from './testing/harness.ts'

let dir: string
let shop: Awaited<ReturnType<typeof startReceiver>>
let child: ChildProcess | undefined

beforeEach(async () => {
  dir = await newDataDir()
  shop = await startReceiver()
})
afterEach(async () => {
  if (child?.exitCode === null && child.signalCode === null) {
    child.kill('SIGKILL')
    await once(child, 'exit')
  }
  await shop.close()
  await removeDataDir(dir)
})

/** Starts the program by its command. @returns the address that it prints */
async function start(): Promise<string> {
  const env = { ...process.env, NODE_ENV: '', DATA_DIR: dir, PLATFORM_PORT: '0', SANDBOX_SHOP_URL: shop.url }
  child = spawn(process.execPath, [fileURLToPath(new URL('main.ts', import.meta.url))], {
    env,
    stdio: ['ignore', 'pipe', 'inherit']
  })
  if (!child.stdout) throw new Error('The program has no output.')
  const [line] = (await once(createInterface(child.stdout), 'line')) as [string]
  return /http:\S+/.exec(line)?.[0] ?? ''
}

test('killed right after the Pay button answered, the next start still sends the webhook', async () => {
  shop.answer = () => 503
  const url = await start()
  const checkout = await fetch(`${url}/cart/${demoPlans[0]?.variants[0]?.id}:1?attributes[order_id]=9`)
  const paid = await fetch(`${checkout.url}/pay`, { method: 'POST', redirect: 'manual' })
  expect(paid.status).toBe(303)
  child?.kill('SIGKILL')
  if (child) await once(child, 'exit')
  const before = shop.received.length
  shop.answer = () => 200
  await start()
  await until('the webhook', () => shop.received.length > before)
  expect(shop.received.at(-1)?.body.toString()).toContain('"value":"9"')
})

test('SIGTERM ends it at once and cleanly', async () => {
  await start()
  child?.kill('SIGTERM')
  expect(child && (await once(child, 'exit'))).toEqual([0, null])
})
