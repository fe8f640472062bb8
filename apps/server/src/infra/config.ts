import { Resolver } from 'node:dns'
import { SEEN_FROM_PATH } from '@netlet/contract'
import { parsePrefixes } from '@netlet/contract/prefixes'
import { z } from 'zod'
import { StartupError } from './db/migrate.ts'

export type Config = {
  /** Demo mode: demo accounts and stand-ins, with looser rules for addresses and passwords. */
  demo: boolean
  host: string
  port: number
  databaseUrl: string
  /** Encrypts stored secrets and signs links. */
  appSecret: string
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
}

const DATABASE_URL_UNREADABLE =
  'DATABASE_URL is not the address of one database. In a user or password write % as %25, @ as %40 and / as %2F.'

const SITES = {
  google: 'https://www.google.com/generate_204',
  bing: 'https://www.bing.com/',
  amazon: 'https://www.amazon.com/'
}

const DEFAULT_ADMIN_PASSWORD = 'Admin#2026'

const DATABASE_URL_MISSING =
  'Set DATABASE_URL to a PostgreSQL database, such as postgres://netlet:secret@127.0.0.1:5432/netlet'

/** An address in the environment; empty counts as unset. After `%`, its user and password need hexadecimal digits. */
const address = (name: string, example: string, schemes = ['https:', 'http:']) =>
  z
    .string()
    .transform(text => text || undefined)
    .refine(
      text => text === undefined || isAddress(text, schemes),
      `${name} is not an address, such as ${example}. In a user or password write % as %25, @ as %40 and / as %2F.`
    )
    .optional()

/** The driver also takes an address without a host, such as one whose `?host=` names a socket. */
const isDatabaseUrl = (text: string): boolean =>
  isAddress(text.replace(/\/\/(.*@)?\//, '//$1socket/'), ['postgres:', 'postgresql:'])

function isAddress(text: string, schemes: readonly string[]): boolean {
  const url = URL.parse(text)
  if (!url?.hostname || !schemes.includes(url.protocol)) return false
  try {
    decodeURIComponent(url.username + url.password)
    return true
  } catch {
    return false
  }
}

/** The environment. Its first mistake, in this order, is reported. */
const Environment = z
  .object({
    NETLET_DEMO: z
      .string()
      .optional()
      .transform(value => value === '1'),
    DATABASE_URL: z
      .string({ error: DATABASE_URL_MISSING })
      .min(1, DATABASE_URL_MISSING)
      .regex(/^postgres(ql)?:\/\//, 'DATABASE_URL is not a postgres:// address')
      .refine(isDatabaseUrl, DATABASE_URL_UNREADABLE),
    APP_SECRET: z
      .string()
      .default('')
      .refine(
        secret => secret.length >= 32,
        'Set APP_SECRET to a random text of at least 32 characters, for example from `openssl rand -base64 48`. Keep it: it opens the stored secrets.'
      ),
    PORT: z
      .string()
      .default('3000')
      .refine(text => /^\d{1,5}$/.test(text) && Number(text) <= 65_535, 'PORT is not a port number')
      .transform(Number),
    PUBLIC_URL: address('PUBLIC_URL', 'https://shop.example.com').transform(url => url?.replace(/\/+$/, '')),
    ALLOW_LOOPBACK_PUBLIC_URL: z
      .string()
      .optional()
      .transform(value => value === '1'),
    ADMIN_PASSWORD: z.string().default(''),
    ADMIN_USERNAME: z.string().default('admin'),
    ADMIN_EMAIL: z.string().default(''),
    HOST: z.string().optional(),
    TRUST_PROXY: z.string().default(''),
    SENDGRID_URL: address('SENDGRID_URL', 'https://api.sendgrid.com'),
    MAILGUN_URL: address('MAILGUN_URL', 'https://api.mailgun.net'),
    DISCORD_URL: address('DISCORD_URL', 'https://discord.com'),
    SMTP_URL: address('SMTP_URL', 'smtps://user:password@mail.example.com:465', ['smtp:', 'smtps:']),
    DNS_SERVERS: z
      .string()
      .default('')
      .transform(text => text.split(',').flatMap(part => part.trim() || []))
      .refine(areNameServers, 'DNS_SERVERS must list addresses of name servers like 192.0.2.53 or 192.0.2.53:5353'),
    CONSOLE_ADDRESSES: z
      .string()
      .default('')
      .transform(text => text.split(',').flatMap(part => part.trim() || []))
      .refine(list => parsePrefixes(list).ok, 'CONSOLE_ADDRESSES must list addresses or prefixes like 203.0.113.7'),
    CHECK_GOOGLE_URL: address('CHECK_GOOGLE_URL', SITES.google).transform(url => url ?? SITES.google),
    CHECK_BING_URL: address('CHECK_BING_URL', SITES.bing).transform(url => url ?? SITES.bing),
    CHECK_AMAZON_URL: address('CHECK_AMAZON_URL', SITES.amazon).transform(url => url ?? SITES.amazon),
    CHECK_EGRESS_URL: z
      .string()
      .refine(url => url === '' || URL.canParse(url), 'CHECK_EGRESS_URL is not an address')
      .optional(),
    WEBHOOK_ORIGINS: z
      .string()
      .default('')
      .transform(list => list.split(',').flatMap(text => text.trim() || []))
      .refine(
        list => list.every(text => URL.parse(text)?.origin === text),
        'WEBHOOK_ORIGINS holds something that is not an origin, such as http://127.0.0.1:4000'
      ),
    CUSTOMER_WEBHOOK_URLS: z
      .string()
      .default('')
      .transform(list => list.split(',').flatMap(text => text.trim() || []))
      .refine(
        list => list.every(text => URL.parse(text)?.href === text && text.endsWith('/')),
        'CUSTOMER_WEBHOOK_URLS holds something that is not the beginning of an address, such as http://127.0.0.1:4000/hooks/'
      ),
    AGENT_INSTALL_USER: z.string().default('root'),
    AGENT_INSTALL_ROOT: z.string().default(''),
    LOG_LEVEL: z.string().default('info')
  })
  .refine(env => env.NETLET_DEMO || env.PUBLIC_URL !== undefined, {
    error:
      'Set PUBLIC_URL to the address that browsers use, such as https://shop.example.com: the platform sends its webhooks there.'
  })
  .refine(env => env.NETLET_DEMO || env.ALLOW_LOOPBACK_PUBLIC_URL || !isLoopback(env.PUBLIC_URL ?? ''), {
    error:
      'PUBLIC_URL is an address of this machine only, where no platform can send webhooks. Set it to the address that browsers use, or, to try things out, ALLOW_LOOPBACK_PUBLIC_URL=1.'
  })
  .refine(env => env.NETLET_DEMO || env.ADMIN_PASSWORD !== DEFAULT_ADMIN_PASSWORD, {
    error: 'ADMIN_PASSWORD is the demo password. Set one of your own.'
  })
  .refine(env => env.ADMIN_PASSWORD === '' || env.ADMIN_EMAIL !== '', {
    error: 'ADMIN_PASSWORD is set without ADMIN_EMAIL. Set both, or neither.'
  })

/** What a backup keeps of the environment: all but where the shop runs. */
export const keptVariables: readonly string[] = Object.keys(Environment.shape).filter(
  name => !['DATABASE_URL', 'PORT', 'HOST'].includes(name)
)

function areNameServers(list: string[]): boolean {
  try {
    new Resolver().setServers(list)
    return true
  } catch {
    return false
  }
}

/** Can only this machine reach the address? */
export function isLoopback(url: string): boolean {
  const host = URL.parse(url)?.hostname ?? ''
  return /^(localhost|.*\.localhost|127(\.\d+){3}|0\.0\.0\.0|\[::1?\]|\[::ffff:7f[0-9a-f]{2}:[0-9a-f]+\])\.?$/.test(
    host
  )
}

/**
 * Reads the environment.
 * @throws StartupError with one line that says what to set
 */
export function readConfig(variables: NodeJS.ProcessEnv): Config {
  const parsed = Environment.safeParse(variables)
  if (!parsed.success) throw new StartupError(parsed.error.issues[0]?.message ?? 'The environment is not valid')
  const env = parsed.data
  const publicUrl = env.PUBLIC_URL ?? `http://127.0.0.1:${env.PORT}`
  return {
    demo: env.NETLET_DEMO,
    host: env.HOST ?? (env.NETLET_DEMO ? '127.0.0.1' : '0.0.0.0'),
    port: env.PORT,
    databaseUrl: env.DATABASE_URL,
    appSecret: env.APP_SECRET,
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
    logLevel: env.LOG_LEVEL
  }
}
