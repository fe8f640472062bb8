import { SEEN_FROM_PATH } from '@netlet/contract'
import { Environment, environmentProblems } from './environment.ts'
import { StartupError } from './db/migrate.ts'

export { isLoopback } from './environment.ts'

export type Config = {
  /** Demo mode: demo accounts and stand-ins, with looser rules for addresses and passwords. */
  demo: boolean
  host: string
  port: number
  /** Where a worker answers health and metrics; null: nowhere. */
  workerPort: number | null
  workerHost: string
  /** PostgreSQL itself, or a pooler in front of it. */
  databaseUrl: string
  /** PostgreSQL itself, for what keeps a session: LISTEN, session locks, migrations, backups. */
  sessionUrl: string
  /** A streaming replica for lists, exports and reports, if there is one. */
  replicaUrl?: string | undefined
  /** DATABASE_URL leads to a pooler, which may give each transaction another session. */
  pooled: boolean
  /** Connections of this process by `databaseUrl`, at most. */
  connections: number
  /** Encrypts stored secrets and signs links. */
  appSecret: string
  /** The former one, while it changes; else ''. */
  formerAppSecret: string
  /** The address that browsers use, without a trailing slash. */
  publicUrl: string
  /** Cookies are marked Secure if the public address is https. */
  secureCookies: boolean
  /** Which proxies in front of the shop may name the client's address (Fastify's trustProxy). */
  trustProxy: string | false
  admin: { username: string; password: string; email: string } | undefined
  /** Base addresses of third parties; only tests and demo mode set them. */
  sendgridUrl: string | undefined
  mailgunUrl: string | undefined
  discordUrl: string | undefined
  smtpUrl: string | undefined
  /** Name servers that check the sending domain, as `address` or `address:port`; empty: those of the system. */
  dnsServers: string[]
  /** Sites that a proxy check requests, in the order Google, Bing, Amazon. */
  checkSites: { google: string; bing: string; amazon: string }
  /** A URL that returns a request's source address, to check proxies before their handover. Null: not checked. */
  egressSite: string | null
  /** Origins ('http://127.0.0.1:4000') that operators' webhooks may use although they are not public or not https. */
  webhookOrigins: string[]
  /** The same for customers' webhooks, as prefixes such as 'http://127.0.0.1:4000/hooks/'. For demo mode and tests. */
  customerWebhookUrls: string[]
  /** The user and the root folder for installing agents over SSH; only tests on one machine set them. */
  install: { username: string; root: string }
  /** Addresses and prefixes from which the console reaches agents, if it has several. */
  consoleAddresses: string[]
  logLevel: string
  /** Whether each request gets a line in the log. */
  accessLog: boolean
  /** Who may read the metrics from another machine. */
  metricsToken: string | undefined
}

/** Where the shop runs, which another machine decides for itself. */
const PLACE = /^(DATABASE_\w+|PORT|HOST|WORKER_\w+)$/

/** What a backup keeps of the environment. */
export const keptVariables: readonly string[] = Object.keys(Environment.shape).filter(name => !PLACE.test(name))

/**
 * Reads the environment.
 * @throws StartupError with one line that says what to set
 */
export function readConfig(variables: NodeJS.ProcessEnv): Config {
  const [problem] = environmentProblems(variables)
  if (problem !== undefined) throw new StartupError(problem)
  const env = Environment.parse(variables)
  const publicUrl = env.PUBLIC_URL ?? `http://127.0.0.1:${env.PORT}`
  return {
    demo: env.NETLET_DEMO,
    host: env.HOST ?? (env.NETLET_DEMO ? '127.0.0.1' : '0.0.0.0'),
    port: env.PORT,
    workerPort: env.WORKER_PORT,
    workerHost: env.WORKER_HOST,
    databaseUrl: env.DATABASE_URL,
    sessionUrl: env.DATABASE_SESSION_URL ?? env.DATABASE_URL,
    replicaUrl: env.DATABASE_REPLICA_URL,
    pooled: env.DATABASE_SESSION_URL !== undefined && env.DATABASE_SESSION_URL !== env.DATABASE_URL,
    connections: env.DATABASE_CONNECTIONS,
    appSecret: env.APP_SECRET,
    formerAppSecret: env.APP_SECRET_PREVIOUS,
    publicUrl,
    secureCookies: publicUrl.startsWith('https:'),
    trustProxy: env.TRUST_PROXY || false,
    admin:
      env.ADMIN_PASSWORD === ''
        ? undefined
        : { username: env.ADMIN_USERNAME, password: env.ADMIN_PASSWORD, email: env.ADMIN_EMAIL },
    sendgridUrl: env.SENDGRID_URL,
    mailgunUrl: env.MAILGUN_URL,
    discordUrl: env.DISCORD_URL,
    smtpUrl: env.SMTP_URL,
    dnsServers: env.DNS_SERVERS,
    checkSites: { google: env.CHECK_GOOGLE_URL, bing: env.CHECK_BING_URL, amazon: env.CHECK_AMAZON_URL },
    egressSite: env.CHECK_EGRESS_URL === '' ? null : (env.CHECK_EGRESS_URL ?? `${publicUrl}${SEEN_FROM_PATH}`),
    webhookOrigins: env.WEBHOOK_ORIGINS,
    customerWebhookUrls: env.CUSTOMER_WEBHOOK_URLS,
    install: { username: env.AGENT_INSTALL_USER, root: env.AGENT_INSTALL_ROOT },
    consoleAddresses: env.CONSOLE_ADDRESSES,
    logLevel: env.LOG_LEVEL,
    accessLog: env.ACCESS_LOG,
    metricsToken: env.METRICS_TOKEN
  }
}
