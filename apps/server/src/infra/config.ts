import { StartupError } from './db/migrate.ts'

export type Config = {
  /** Demo mode: demo accounts, stand-ins, no secret demanded. */
  demo: boolean
  host: string
  port: number
  databaseUrl: string
  /** Seals secrets at rest and signs links. */
  appSecret: string
  /** The address that browsers use, without a trailing slash. */
  publicUrl: string
  /** Cookies are marked Secure where the public address is https. */
  secureCookies: boolean
  /** Which proxies in front may name the client's address (Fastify's trustProxy). */
  trustProxy: string | false
  admin: { username: string; password: string; email: string } | undefined
  /** Where third parties answer; only tests and demo mode move them. */
  sendgridUrl: string | undefined
  mailgunUrl: string | undefined
  discordUrl: string | undefined
  smtpUrl: string | undefined
  /** Sites that a proxy check asks for, in the order Google, Bing, Amazon. */
  checkSites: { google: string; bing: string; amazon: string }
  logLevel: string
}

const DEFAULT_ADMIN_PASSWORD = 'Admin#2026'

/**
 * Reads the environment.
 * @throws StartupError with one line that says what to set
 */
export function readConfig(env: NodeJS.ProcessEnv): Config {
  const demo = env['NETLET_DEMO'] === '1'
  const databaseUrl = env['DATABASE_URL']
  if (!databaseUrl)
    throw new StartupError(
      'Set DATABASE_URL to a PostgreSQL database, such as postgres://netlet:secret@127.0.0.1:5432/netlet'
    )
  if (!/^postgres(ql)?:\/\//.test(databaseUrl)) throw new StartupError('DATABASE_URL is not a postgres:// address')
  const appSecret = env['APP_SECRET'] ?? ''
  if (appSecret.length < 32)
    throw new StartupError(
      'Set APP_SECRET to a random text of at least 32 characters, for example from `openssl rand -base64 48`. Keep it: it opens the stored secrets.'
    )
  const port = portFrom(env, 'PORT', 3000)
  const publicUrl = (env['PUBLIC_URL'] ?? `http://127.0.0.1:${port}`).replace(/\/+$/, '')
  if (!URL.canParse(publicUrl)) throw new StartupError('PUBLIC_URL is not an address, such as https://shop.example.com')
  return {
    demo,
    host: env['HOST'] ?? (demo ? '127.0.0.1' : '0.0.0.0'),
    port,
    databaseUrl,
    appSecret,
    publicUrl,
    secureCookies: publicUrl.startsWith('https:'),
    trustProxy: env['TRUST_PROXY'] || false,
    admin: adminFrom(env, demo),
    sendgridUrl: env['SENDGRID_URL'],
    mailgunUrl: env['MAILGUN_URL'],
    discordUrl: env['DISCORD_URL'],
    smtpUrl: env['SMTP_URL'],
    checkSites: {
      google: env['CHECK_GOOGLE_URL'] ?? 'https://www.google.com/generate_204',
      bing: env['CHECK_BING_URL'] ?? 'https://www.bing.com/',
      amazon: env['CHECK_AMAZON_URL'] ?? 'https://www.amazon.com/'
    },
    logLevel: env['LOG_LEVEL'] ?? 'info'
  }
}

function portFrom(env: NodeJS.ProcessEnv, name: string, standard: number): number {
  const port = Number(env[name] ?? standard)
  if (!Number.isInteger(port) || port < 0 || port > 65535) throw new StartupError(`${name} is not a port number`)
  return port
}

function adminFrom(env: NodeJS.ProcessEnv, demo: boolean): Config['admin'] {
  const password = env['ADMIN_PASSWORD']
  if (!demo && password === DEFAULT_ADMIN_PASSWORD) {
    throw new StartupError('ADMIN_PASSWORD is the demo password. Set one of your own.')
  }
  if (!password) return undefined
  const email = env['ADMIN_EMAIL']
  if (!email) throw new StartupError('ADMIN_PASSWORD is set without ADMIN_EMAIL. Set both, or neither.')
  return { username: env['ADMIN_USERNAME'] ?? 'admin', password, email }
}
