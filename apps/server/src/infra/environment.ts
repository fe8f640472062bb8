import { parsePrefixes } from '@netlet/contract/prefixes'
import { z } from 'zod'
import { address, areNameServers, database, flag, isPort, isProxy, list } from './variable-kinds.ts'

/** What docs/CONFIGURATION.md says of a variable. */
export type About = {
  type: string
  fallback?: string
  meaning: string
  /** Only demo mode and tests set it. */
  inside?: true
}

const SITES = {
  google: 'https://www.google.com/generate_204',
  bing: 'https://www.bing.com/',
  amazon: 'https://www.amazon.com/'
}

const DEFAULT_ADMIN_PASSWORD = 'Admin#2026'

const DATABASE_URL_MISSING =
  'Set DATABASE_URL to a PostgreSQL database, such as postgres://netlet:secret@127.0.0.1:5432/netlet'

const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const

/** A variable's schema with what the documents say of it. */
const variable = <S extends z.ZodType>(schema: S, about: About): S => schema.meta(about)

/** The environment. Its first mistake, in this order, is reported. */
export const Environment = z
  .object({
    NETLET_DEMO: variable(flag(), {
      type: '`1`',
      meaning: 'demo mode: demo accounts, stand-ins, and looser rules for addresses and passwords',
      inside: true
    }),
    DATABASE_URL: variable(database('DATABASE_URL', DATABASE_URL_MISSING), {
      type: 'address',
      fallback: 'required',
      meaning:
        'the database, `postgres://user:password@host:5432/netlet`; in the password write % as %25 and @ as %40. It may lead to PgBouncer in transaction mode, if `DATABASE_SESSION_URL` is set'
    }),
    DATABASE_SESSION_URL: variable(
      z.preprocess(text => text || undefined, database('DATABASE_SESSION_URL', DATABASE_URL_MISSING).optional()),
      {
        type: 'address',
        fallback: '`DATABASE_URL`',
        meaning:
          'the same database without a pooler, for what needs a session of its own: LISTEN, session locks, migrations, backups'
      }
    ),
    DATABASE_REPLICA_URL: variable(
      z.preprocess(text => text || undefined, database('DATABASE_REPLICA_URL', DATABASE_URL_MISSING).optional()),
      {
        type: 'address',
        meaning:
          'a streaming replica of the database, without a pooler: `serve` reads lists, exports and reports from it ([OPERATIONS](OPERATIONS.md#add-a-replica))'
      }
    ),
    DATABASE_CONNECTIONS: variable(
      z
        .string()
        .default('10')
        .refine(
          text => /^\d{1,4}$/.test(text) && Number(text) >= 2,
          'DATABASE_CONNECTIONS is not a number from 2 to 9999'
        )
        .transform(Number),
      {
        type: 'number from 2',
        fallback: '10',
        meaning:
          'connections of this process by `DATABASE_URL`, and as many by `DATABASE_REPLICA_URL`, at most. Besides, a process keeps up to 2 by `DATABASE_SESSION_URL`, one with a worker up to 3'
      }
    ),
    APP_SECRET: variable(
      z
        .string()
        .default('')
        .refine(
          secret => secret.length >= 32,
          'Set APP_SECRET to a random text of at least 32 characters, for example from `openssl rand -base64 48`. Keep it: it opens the stored secrets.'
        ),
      {
        type: 'at least 32 random characters',
        fallback: 'required',
        meaning: 'encrypts the stored secrets, for example from `openssl rand -base64 48`; keep it'
      }
    ),
    APP_SECRET_PREVIOUS: variable(
      z
        .string()
        .default('')
        .refine(
          secret => secret === '' || secret.length >= 32,
          'APP_SECRET_PREVIOUS is shorter than any APP_SECRET. Set the one that the shop had, or remove it.'
        ),
      {
        type: 'at least 32 random characters',
        fallback: '',
        meaning: 'while `APP_SECRET` changes: the former one ([OPERATIONS](OPERATIONS.md#change-app_secret))'
      }
    ),
    PORT: variable(z.string().default('3000').refine(isPort, 'PORT is not a port number').transform(Number), {
      type: 'port',
      fallback: '3000',
      meaning: 'where `serve` listens'
    }),
    PUBLIC_URL: variable(
      address('PUBLIC_URL', 'https://shop.example.com').transform(url => url?.replace(/\/+$/, '')),
      {
        type: 'address',
        fallback: 'required',
        meaning: "the address that browsers and the platform's webhooks use, such as `https://shop.example.com`"
      }
    ),
    ALLOW_LOOPBACK_PUBLIC_URL: variable(flag(), {
      type: '`1`',
      meaning: 'accepts a `PUBLIC_URL` that only this machine reaches, to try things out'
    }),
    ADMIN_PASSWORD: variable(z.string().default(''), {
      type: 'text',
      meaning: 'password of the first administrator, who is created if there is none'
    }),
    ADMIN_USERNAME: variable(z.string().default('admin'), {
      type: 'text',
      fallback: '`admin`',
      meaning: 'name of the first administrator'
    }),
    ADMIN_EMAIL: variable(z.string().default(''), { type: 'text', meaning: 'mail address of the first administrator' }),
    HOST: variable(z.string().optional(), {
      type: 'host',
      fallback: '`0.0.0.0`',
      meaning: 'where `serve` listens; `127.0.0.1` if the reverse proxy is on the same machine'
    }),
    TRUST_PROXY: variable(
      z
        .string()
        .default('')
        .refine(
          text => text === '' || text.split(',').every(part => isProxy(part.trim())),
          'TRUST_PROXY must list addresses or prefixes of reverse proxies, such as 127.0.0.1 or 10.0.0.0/8'
        ),
      {
        type: 'list of addresses and prefixes',
        meaning: "reverse proxies whose `X-Forwarded-For` names the visitor; `loopback` means this machine's"
      }
    ),
    WORKER_PORT: variable(
      z
        .string()
        .default('')
        .refine(text => text === '' || isPort(text), 'WORKER_PORT is not a port number')
        .transform(text => (text === '' ? null : Number(text))),
      {
        type: 'port',
        meaning: 'where `worker` answers `/healthz`, `/readyz` and `/metrics`; unset: nowhere'
      }
    ),
    WORKER_HOST: variable(z.string().default('127.0.0.1'), {
      type: 'host',
      fallback: '`127.0.0.1`',
      meaning: 'the address of `WORKER_PORT`'
    }),
    SENDGRID_URL: variable(address('SENDGRID_URL', 'https://api.sendgrid.com'), {
      type: 'address',
      fallback: '`https://api.sendgrid.com`',
      meaning: 'the SendGrid API',
      inside: true
    }),
    MAILGUN_URL: variable(address('MAILGUN_URL', 'https://api.mailgun.net'), {
      type: 'address',
      fallback: '`https://api.mailgun.net`',
      meaning: 'the Mailgun API, for a domain in the EU `https://api.eu.mailgun.net`'
    }),
    DISCORD_URL: variable(address('DISCORD_URL', 'https://discord.com'), {
      type: 'address',
      fallback: '`https://discord.com`',
      meaning: 'the Discord API',
      inside: true
    }),
    SMTP_URL: variable(address('SMTP_URL', 'smtps://user:password@mail.example.com:465', ['smtp:', 'smtps:']), {
      type: 'address',
      meaning: '`smtps://user:password@host:465`, if mail goes by SMTP'
    }),
    DNS_SERVERS: variable(
      list().refine(
        areNameServers,
        'DNS_SERVERS must list addresses of name servers like 192.0.2.53 or 192.0.2.53:5353'
      ),
      {
        type: 'list of addresses',
        fallback: "the system's",
        meaning: 'name servers for the checks of your mail domain'
      }
    ),
    CONSOLE_ADDRESSES: variable(
      list().refine(
        addresses => parsePrefixes(addresses).ok,
        'CONSOLE_ADDRESSES must list addresses or prefixes like 203.0.113.7'
      ),
      {
        type: 'list of addresses and prefixes',
        meaning: "from which the shop's machines reach agents, if there are several ([FLEET](FLEET.md))"
      }
    ),
    CHECK_GOOGLE_URL: variable(
      address('CHECK_GOOGLE_URL', SITES.google).transform(url => url ?? SITES.google),
      {
        type: 'address',
        fallback: `\`${SITES.google}\``,
        meaning: "the page that a customer's check of a proxy requests for Google"
      }
    ),
    CHECK_BING_URL: variable(
      address('CHECK_BING_URL', SITES.bing).transform(url => url ?? SITES.bing),
      {
        type: 'address',
        fallback: `\`${SITES.bing}\``,
        meaning: 'the same for Bing'
      }
    ),
    CHECK_AMAZON_URL: variable(
      address('CHECK_AMAZON_URL', SITES.amazon).transform(url => url ?? SITES.amazon),
      {
        type: 'address',
        fallback: `\`${SITES.amazon}\``,
        meaning: 'the same for Amazon'
      }
    ),
    CHECK_EGRESS_URL: variable(
      z
        .string()
        .refine(url => url === '' || URL.canParse(url), 'CHECK_EGRESS_URL is not an address')
        .optional(),
      {
        type: 'address, or empty',
        fallback: "the shop's own page",
        meaning: "a page that answers with the caller's address, requested through each new proxy; empty: no check"
      }
    ),
    WEBHOOK_ORIGINS: variable(
      list().refine(
        origins => origins.every(text => URL.parse(text)?.origin === text),
        'WEBHOOK_ORIGINS holds something that is not an origin, such as http://127.0.0.1:4000'
      ),
      { type: 'list of origins', meaning: "private origins that operators' webhooks may use ([WEBHOOKS](WEBHOOKS.md))" }
    ),
    CUSTOMER_WEBHOOK_URLS: variable(
      list().refine(
        urls => urls.every(text => URL.parse(text)?.href === text && text.endsWith('/')),
        'CUSTOMER_WEBHOOK_URLS holds something that is not the beginning of an address, such as http://127.0.0.1:4000/hooks/'
      ),
      { type: 'list of addresses', meaning: "private addresses that customers' webhooks may use", inside: true }
    ),
    AGENT_INSTALL_USER: variable(z.string().default('root'), {
      type: 'text',
      fallback: '`root`',
      meaning: 'the user for installing agents over SSH',
      inside: true
    }),
    AGENT_INSTALL_ROOT: variable(z.string().default(''), {
      type: 'folder',
      fallback: '`/`',
      meaning: 'the root folder for installing agents over SSH',
      inside: true
    }),
    METRICS_TOKEN: variable(
      z
        .string()
        .optional()
        .transform(text => text || undefined),
      {
        type: 'text',
        meaning: 'bearer token of `GET /metrics`; without it only the machine itself can read the metrics'
      }
    ),
    ACCESS_LOG: variable(
      z
        .string()
        .default('on')
        .refine(text => text === 'on' || text === 'off', 'ACCESS_LOG must be on or off')
        .transform(text => text === 'on'),
      {
        type: '`on` or `off`',
        fallback: '`on`',
        meaning: 'a line of level `info` for each request: method, route, status, milliseconds, request id'
      }
    ),
    LOG_LEVEL: variable(z.enum(LOG_LEVELS, `LOG_LEVEL must be one of ${LOG_LEVELS.join(', ')}`).default('info'), {
      type: LOG_LEVELS.map(level => `\`${level}\``).join(', '),
      fallback: '`info`',
      meaning: 'the lowest level of lines on standard output'
    })
  })
  .refine(env => env.NETLET_DEMO || env.PUBLIC_URL !== undefined, {
    error:
      'Set PUBLIC_URL to the address that browsers use, such as https://shop.example.com: the platform sends its webhooks there.'
  })
  .refine(env => env.NETLET_DEMO || env.ALLOW_LOOPBACK_PUBLIC_URL || !isLoopback(env.PUBLIC_URL ?? ''), {
    error:
      'PUBLIC_URL is an address of this machine only, where no platform can send webhooks. Set it to the address that browsers use, or, to try things out, ALLOW_LOOPBACK_PUBLIC_URL=1.'
  })
  .refine(
    env => env.NETLET_DEMO || isLoopback(env.PUBLIC_URL ?? '') || env.PUBLIC_URL?.startsWith('https:') !== false,
    {
      error:
        'PUBLIC_URL must begin with https://, because passwords and payments pass there. Put a reverse proxy with a certificate in front (deploy/nginx, deploy/caddy).'
    }
  )
  .refine(env => env.NETLET_DEMO || env.ADMIN_PASSWORD !== DEFAULT_ADMIN_PASSWORD, {
    error: 'ADMIN_PASSWORD is the demo password. Set one of your own.'
  })
  .refine(env => env.ADMIN_PASSWORD === '' || env.ADMIN_EMAIL !== '', {
    error: 'ADMIN_PASSWORD is set without ADMIN_EMAIL. Set both, or neither.'
  })

/** What is wrong with an environment, each as one line that says what to set. */
export function environmentProblems(variables: NodeJS.ProcessEnv): string[] {
  const parsed = Environment.safeParse(variables)
  return [...unknownVariables(variables), ...(parsed.error?.issues.map(({ message }) => message) ?? [])]
}

/** Those with the product's name that it does not know. Those of our tests are passed on to what they start. */
const unknownVariables = (variables: NodeJS.ProcessEnv): string[] =>
  Object.keys(variables).flatMap(name =>
    /^NETLET_(?!TEST_|E2E_|BROWSER_|UNHANDLED_)/.test(name) && !(name in Environment.shape)
      ? [`${name} is no setting of Netlet. Remove it, or look up its name in docs/CONFIGURATION.md.`]
      : []
  )

/** Can only this machine reach the address? */
export function isLoopback(url: string): boolean {
  const host = URL.parse(url)?.hostname ?? ''
  return /^(localhost|.*\.localhost|127(\.\d+){3}|0\.0\.0\.0|\[::1?\]|\[::ffff:7f[0-9a-f]{2}:[0-9a-f]+\])\.?$/.test(
    host
  )
}
