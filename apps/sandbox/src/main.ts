import { startSandbox } from './sandbox.ts'

export { startSandbox, type Sandbox, type SandboxOptions } from './sandbox.ts'

if (import.meta.main) {
  const { env } = process
  const port = Number(env.PLATFORM_PORT ?? 3001)
  // The defaults are well-known words, not secrets. They protect only stand-ins on this machine.
  const starting = startSandbox({
    port,
    dataDir: env.DATA_DIR ?? './data',
    shopUrl: env.SANDBOX_SHOP_URL ?? 'http://127.0.0.1:3000',
    accessToken: env.SANDBOX_ACCESS_TOKEN ?? 'sandbox-access-token',
    apiKey: env.SANDBOX_API_KEY ?? 'sandbox-api-key',
    appSecret: env.SANDBOX_APP_SECRET ?? 'sandbox-app-secret',
    discordClientId: env.SANDBOX_DISCORD_CLIENT_ID ?? '100000000000000001',
    discordClientSecret: env.SANDBOX_DISCORD_CLIENT_SECRET ?? 'sandbox-discord-secret',
    discordBotToken: env.SANDBOX_DISCORD_BOT_TOKEN ?? 'sandbox-bot-token',
    hookSecret: env.SANDBOX_HOOK_SECRET ?? ''
  })
  // Set before anything is printed, because a reader of that line may end the process at once.
  for (const signal of ['SIGTERM', 'SIGINT'] as const)
    process.once(signal, () => {
      starting.then(sandbox => sandbox.close()).then(() => process.exit(0), giveUp)
    })
  starting.then(
    ({ url }) =>
      console.log(`Stand-ins: ${url} (checkout, chat sign-in), sent mail: ${url}/outbox, webhooks: ${url}/hooks`),
    giveUp
  )
}

function giveUp(error: unknown): void {
  console.error(`The stand-ins cannot go on: ${error instanceof Error ? error.message : String(error)}`)
  process.exit(1)
}
