import { startSandbox } from './sandbox.ts'

export { startSandbox, type Sandbox, type SandboxOptions } from './sandbox.ts'

if (import.meta.main) {
  const { env } = process
  const port = Number(env.PLATFORM_PORT ?? 3001)
  // The defaults are known words, not secrets: they open nothing but stand-ins on this machine.
  const sandbox = await startSandbox({
    port,
    dataDir: env.DATA_DIR ?? './data',
    shopUrl: env.SANDBOX_SHOP_URL ?? 'http://127.0.0.1:3000',
    accessToken: env.SANDBOX_ACCESS_TOKEN ?? 'sandbox-access-token',
    appSecret: env.SANDBOX_APP_SECRET ?? 'sandbox-app-secret',
    discordClientId: env.SANDBOX_DISCORD_CLIENT_ID ?? '100000000000000001',
    discordClientSecret: env.SANDBOX_DISCORD_CLIENT_SECRET ?? 'sandbox-discord-secret'
  }).catch((error: unknown) => {
    console.error(`The stand-ins cannot start: ${error instanceof Error ? error.message : String(error)}`)
    process.exit(1)
  })
  console.log(`Stand-ins: ${sandbox.url} (checkout, chat sign-in), sent mail: ${sandbox.url}/outbox`)
  const end = () => {
    sandbox.close().then(
      () => process.exit(0),
      error => {
        console.error(error)
        process.exit(1)
      }
    )
  }
  process.once('SIGTERM', end)
  process.once('SIGINT', end)
}
